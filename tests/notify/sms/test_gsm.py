"""Costs as the tables have them; smsutil is the oracle."""

import re

import pytest
import smsutil
from hypothesis import given, settings
from hypothesis import strategies as st
from smsutil.codecs import is_valid_gsm

from core.language.catalogue import LANGUAGES
from notify.sms.gsm import BASIC, EXTENDED, count_segments, fold, is_gsm
from providers.utf16 import units
from tests.forker import ROOT
from workbench.pages.catalogues import translated

gsm_texts = st.text(st.sampled_from(sorted(BASIC | EXTENDED)), max_size=500)
# The escape is no character of the alphabet, though smsutil counts it as one; rendering removes it.
any_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x1b"), max_size=300)


@given(st.one_of(gsm_texts, any_texts))
@settings(deadline=None)
def test_segments_agree_with_smsutil(text: str) -> None:
    assert is_gsm(text) == (is_valid_gsm(text) or not text)
    assert count_segments(text) == len(smsutil.split(text).parts or [""])


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("", 1),
        ("a" * 160, 1),
        ("a" * 161, 2),
        ("a" * 306, 2),
        ("a" * 307, 3),
        ("€" * 80, 1),
        ("€" * 81, 2),
        ("a" * 152 + "€" + "a" * 152, 3),
        ("ж" * 70, 1),
        ("ж" * 71, 2),
        ("ж" * 134, 2),
        ("ж" * 135, 3),
        ("🍕" * 35, 1),
        ("🍕" * 36, 2),
        ("🍕" * 67, 3),
    ],
)
def test_segments_at_the_borders(text: str, segments: int) -> None:
    assert count_segments(text) == segments


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("“It’s fine” – he said…", '"It\'s fine" - he said...'),
        ("a\u00a0b\u202fc", "a b c"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("• one\n• two", "- one\n- two"),
        ("cafe\u0301", "café"),
        ("3 × 4 ≥ 10 → ok", "3 x 4 >= 10 -> ok"),
        ("`ls`", "'ls'"),
    ],
)
def test_look_alikes_are_folded_when_the_whole_text_becomes_gsm(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert is_gsm(folded)


@pytest.mark.parametrize("text", ["It’s 🍕", "“Привет”", "¿Qué tal, María? “sí”", "señor ’ç"])
def test_a_text_that_stays_outside_gsm_is_left_as_it_is(text: str) -> None:
    assert fold(text) == text


@given(st.text(st.sampled_from("abc’“…–→\t½ \u0301é🍕ж")))
@settings(deadline=None)
def test_folding_gives_gsm_or_the_text_itself_and_settles(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded
    assert folded == text or is_gsm(folded)


def test_units_count_surrogate_pairs_as_two() -> None:
    assert units("a🍕é") == 4


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            "Mañana a las 7 te recordaré: médico, a las 9 más o menos",
            "Mañana a las 7 te recordaré: médico, a las 9 mas o menos",
        ),
        ("Não, a reunião é amanhã às 10", "Nao, a reuniao é amanha às 10"),
        ("Le cœur a ses façons ; œuvre “brève”", 'Le coeur a ses facons ; oeuvre "brève"'),
        ("Zażółć gęślą jaźń, Łódź", "Zazolc gesla jazn, Lodz"),
        ("vai a 3.ª rua", "vai a 3.a rua"),
    ],
)
def test_letters_are_made_plain_only_where_the_operator_wants_that(text: str, plain: str) -> None:
    assert fold(text, plain_letters=True) == plain
    assert fold(text) == text


@pytest.mark.parametrize("text", ["会议在 9 点 é á", "Привет, Ада", "Καλημέρα", "mañana 🍕 más"])
def test_what_has_no_plain_letters_stays_as_it_is(text: str) -> None:
    assert fold(text, plain_letters=True) == text


def test_a_link_stays_letter_for_letter_and_may_keep_the_text_as_it_is() -> None:
    assert fold("más: https://example.org/Über?q=1", plain_letters=True) == "mas: https://example.org/Über?q=1"
    for link in ("https://example.org/más", "www.españolá.es", "josé+á@example.org"):
        assert fold(f"está en {link}", plain_letters=True) == f"está en {link}"


def test_the_page_says_truly_what_a_language_costs() -> None:
    told = re.findall(r"^\| (\w+) \| (\d+) % \| (\d+) % \|", (ROOT / "docs/channels/sms.md").read_text(), re.MULTILINE)
    assert len(told) == len(LANGUAGES)
    for name, leave, leave_plain in told:
        sentences = _sentences(NAMES[name])
        for said, plain_letters in ((leave, False), (leave_plain, True)):
            outside = sum(not is_gsm(fold(text, plain_letters=plain_letters)) for text in sentences)
            # Sentences come and go.
            assert abs(int(said) - 100 * outside / len(sentences)) <= 3, (name, outside, len(sentences))


NAMES = {"English": "en", "German": "de", "French": "fr", "Spanish": "es", "Portuguese": "pt", "Chinese": "zh"}


def _sentences(language: str) -> list[str]:
    """Return the product's own sentences in a language, each with something short in its fields."""
    messages = translated("de" if language == "en" else language)
    texts = [message.id if language == "en" else message.string or "" for message in messages]
    return [re.sub(r"\{[^}]*\}", "Ada", text if isinstance(text, str) else text[-1]) for text in texts]
