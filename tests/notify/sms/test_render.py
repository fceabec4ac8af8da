"""Markdown as texts: readable, whole, within the limit."""

import string
from typing import Literal

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from core.messaging.messages import Action, Media, OutboundKind, OutboundMessage
from notify.plain_markdown import to_plain
from notify.sms.gsm import is_gsm
from notify.sms.render import MAX_UNITS, render, split
from onevalet.settings import Settings
from onevalet.wiring.channels import build_notification_channels
from providers.utf16 import units
from tests.examples import examples


def message(text: str, **more: object) -> OutboundMessage:
    return OutboundMessage(id="out_1", kind=OutboundKind.REPLY, text=text, **more)  # type: ignore[arg-type]


def texts(text: str) -> list[str]:
    return [part.text for part in render(message(text))]


_LONG_ROWS = "a | b\n1 | 2 | 3 |\nbelow | the | table x (http://y.z)"


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("Hello **bold** and *soft* and ~~gone~~", "Hello bold and soft and gone"),
        ("# Title\n\nText\nnext line", "Title\n\nText\nnext line"),
        ("- one\n- two\n  - deep\n- three", "- one\n- two\n  - deep\n- three"),
        ("3. three\n4. four", "3. three\n4. four"),
        ("one\\\ntwo  \nthree", "one\ntwo\nthree"),
        ("1. one\n2. two\n\nafter", "1. one\n2. two\n\nafter"),
        ("See [the page](https://a.example/x?y=1&z=2).", "See the page (https://a.example/x?y=1&z=2)."),
        ("<https://a.example>", "https://a.example"),
        ("[https://a.example](https://a.example)", "https://a.example"),
        ('[a](https://b.example "why")', 'a "why" (https://b.example)'),
        ("Mail <me@a.example>", "Mail me@a.example"),
        ("![a cat](https://a.example/cat.png)", "a cat (https://a.example/cat.png)"),
        ("https://a.example/a_b_c*d*?q=~x~", "https://a.example/a_b_c*d*?q=~x~"),
        ("Run `ls -la` now", "Run ls -la now"),
        ("```python\nif x:\n    y()\n```", "if x:\n    y()"),
        ("```\nnever closed", "never closed"),
        ("| Who | What |\n|---|---|\n| Ann | tea |\n| Bo | **milk** |", "Who | What\nAnn | tea\nBo | milk"),
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 | |\nbelow | the | **table** [x](http://y.z)", _LONG_ROWS),
        ("> | a |\n> |---|\n> | 1 | 2 |", "> a\n> 1 | 2"),
        ("> quoted\n> twice", "> quoted\n> twice"),
        ("> quoted\n>\n> again\n\nafter", "> quoted\n>\n> again\n\nafter"),
        ("a\n\n---\n\nb", "a\n\n---\n\nb"),
        ("2*3*4 = 24", "2*3*4 = 24"),
        ("snake_case_name", "snake_case_name"),
        ("[a]: https://b.example", "[a]: https://b.example"),
        ("<b>html</b> & &amp;", "<b>html</b> & &"),
        ("OK 7K to approve, NO 7K to cancel", "OK 7K to approve, NO 7K to cancel"),
        ("1. first\n\n   more of it\n\n2. second", "1. first\n\n   more of it\n\n2. second"),
        ("> " * 60 + "deep", ("> " * 60 + "deep")),
    ],
)
def test_markdown_reads_as_plain_text(markdown: str, plain: str) -> None:
    assert to_plain(markdown) == plain


def test_a_typical_answer_costs_gsm_segments_only() -> None:
    (part,) = render(message("You’re free — **Friday**, 3–4 pm…"))
    assert part.text == "You're free - Friday, 3-4 pm..."
    assert is_gsm(part.text)
    assert part.segments == 1


def test_no_text_is_turned_around() -> None:
    (part,) = render(message("pay \u202egnp.exe\u202c \u2067now\u2069 שלום\u200f!"))
    assert part.text == "pay gnp.exe now שלום\u200f!"


