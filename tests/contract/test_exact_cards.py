"""Promise 9, on every channel: two different arguments are never shown alike."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.approvals.cards import card
from core.approvals.consent import Described
from core.approvals.rendering import as_text, render_arguments
from core.approvals.seal import seal
from core.approvals.types import NewApproval
from core.json_types import Json
from core.messaging import visible_text
from core.messaging.channels import Part
from core.messaging.messages import OutboundMessage
from core.messaging.visible_text import plain_line, visible
from notify.email import render as email
from notify.push import render as push
from notify.slack import render as slack
from notify.sms import render as sms
from notify.telegram import render as telegram
from notify.terminal import render as terminal
from providers.slack.wire import escape
from tests.examples import examples

type Render = Callable[[OutboundMessage], tuple[Part, ...]]

RENDERS: dict[str, Render] = {
    "sms": sms.render,
    "slack": slack.render,
    "telegram": telegram.render,
    "push": push.render,
    "email": email.render,
    "terminal": terminal.render,
}
NAMES = (
    "<", ">", "&", "&lt;", "&amp;", "&#60;", "<U+202E>", "<5 spaces>", "<1 space>", "<tab>", "\u202e", "\u200b", "`",
    "``", "<U+0060>", '"', "(empty)", "(none)", " ", "     ", "\t", "\n", "\r\n", "\\", "*", "_", "~~", "[a](b)", "#",
    "- ", "> ", "1. ", "|", ", ", ": ", "a", "b", "yes", "1", "\u030a", "e\u0301", "\u0430", "<!here>", "http://a.b",
)  # fmt: skip
texts = st.lists(st.sampled_from(NAMES) | st.characters(codec="utf-8", exclude_characters="\0"), max_size=8).map(
    "".join
)
lists = st.lists(texts | st.integers() | st.booleans() | st.none() | st.lists(texts, max_size=2), max_size=3)
groups = st.dictionaries(texts, texts | st.booleans() | st.none() | st.lists(texts, max_size=2), max_size=2)


def request(value: Json, summary: str = "send note") -> NewApproval:
    described = Described(summary, {})
    return NewApproval(
        id="apr_1",
        call_id="c",
        generation=1,
        name="send_note",
        summary=plain_line(summary),
        arguments={"text": value},
        rendered=render_arguments({"text": value}, described),
        form=(),
        risk="",
        source="message",
        code="7K",
        token="tok",
        seconds=1800,
        sealed=seal("ten_1", "ten_1", "send_note", {"text": value}),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def shown(value: Json, render: Render, summary: str = "send note") -> list[str]:
    """Return what is sent of a card, part by part."""
    return [str(part.data.get("blocks", part.text)) for part in render(card(request(value, summary), "out_1").message)]


def on_slack(text: str) -> str:
    """Return what a person reads in Slack: Markdown, in which Slack's three escapes count everywhere, code included."""
    (part,) = slack.render(OutboundMessage("out_1", card(request("x"), "out_1").message.kind, text))
    blocks = part.data["blocks"]
    assert isinstance(blocks, list)
    assert isinstance(blocks[0], dict)
    words = []
    for token in MarkdownIt("commonmark", {"html": False}).parseInline(str(blocks[0]["text"]))[0].children or ():
        content = token.content
        if token.type == "code_inline":
            content = content.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        words.append(content)
    return "".join(words)


@pytest.mark.parametrize("name", RENDERS)
@examples(150)
@given(st.tuples(texts, texts) | st.tuples(lists, lists) | st.tuples(groups, groups))
@example(("a < b", "a &lt; b"))
@example(("a\tb", "a    b"))
@example(("a ", "a  "))
@example(("", "(empty)"))
@example(("`", "<U+0060>"))
@example(("\u202e", "<U+202E>"))
@example(("a\r\nb", "a\nb"))
@example(("a\u030a", "a"))
@example(([["a", "b"]], ["a, b"]))
@example(([""], []))
@example(([1], ["1"]))
@example(({"a": "b: c"}, {"a: b": "c"}))
def test_promise_9_two_different_arguments_are_never_shown_alike(name: str, pair: tuple[Json, Json]) -> None:
    one, other = pair
    assume(repr(one) != repr(other))
    assert shown(one, RENDERS[name]) != shown(other, RENDERS[name])


@pytest.mark.parametrize("value", ["a < b", "a &lt; b", "a &amp;lt; b", "&", "<!channel>", "Tom & Jerry"])
def test_promise_9_slack_shows_an_argument_letter_by_letter(value: str) -> None:
    assert on_slack(f"Text: `{value}`") == f"Text: {value}"


@examples(200)
@given(texts, texts)
def test_promise_9_no_two_texts_are_made_visible_alike(one: str, other: str) -> None:
    assume(one != other)
    assert visible(one) != visible(other)
    assert as_text(one) != as_text(other)


@pytest.mark.parametrize(
    "summary", ["pay (note: <5 # of [x] {a|b} ~ \\)", "*b* _i_ __b__ `c` ~~s~~ [x](y) a_b@c.de &lt; \\* <b@c.de>"]
)
def test_a_heading_and_a_receipt_keep_every_character(summary: str) -> None:
    (text,) = sms.render(card(request("x", summary), "out_1").message)
    assert text.text.split("\n")[0] == f"7K: {summary}"
    marked = telegram.render(card(request("x", summary), "out_1").message)[0].text
    assert marked.split("\n")[0] == f"7K: {summary}"
    assert on_slack(f"Approved 7K: {visible_text.literal(summary)}.") == f"Approved 7K: {summary}."
    assert escape(summary).count("\\") == summary.count("\\")
