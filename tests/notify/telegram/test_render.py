"""Markdown as Telegram's texts and entities: whole, within the limits, never refused."""

import json
import string
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from core.messaging.channels import Part
from core.messaging.messages import Action, ActionStyle, Media, OutboundKind, OutboundMessage
from notify.telegram.markdown import to_rich
from notify.telegram.render import render, split
from notify.telegram.text import clean, is_visible
from providers.telegram.wire import MAX_UNITS
from providers.utf16 import units
from tests.examples import examples
from workbench.simulator.telegram.arguments import Arguments
from workbench.simulator.telegram.entities import FormattedText
from workbench.simulator.telegram.formatting import check_length, read_text
from workbench.simulator.telegram.keyboards import read_markup


def message(text: str, **more: Any) -> OutboundMessage:
    return OutboundMessage(id="out_1", kind=OutboundKind.REPLY, text=text, **more)


def at_telegram(part: Part) -> FormattedText:
    """Do with a part what the strict server does, which refuses by raising."""
    entities = json.dumps(part.data.get("entities", []))
    settled = read_text(Arguments({"text": part.text, "entities": entities}))
    check_length(settled)
    assert settled.text
    read_markup(Arguments({"reply_markup": json.dumps({"inline_keyboard": part.data.get("keyboard", [])})}))
    return settled


def marked(markdown: str) -> list[tuple[str, str]]:
    """Return each mark's kind and what it covers, with a link's URL or a code's language."""
    rich = to_rich(markdown)
    return [
        (f"{mark.kind} {mark.url or ''}{mark.language or ''}".strip(), rich.text[mark.start : mark.end])
        for mark in rich.marks
    ]


@pytest.mark.parametrize(
    ("markdown", "text", "marks"),
    [
        (
            "**bold** *soft* ~~gone~~",
            "bold soft gone",
            [("bold", "bold"), ("italic", "soft"), ("strikethrough", "gone")],
        ),
        ("# Title\n\nText\nnext line", "Title\n\nText\nnext line", [("bold", "Title")]),
        ("- one\n- two\n  - deep\n- three", "• one\n• two\n  • deep\n• three", []),
        ("3. three\n4. four", "3. three\n4. four", []),
        ("1. first\n\n   more of it\n\n2. second", "1. first\n\n   more of it\n\n2. second", []),
        (
            "See [the page](https://a.example/x?y=1&z=2).",
            "See the page.",
            [("text_link https://a.example/x?y=1&z=2", "the page")],
        ),
        ("<https://a.example>", "https://a.example", []),
        ("[https://a.example](https://a.example)", "https://a.example", []),
        ('[a](https://b.example "why")', 'a "why"', [("text_link https://b.example", "a")]),
        ("[a](/relative) [b](mailto:b@c.example)", "a (/relative) b (mailto:b@c.example)", []),
        ("[](https://a.example)", "https://a.example", []),
        ("[`c`](https://a.example)", "c (https://a.example)", [("code", "c")]),
        ("[a](https://a.example:99999)", "a (https://a.example:99999)", []),
        ("[a](https://localhost/x)", "a (https://localhost/x)", []),
        ("![a cat](https://a.example/cat.png)", "a cat", [("text_link https://a.example/cat.png", "a cat")]),
        ("https://a.example/a_b_c*d*?q=~x~", "https://a.example/a_b_c*d*?q=~x~", []),
        ("Run `ls -la` now", "Run ls -la now", [("code", "ls -la")]),
        ("```python\nif x:\n    y()\n```", "if x:\n    y()", [("pre python", "if x:\n    y()")]),
        ("```not a language!\nx\n```", "not a language!\nx", [("pre", "x")]),
        ("```\nnever closed", "never closed", [("pre", "never closed")]),
        ("| a |\n|---|\n| 1 | 22 |\nx | y | z", "a\n1 | 22\nx | y  | z", [("pre", "a\n1 | 22\nx | y  | z")]),
        ("| Who | What |\n|---|---|\n| Ann | **tea** |", "Who | What\nAnn | tea", [("pre", "Who | What\nAnn | tea")]),
        ("> quoted\n> twice\n\nafter", "quoted\ntwice\n\nafter", [("blockquote", "quoted\ntwice")]),
        ("> a\n> > b", "a\n\n> b", [("blockquote", "a\n\n> b")]),
        ("a\n\n---\n\nb", "a\n\n———\n\nb", []),
        ("2*3*4 = 24, snake_case_name", "2*3*4 = 24, snake_case_name", []),
        ("[a]: https://b.example", "[a]: https://b.example", []),
        ("<b>html</b> & &amp;", "<b>html</b> & &", []),
        ("<div>\na & b\n</div>\n\nafter", "<div>\na & b\n</div>\n\nafter", []),
        ("1. one\n2. two\n\nafter", "1. one\n2. two\n\nafter", []),
        ("*a **b** c*", "a b c", [("bold", "b"), ("italic", "a b c")]),
        ("> " * 60 + "deep", "> " * 60 + "deep", []),
    ],
)
def test_markdown_becomes_text_and_marks(markdown: str, text: str, marks: list[tuple[str, str]]) -> None:
    assert to_rich(markdown).text == text
    assert marked(markdown) == marks


