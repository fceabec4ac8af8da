"""What rendering and splitting cost: steps in proportion to the text's length, whatever stands in it."""

from collections.abc import Callable

import pytest

from core.messaging.messages import OutboundKind, OutboundMessage
from notify.slack.markdown import defuse, literal_blocks
from notify.slack.render import render as render_slack
from notify.slack.split import split as split_slack
from notify.sms.gsm import count_segments, fold
from notify.sms.render import render as render_sms
from notify.sms.render import split as split_sms
from notify.telegram.render import render as render_telegram
from notify.telegram.render import render_end
from notify.telegram.render import split as split_telegram
from providers.telegram.wire import MAX_UNITS
from tests.notify.steps import count_steps

pytestmark = pytest.mark.slow

type Text = Callable[[int], str]

PLAIN: dict[str, Text] = {
    "one word": lambda size: "x" * size,
    "words": lambda size: "hello there " * (size // 12),
    "spaces": lambda size: "a" + " " * size + "b",
    "empty lines": lambda size: "a" + "\n" * size + "b",
    "emoji": lambda size: "\U0001f389" * size,
    "joined emoji": lambda size: "\U0001f469\u200d" * (size // 2),
    "flags": lambda size: "\U0001f1e9\U0001f1ea" * (size // 2),
    "combining marks": lambda size: "a" + "\u0301" * size,
    "soft hyphens": lambda size: "\u00ad" * size,
    "quotes after dots": lambda size: '."' * (size // 2),
}
MARKED: dict[str, Text] = {
    "brackets": lambda size: "[" * size,
    "links": lambda size: "[a](http://b.example) " * (size // 22),
    "stars": lambda size: "*" * size,
    "bold": lambda size: "**a** " * (size // 6),
    "half emphasis": lambda size: "*a_" * (size // 3),
    "backticks": lambda size: "`" * size,
    "backticks by number": lambda size: "".join("`" * number + " " for number in range(1, int((2 * size) ** 0.5))),
    "code": lambda size: "`a` <b> " * (size // 8),
    "escaped backticks": lambda size: "\\`" * (size // 2),
    "angle brackets": lambda size: "<" * size,
    "ampersands": lambda size: "&" * size,
    "nested lists": lambda size: "\n".join("  " * number + "- a" for number in range(int(size**0.5))),
    "a list": lambda size: "- a\n" * (size // 4),
    "quotes in quotes": lambda size: "> " * 30 + "a\n" + "b\n" * (size // 2),
    "a deep quote": lambda size: ">" * size,
    "fences": lambda size: "```\na\n```\n" * (size // 10),
    "an open fence": lambda size: "```\n" + "x\n" * (size // 2),
    "a table": lambda size: "a|b\n-|-\n" + "c|d\n" * (size // 4),
    "paragraphs": lambda size: "a\n\n" * (size // 3),
}
MOST = 2.5
"""How many times the steps may grow when a text is twice as long; in proportion would be two."""
_SHORT = 100


def growth(work: Callable[[str], object], text: Text, size: int) -> float:
    """Return how many times the steps grow from a text to one of twice the length."""
    first, second = text(size), text(2 * size)
    work(text(_SHORT))  # what is only done once is done
    return count_steps(lambda: work(second)) / count_steps(lambda: work(first))


def rendering(render: Callable[[OutboundMessage], object]) -> Callable[[str], object]:
    return lambda text: render(OutboundMessage("out_1", OutboundKind.REPLY, text))


CUTTING = {
    "sms": split_sms,
    "telegram": lambda text: split_telegram(text, 4096),
    "slack": split_slack,
    "slack literal": literal_blocks,
    "segments": count_segments,
    "folding": fold,
}
RENDERING = {"sms": render_sms, "telegram": render_telegram, "slack": render_slack}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
@pytest.mark.parametrize("cut", CUTTING.values(), ids=CUTTING)
def test_cutting_a_text_of_twice_the_length_takes_twice_the_steps(cut: Callable[[str], object], text: Text) -> None:
    assert growth(cut, text, 25_000) < MOST


@pytest.mark.parametrize("text", MARKED.values(), ids=MARKED)
@pytest.mark.parametrize("render", RENDERING.values(), ids=RENDERING)
def test_rendering_a_text_of_twice_the_length_takes_twice_the_steps(
    render: Callable[[OutboundMessage], object], text: Text
) -> None:
    assert growth(rendering(render), text, 700) < MOST


@pytest.mark.parametrize("name", ["fences", "bold", "code", "links"])
@pytest.mark.parametrize(
    ("render", "size"), [(render_telegram, 9_000), (render_slack, 30_000)], ids=["telegram", "slack"]
)
def test_marks_over_many_parts_take_steps_in_proportion(
    render: Callable[[OutboundMessage], object], size: int, name: str
) -> None:
    assert growth(rendering(render), MARKED[name], size) < MOST


@pytest.mark.parametrize("text", [PLAIN["words"], MARKED["escaped backticks"], MARKED["code"]])
def test_escaping_for_slack_takes_steps_in_proportion(text: Text) -> None:
    assert growth(defuse, text, 10_000) < MOST


@pytest.mark.parametrize("name", ["words", "bold", "a list", "paragraphs"])
def test_a_draft_takes_no_more_steps_the_longer_the_text_is(name: str) -> None:
    text = (PLAIN | MARKED)[name]
    short, long = text(2 * MAX_UNITS), text(40 * MAX_UNITS)
    render_end(short)  # what is only done once is done
    assert count_steps(lambda: render_end(long)) < 1.5 * count_steps(lambda: render_end(short))


def test_a_draft_shows_the_newest_words_of_a_long_text() -> None:
    text = " ".join(f"word{number}" for number in range(20_000))
    shown = render_end(text).text
    assert text.endswith(shown)
    assert 0 < len(shown) <= MAX_UNITS
    assert render_end("**a**").text == "a"
