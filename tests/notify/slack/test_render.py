"""Markdown to Slack's parts: nothing lost, nothing too long, fences whole."""

import html
import string
from collections.abc import Callable
from typing import Any, cast

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.json_types import Json
from core.messaging.channels import Part
from core.messaging.messages import Action, ActionStyle, Media, OutboundKind, OutboundMessage
from notify.slack.markdown import defuse, literal_blocks
from notify.slack.render import render
from notify.slack.split import split, weigh
from tests.examples import examples
from workbench.simulator.slack.blocks import Surface, block_problems, text_length
from workbench.simulator.slack.limits import ALL_BLOCKS, MARKDOWN_BLOCKS


def message(text: str, *actions: Action, media: tuple[Media, ...] = ()) -> OutboundMessage:
    return OutboundMessage("out_1", OutboundKind.REPLY, text, actions, media)


def blocks(part: Part) -> list[dict[str, Any]]:
    return cast(list[dict[str, Any]], part.data["blocks"])


def shown(part: Part) -> str:
    return str(blocks(part)[0]["text"])


def code(text: str) -> str:
    """Return what stands in fences."""
    return "".join(token.content for token in MarkdownIt("commonmark").parse(text) if token.type == "fence")


def letters(text: str) -> str:
    """Leave out blanks and the marks that fences and quotes add."""
    return regex.sub(r"[\s`~>]", "", text)


def test_a_short_answer_is_one_markdown_block() -> None:
    (part,) = render(message("**Hi**, see `x` & y"))
    assert part == Part("**Hi**, see `x` & y", {"blocks": [{"type": "markdown", "text": "**Hi**, see `x` & y"}]})


@pytest.mark.parametrize("text", ["", " \n\t\n", "\x00\x07", "\ud800"])
def test_nothing_is_still_something_to_read(text: str) -> None:
    (part,) = render(message(text))
    assert shown(part) == "(no text)"


def test_buttons_stand_beneath_the_last_part_with_their_tokens() -> None:
    actions = (
        Action("Approve", "tok_a", ActionStyle.PRIMARY),
        Action("Edit", "tok_e"),
        Action("Cancel", "tok_c", ActionStyle.DANGER),
    )
    first, last = render(message("word " * 3000, *actions))
    assert len(blocks(first)) == 1
    row = blocks(last)[1]
    assert [(element["text"]["text"], element["value"], element.get("style")) for element in row["elements"]] == [
        ("Approve", "tok_a", "primary"),
        ("Edit", "tok_e", None),
        ("Cancel", "tok_c", "danger"),
    ]
    assert len({element["action_id"] for element in row["elements"]}) == 3