@pytest.mark.parametrize(("widest", "shown"), [(53, "1" + " " * 52 + " | 2"), (54, "1 | 2")])
def test_a_table_has_columns_where_a_phone_shows_them_whole(widest: int, shown: str) -> None:
    rich = to_rich(f"| {'a' * widest} |  |\n|---|---|\n| 1 | 2 |")
    assert rich.text.splitlines()[1] == shown


def test_offsets_are_in_utf_16_units() -> None:
    (part,) = render(message("🎉 **großes 👩‍👩‍👧 Fest** `x`"))
    settled = at_telegram(part)
    raw = settled.text.encode("utf-16-le")
    covered = [raw[2 * e.offset : 2 * e.end].decode("utf-16-le") for e in settled.entities]
    assert covered == ["großes 👩‍👩‍👧 Fest", "x"]


def test_buttons_stand_under_the_last_text() -> None:
    actions = (
        Action("Approve", "tok-1", ActionStyle.PRIMARY),
        Action("Edit", "tok-2"),
        Action("Cancel", "tok-3", ActionStyle.DANGER),
    )
    *first, last = render(message("word " * 2000, actions=actions))
    assert first
    assert not any("keyboard" in part.data for part in first)
    assert last.data["keyboard"] == [
        [
            {"text": "Approve", "callback_data": "tok-1", "style": "primary"},
            {"text": "Edit", "callback_data": "tok-2"},
            {"text": "Cancel", "callback_data": "tok-3", "style": "danger"},
        ]
    ]


def test_long_buttons_stand_below_each_other() -> None:
    actions = tuple(Action(f"A rather long label of number {n}", f"t{n}") for n in range(3))
    (part,) = render(message("Which?", actions=actions))
    assert [len(row) for row in part.data["keyboard"]] == [1, 1, 1]  # type: ignore[union-attr,arg-type]


@pytest.mark.parametrize("token", ["", "x" * 65, "ü" * 33])
def test_a_token_over_64_bytes_never_leaves(token: str) -> None:
    with pytest.raises(ValueError, match="64 bytes"):
        render(message("Send it?", actions=(Action("OK", token),)))
    assert render(message("Send it?", actions=(Action("OK", "x" * 64),)))


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "&nbsp;", "\u200b\u2060", "\u3164", "\u202a\u0333", "[](/)"])
def test_never_empty(text: str) -> None:
    (part,) = render(message(text, actions=(Action("OK", "t"),)))
    assert is_visible(part.text)
    assert "keyboard" in part.data
    at_telegram(part)


def test_files_follow_the_text() -> None:
    media = (Media("https://a.example/cat.png", "image/png"), Media("tg:BQAC", "application/pdf", "a.pdf"))
    text, photo, document = render(message("Look", media=media))
    assert text.text == "Look"
    assert photo.data == {"media": {"kind": "photo", "source": "https://a.example/cat.png"}}
    assert document.data == {"media": {"kind": "document", "source": "BQAC"}}
    (alone,) = render(message("", media=media[:1]))
    assert alone == photo


def test_files_stand_before_a_text_with_buttons() -> None:
    media = (Media("tg:BQAC", "application/pdf", "a.pdf"),)
    file, text = render(message("Send it?", media=media, actions=(Action("OK", "t"),), wants_reply=True))
    assert "media" in file.data
    assert set(text.data) == {"keyboard"}  # a message has one kind of markup: the buttons go first
    (asking,) = render(message("What else?", wants_reply=True))
    assert asking.data == {"force_reply": "Your answer"}


_values = st.text(st.sampled_from("ab1*_~`#>-+.!|<@&;:/()[]{}\\= ") | st.characters(codec="utf-8"), max_size=40)


@given(_values)
@examples(150)
def test_promise_9_an_escaped_value_is_shown_letter_by_letter(value: str) -> None:
    value = " ".join(clean(value).replace("\ufffd", "").split())
    escaped = "".join(f"\\{char}" if char in string.punctuation else char for char in value)
    (part,) = render(message(f"**To**: {escaped}."))
    assert part.text == f"To: {value}."
    assert [entity["type"] for entity in part.data["entities"]] == ["bold"]  # type: ignore[union-attr,index,call-overload]


def test_a_code_block_is_closed_and_opened_again() -> None:
    code = "\n".join(f"    line_{n} = {n}" for n in range(600))
    parts = render(message(f"Before\n\n```python\n{code}\n```\n\nafter **it**"))
    assert len(parts) > 2
    kinds = [[(e["type"], e.get("language")) for e in part.data["entities"]] for part in parts]  # type: ignore[union-attr,call-overload,index]
    assert all(("pre", "python") in kind for kind in kinds)
    settled = [at_telegram(part) for part in parts]
    lines = [line for text in settled for line in text.text.split("\n") if "line_" in line]
    assert lines == code.split("\n")