def test_an_emoji_keeps_the_text_as_it_is() -> None:
    (part,) = render(message("It’s done 🎉" + "x" * 70))
    assert part.text.startswith("It’s done 🎉")
    assert part.segments == 2


def test_buttons_are_left_out_because_the_text_carries_the_codes() -> None:
    (part,) = render(message("Send it? OK 7K or NO 7K", actions=(Action("Approve", "t1"), Action("Cancel", "t2"))))
    assert part.text == "Send it? OK 7K or NO 7K"


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "&nbsp;"])
def test_never_empty(text: str) -> None:
    (part,) = render(message(text))
    assert part.text.strip()


_values = st.text(st.sampled_from("ab1*_~`#>-+.!|<@&;:/()[]{}\\= “…×÷") | st.characters(codec="utf-8"), max_size=40)


@examples(150)
@given(_values)
def test_promise_9_an_escaped_value_of_a_card_is_read_letter_by_letter(value: str) -> None:
    value = " ".join(regex.sub(r"[\p{C}\u2028\u2029\ufffd]+", " ", value).split())
    escaped = "".join(f"\\{char}" if char in string.punctuation else char for char in value)
    card = OutboundMessage("out_1", OutboundKind.CARD, f"**To**: {escaped}.", (Action("Approve", "tok"),))
    assert [part.text for part in render(card)] == [f"To: {value}."]


def test_media_goes_with_the_first_part_and_ten_at_most_together() -> None:
    media = tuple(Media(f"https://a.example/{n}", "image/png") for n in range(12))
    parts = render(message("Look", media=media))
    assert [part.text for part in parts] == ["Look", ""]
    assert [len(part.data["media"]) for part in parts] == [10, 2]  # type: ignore[arg-type]
    (alone,) = render(message("", media=media[:1]))
    assert alone.text == ""


def test_long_texts_are_cut_after_paragraphs_lines_sentences_words() -> None:
    paragraphs = "\n\n".join("word " * 180 + "end." for _ in range(4))
    assert all(piece.endswith("end.") for piece in split(paragraphs))
    sentences = "A sentence of some words. " * 200
    assert all(piece.rstrip().endswith("words.") for piece in split(sentences))
    words = "abcdefghi " * 400
    assert all(set(piece.split()) == {"abcdefghi"} for piece in split(words))


def test_a_url_is_never_cut() -> None:
    url = "https://a.example/" + "p" * 300
    pieces = split("word " * 300 + url + " tail" * 100)
    assert sum(url in piece for piece in pieces) == 1


words = st.text(st.sampled_from("abcXYZäß好🍕"), min_size=1, max_size=12)
inline = st.one_of(
    words,
    st.builds("**{}**".format, words),
    st.builds("*{}*".format, words),
    st.builds("`{}`".format, words),
    st.builds("[{}](https://a.example/{})".format, words, st.integers(0, 99)),
)
lines = st.lists(inline, min_size=1, max_size=8).map(" ".join)
blocks = st.one_of(
    lines,
    lines.map("# {}".format),
    st.lists(lines, min_size=1, max_size=4).map(lambda many: "\n".join(f"- {line}" for line in many)),
    st.lists(lines, min_size=1, max_size=4).map(lambda many: "\n".join(f"1. {line}" for line in many)),
    lines.map("> {}".format),
    words.map("```python\n{}\n```".format),
    st.tuples(words, words).map(lambda pair: f"| {pair[0]} | {pair[1]} |\n|---|---|\n| {pair[1]} | {pair[0]} |"),
)
documents = st.lists(blocks, min_size=1, max_size=8).map("\n\n".join)
LETTERS = regex.compile(r"[abcXYZäß好🍕]")
URLS = regex.compile(r"https://a\.example/\d+")


