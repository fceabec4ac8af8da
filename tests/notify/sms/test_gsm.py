"""Costs as the tables have them; smsutil is the oracle."""

import pytest
import smsutil
from hypothesis import given, settings
from hypothesis import strategies as st
from smsutil.codecs import is_valid_gsm

from notify.sms.gsm import BASIC, EXTENDED, count_segments, fold, is_gsm
from providers.utf16 import units

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