def test_a_long_label_is_cut_between_graphemes() -> None:
    family = "👨‍👩‍👧‍👦"
    (part,) = render(message("x", Action(family * 20, "t"), Action("", "u")))
    labels = [element["text"]["text"] for element in blocks(part)[1]["elements"]]
    assert labels[0] == family * (len(labels[0]) // len(family)) + "…"
    assert labels[1] == "…"


def test_a_label_is_cut_by_utf_16_units() -> None:
    (part,) = render(message("x", Action("🎉" * 60, "t"), Action("a" * 75, "u")))
    labels = [button["text"]["text"] for button in blocks(part)[1]["elements"]]
    assert labels == ["🎉" * 37 + "…", "a" * 75]


def test_no_text_is_turned_around() -> None:
    (part,) = render(message("pay \u202egnp.exe\u202c \u2067now\u2069", Action("\u202eApprove", "t")))
    assert shown(part) == "pay gnp.exe now"
    assert blocks(part)[1]["elements"][0]["text"]["text"] == "Approve"


def test_files_are_sent_as_their_addresses() -> None:
    (part,) = render(message("Here", media=(Media("https://x.io/a.png", "image/png"),)))
    assert part.text == "Here\nhttps://x.io/a.png"


def test_a_long_text_is_cut_after_a_paragraph() -> None:
    paragraphs = [f"{number} " + "word " * 600 for number in range(8)]
    parts = render(message("\n\n".join(paragraphs)))
    assert len(parts) == 3
    assert " ".join(part.text for part in parts).split() == " ".join(paragraphs).split()
    assert all(regex.match(r"\d word", part.text) for part in parts)


def test_graphemes_stay_whole() -> None:
    family = "👨‍👩‍👧‍👦"
    parts = render(message(family * 3000))
    assert len(parts) > 1
    assert all(part.text == family * (len(part.text) // len(family)) for part in parts)


@pytest.mark.parametrize("indent", ["", "- ", "> ", "1. ", "- - - ", "> - "])
@pytest.mark.parametrize("marks", ["```", "~~~~"])
def test_code_that_is_cut_is_closed_and_opened_again(indent: str, marks: str) -> None:
    rest = regex.sub(r"[^>]", " ", indent)
    lines = [f"line_{number} = {number}" for number in range(200)]
    source = "\n".join(
        ["Look:", "", f"{indent}{marks}python", *(rest + line for line in lines), f"{rest}{marks}", "", "Done **it**."]
    )
    pieces = split(source, 1000)
    assert len(pieces) >= 3
    assert regex.sub(r"\s", "", "".join(code(piece.text) for piece in pieces)) == "".join(lines).replace(" ", "")
    assert all("python" in piece.text for piece in pieces[:-1])
    assert {piece.text.splitlines()[-1].strip(" >") for piece in pieces[:-1]} == {marks}
    assert "Done" not in code(pieces[-1].text)
    assert pieces[-1].text.endswith("Done **it**.")


def test_code_is_not_opened_for_nothing() -> None:
    source = "x" * 980 + "\n```python\n" + "y = 1\n" * 100 + "```\n"
    first, second = split(source, 1000)
    assert "```" not in first.text
    assert second.text.startswith("```python\n")


_words = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    [
        "```",
        "```py",
        "~~~",
        "- ",
        "> ",
        "    ",
        "&&&&&",
        "<b>",
        "👨‍👩‍👧‍👦",
        "é́́",
        "word " * 30,
        "\n",
        "\n\n",
        "# ",
        "|a|b|\n|-|-|",
    ]
)
_texts = st.lists(_words, max_size=60).map("".join) | st.lists(_words, max_size=60).map("\n".join)


@examples(150)
@given(_texts, st.integers(300, 700))
def test_fuzzed_texts_lose_nothing_and_fit(text: str, limit: int) -> None:
    text = text.replace("\r", "").strip("\n")
    pieces = split(text, limit)
    assert letters("".join(piece.body for piece in pieces)) == letters(text)
    assert all(weigh(piece.text) <= limit * 10 for piece in pieces)
    for piece in pieces:
        assert letters(piece.text) == letters(piece.body) or piece.opened
        assert not piece.closed.strip("\n >`~"), "a piece is closed by marks alone"


@examples(60)
@given(
    st.lists(_words | st.just("x" * 4000) | st.just("&" * 3000), max_size=12).map("".join),
    st.lists(
        st.builds(Action, st.text(max_size=120), st.text(max_size=64), st.sampled_from(ActionStyle)), max_size=110
    ),
)
def test_fuzzed_messages_are_valid_blocks_within_all_limits(text: str, actions: list[Action]) -> None:
    parts = render(message(text, *actions))
    tokens = []
    for part in parts:
        made = cast(Json, blocks(part))
        assert block_problems(made, Surface.MESSAGE) == []
        assert text_length(made) <= ALL_BLOCKS
        assert len(shown(part)) <= MARKDOWN_BLOCKS
        assert part.text.strip()
        for row in blocks(part)[1:]:
            tokens += [element["value"] for element in row["elements"]]
    assert tokens == [action.token for action in actions]
    assert render(message(text, *actions)) == parts


def read(markdown: str, decode: Callable[[str], str] = str) -> str:
    """Return what Markdown shows, as HTML; code by indentation loses a backslash before a bracket, and is left out."""
    reader = MarkdownIt("commonmark", {"html": False}).disable("code")
    tokens = reader.parse(markdown)
    for token in [*tokens, *(child for block in tokens for child in block.children or ())]:
        if token.type in ("fence", "code_inline"):
            token.content, token.info = decode(token.content), decode(token.info)
    return str(reader.renderer.render(tokens, reader.options, {}))


def decoded(text: str) -> str:
    """Return a text as Slack shows it: in code it decodes what other readers of Markdown leave."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


@pytest.mark.parametrize(
    ("markdown", "written"),
    [
        ("hi <!channel>, <@U0ADA00001>", "hi &lt;!channel>, &lt;@U0ADA00001>"),
        ("<https://bank.example|https://evil.example>", "&lt;https://bank.example|https://evil.example>"),
        ("<https://bank.example> stays", "<https://bank.example> stays"),
        ("> a quote, 1 < 2", "> a quote, 1 &lt; 2"),
        (r"\<\!channel\> \& \* \\<", r"&lt;\!channel&gt; &amp; \* \\&lt;"),
        ("`a \\< b` and \\`<", "`a \\&lt; b` and \\`&lt;"),
        ("```\nif a \\< b && <x>:\n```", "```\nif a \\&lt; b && &lt;x>:\n```"),
    ],
)
def test_slack_finds_no_mark_of_its_own(markdown: str, written: str) -> None:
    assert defuse(markdown) == written


_marks = st.sampled_from(
    [
        "<",
        ">",
        "<!here>",
        "<@U1>",
        "\\",
        "\\<",
        "\\>",
        "\\&",
        "&lt;",
        "&",
        "`",
        "``",
        "```\n",
        "a",
        "*",
        " ",
        "\n",
        "\n\n",
    ]
)


@examples(300)
@given(st.lists(_marks, max_size=25).map("".join))
@example("`\\<```\n>`")
@example("> `\\<\n> `")
def test_what_is_read_stays_the_same_and_no_bracket_is_left(markdown: str) -> None:
    written = defuse(markdown)
    assert "<" not in written
    assert len(written) * 10 <= weigh(markdown)
    assert read(written, decoded) == read(markdown)


_values = st.text(st.sampled_from("ab1*_~`#>-+.!|<@&;:/()[]{}\\= \n") | st.characters(codec="utf-8"), max_size=40)


@examples(150)
@given(_values)
def test_promise_9_an_escaped_value_is_read_letter_by_letter(value: str) -> None:
    value = regex.sub(r"[\p{Cc}\p{Zs}\u2028\u2029\ufffd\u202a-\u202e\u2066-\u2069]+", " ", value).strip()
    escaped = "".join(f"\\{char}" if char in string.punctuation else char for char in value)
    (part,) = render(message(f"**To**: {escaped}."))
    assert html.unescape(read(shown(part))) == f"<p><strong>To</strong>: {value}.</p>\n"


@pytest.mark.parametrize(("text", "sizes"), [("a" * 3000, [3000]), ("a" * 3001, [3000, 1]), ("&" * 601, [3000, 5])])
def test_a_literal_text_fills_each_section_to_its_limit(text: str, sizes: list[int]) -> None:
    sections = cast(list[dict[str, Any]], literal_blocks(text))
    shown = [section["text"]["text"] for section in sections]
    assert [len(piece) for piece in shown] == sizes
    assert html.unescape("".join(shown)) == text