@given(documents, st.integers(1, 6))
@examples(60)
def test_no_word_and_no_url_of_a_document_is_lost(document: str, times: int) -> None:
    source = "\n\n".join([document] * times)
    text = "\n".join(texts(source))
    assert URLS.findall(text) == URLS.findall(source)
    assert LETTERS.findall(URLS.sub("", text)) == LETTERS.findall(URLS.sub("", source))


noise = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)
clusters = st.sampled_from(["👩‍👩‍👧‍👦", "🇩🇪", "e\u0301", "ก็", "👍🏽", "a", " ", "\n", ".", "क्षि", "\u0301"])
graphemes = st.lists(clusters, max_size=900).map("".join)


def test_a_text_that_nobody_sees_is_said_to_be_none() -> None:
    assert [part.text for part in render(message("\xad"))] == ["(no text)"]


@given(noise, st.integers(1, 12))
@settings(deadline=None)
def test_any_text_renders_within_the_limit_and_never_empty(text: str, times: int) -> None:
    parts = render(message(text * times))
    assert parts
    assert all(part.text.strip() and units(part.text) <= MAX_UNITS and part.segments >= 1 for part in parts)


@given(graphemes, st.integers(40, 120))
@settings(deadline=None)
def test_splitting_keeps_graphemes_whole_and_loses_only_white_space(text: str, limit: int) -> None:
    pieces = split(text, limit)
    assert all(units(piece) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    whole = [g for g in regex.findall(r"\X", text) if g.strip() and units(g) <= limit]
    cut = [g for piece in pieces for g in regex.findall(r"\X", piece) if g.strip()]
    if all(units(g) <= limit for g in regex.findall(r"\X", text)):
        assert cut == whole


@pytest.mark.parametrize("most", [2, 5, 12, 24])
@pytest.mark.parametrize(
    "text",
    ["[" * 9_000, "\U0001f389" * 5_000, "word " * 2_000, "ж " * 4_000],
    ids=["brackets", "emoji", "words", "letters"],
)
def test_no_portion_costs_more_segments_than_a_message_may(text: str, most: int) -> None:
    portions: dict[int, int] = {}
    parts = render(message(text), most)
    for part in parts:
        portions[part.portion] = portions.get(part.portion, 0) + part.segments
    assert max(portions.values()) <= most
    rendered = "".join(part.text.removesuffix("\n\n(... more: reply MORE)") for part in parts)
    assert rendered.replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(("plain", "said"), [("off", "más tarde"), ("on", "mas tarde")])
def test_texts_have_plain_letters_as_the_operator_wants_and_cards_never(plain: Literal["on", "off"], said: str) -> None:
    sms = build_notification_channels(
        Settings(
            _env_file=None,
            twilio_account_sid="AC" + "0" * 32,
            twilio_auth_token=SecretStr("none"),
            twilio_from="+15550100000",
            public_url="https://valet.example.org",
            onevalet_sms_plain_letters=plain,
        )
    )["sms"]
    assert [part.text for part in sms.render(message("más tarde"))] == [said]
    card = OutboundMessage(id="out_1", kind=OutboundKind.CARD, text="más tarde")
    assert [part.text for part in sms.render(card)] == ["más tarde"]
    long = sms.render(message("Mañana más tarde. " * 200))
    assert is_gsm(long[0].text) == (plain == "on"), "in portions, too"


@pytest.mark.parametrize("length", [600, 1_000, 9_000])
def test_a_first_portion_may_be_smaller_than_those_after_it(length: int) -> None:
    text = "".join(f"word{number:05d} " for number in range(length // 10)).strip()
    parts = render(OutboundMessage("out_1", OutboundKind.REPLY, text), 12, 3)
    costs = [sum(part.segments for part in parts if part.portion == number) for number in range(parts[-1].portion + 1)]
    assert costs[0] <= 3
    assert len(costs) > 1
    assert max(costs) <= 12
    assert " ".join(part.text.removesuffix("(... more: reply MORE)") for part in parts).split() == text.split()