def test_long_texts_are_cut_after_paragraphs_lines_sentences_words() -> None:
    def pieces(text: str) -> list[str]:
        return [text[start:end] for start, end in split(text, MAX_UNITS)]

    assert all(piece.endswith("end.") for piece in pieces("\n\n".join("word " * 380 + "end." for _ in range(4))))
    assert all(piece.endswith("words.") for piece in pieces("A sentence of some words. " * 500))
    assert all(set(piece.split()) == {"abcdefghi"} for piece in pieces("abcdefghi " * 900))


numbers = st.integers(0, 99)
words = st.text(st.sampled_from("abcXYZäß好🍕"), min_size=1, max_size=12)
inline = st.one_of(
    words,
    st.builds("**{}**".format, words),
    st.builds("*{}*".format, words),
    st.builds("~~{}~~".format, words),
    st.builds("`{}`".format, words),
    st.builds("[{}](https://a.example/{})".format, words, numbers),
    st.builds("[*{}* `{}`](https://a.example/{})".format, words, words, numbers),
    st.builds("![{}](https://a.example/{})".format, words, numbers),
    st.builds("![[{}](https://a.example/{})](https://a.example/{})".format, words, numbers, numbers),
    st.builds("[![{}](https://a.example/{})](https://a.example/{})".format, words, numbers, numbers),
)
lines = st.lists(inline, min_size=1, max_size=8).map(" ".join)
blocks = st.one_of(
    lines,
    lines.map("# {}".format),
    st.lists(lines, min_size=1, max_size=4).map(lambda many: "\n".join(f"- {line}" for line in many)),
    st.lists(lines, min_size=1, max_size=4).map(lambda many: "\n".join(f"1. {line}" for line in many)),
    lines.map("> {}".format),
    lines.map("> - {}".format),
    words.map("```python\n{}\n```".format),
    words.map("- a\n\n  ```\n  {}\n  ```".format),
    st.tuples(words, inline).map(lambda pair: f"| {pair[0]} | {pair[1]} |\n|---|---|\n| {pair[1]} | {pair[0]} |"),
    st.tuples(words, inline).map(lambda pair: f"| {pair[0]} |\n|---|\n| {pair[0]} | {pair[1]} |"),
)
documents = st.lists(blocks, min_size=1, max_size=8).map("\n\n".join)
LETTERS = regex.compile(r"[abcXYZäß好🍕]")
URLS = regex.compile(r"https://a\.example/\d+")


@given(documents, st.sampled_from([1, 2, 6]))
@examples(50)
def test_promise_14_no_word_or_url_of_a_document_is_lost(document: str, times: int) -> None:
    source = "\n\n".join([document] * times)
    settled = [at_telegram(part) for part in render(message(source))]
    text = "\n".join(text.text for text in settled)
    fenced = "".join(LETTERS.findall(URLS.sub("", source.replace("```python", ""))))
    assert "".join(LETTERS.findall(URLS.sub("", text))) == fenced
    links = [entity.url for text in settled for entity in text.entities if entity.type == "text_link"]
    assert set(URLS.findall(source)) == set(URLS.findall(text)) | set(URLS.findall(" ".join(links)))


noise = st.text(st.characters(), max_size=300)
markup = st.lists(
    st.sampled_from([*"*_~`[]()<>#|\\\n -!&\"'", "**", "```", "[a](", "https://a.b", "🎉", "\u0301", "x", "> ", "1. "]),
    max_size=60,
).map("".join)


@given(noise | markup, st.sampled_from([1, 7, 60]))
@examples(200)
def test_promise_14_any_text_is_taken_by_the_strict_server(text: str, times: int) -> None:
    parts = render(message(text * times))
    assert parts
    for part in parts:
        assert units(part.text) <= MAX_UNITS
        assert is_visible(at_telegram(part).text)


clusters = st.sampled_from(["👩‍👩‍👧‍👦", "🇩🇪", "e\u0301", "ก็", "👍🏽", "a", " ", "\n", ".", "क्षि", "\u0301"])
graphemes = st.lists(clusters, max_size=600).map("".join)


@given(graphemes, st.integers(40, 120))
@settings(deadline=None)
def test_splitting_keeps_graphemes_whole_and_loses_only_white_space(text: str, limit: int) -> None:
    pieces = [text[start:end] for start, end in split(text, limit)]
    assert all(units(piece) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    whole = regex.findall(r"\X", text)
    for piece in pieces:
        for cluster in regex.findall(r"\X", piece):
            assert cluster in whole or cluster in ("\n", " ")


def test_a_grapheme_longer_than_a_part_is_cut_rather_than_lost() -> None:
    zalgo = "a" + "\u0301" * 9000
    parts = render(message(zalgo))
    assert sum(part.text.count("\u0301") for part in parts) == 9000
    for part in parts:
        at_telegram(part)
