"""Numbers that are names reach the person as they are, whatever reads the Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.messaging.messages import OutboundKind, OutboundMessage
from notify.numbered_lists import keep_numbers
from notify.push import render as push
from notify.slack import render as slack
from notify.sms import render as sms
from notify.telegram import render as telegram
from tests.examples import examples


def read(markdown: str) -> list[str]:
    """Return what a reader that counts each list from 1 shows, a line for each paragraph, heading or code."""
    shown, counts, marker = list[str](), list[int](), ""
    for token in MarkdownIt("commonmark", {"html": False}).parse(markdown):
        match token.type:
            case "ordered_list_open":
                counts.append(0)
            case "bullet_list_open":
                counts.append(-1)
            case "ordered_list_close" | "bullet_list_close":
                counts.pop()
            case "list_item_open" if counts[-1] >= 0:
                counts[-1] += 1
                marker += f"{counts[-1]}. "
            case "inline":
                shown += (marker + words(token)).split("\n")
                marker = ""
            case "fence":
                shown += (marker + token.content.strip()).split("\n")
                marker = ""
    return shown


def words(token: Token) -> str:
    return "".join("\n" if child.type == "softbreak" else child.content for child in token.children or ())


def on_slack(markdown: str) -> str:
    (part,) = slack.render(OutboundMessage("out_1", OutboundKind.REPLY, markdown))
    blocks = part.data["blocks"]
    assert isinstance(blocks, list)
    assert isinstance(blocks[0], dict)
    return str(blocks[0]["text"])


def on_push(markdown: str) -> str:
    return push.render(OutboundMessage("out_1", OutboundKind.REPLY, markdown))[0].text


@pytest.mark.parametrize("written", [on_slack, on_push])
@examples(80)
@given(
    st.lists(st.integers(0, 99_999), min_size=1, max_size=6, unique=True),
    st.sampled_from(["Your notes:\n", "Your notes:\n\n", "", "> Quoted:\n>\n"]),
)
def test_numbers_that_are_names_are_not_counted_anew(written: object, numbers: list[int], before: str) -> None:
    assert callable(written)
    margin = "> " if before.startswith(">") else ""
    source = before + "\n".join(f"{margin}{number}. note {number}" for number in numbers)
    assert read(written(source))[-len(numbers) :] == [f"{number}. note {number}" for number in numbers]


@examples(40)
@given(st.lists(st.integers(0, 99_999), min_size=1, max_size=6, unique=True))
def test_channels_that_write_lists_out_write_the_numbers_given(numbers: list[int]) -> None:
    lines = [f"{number}. note {number}" for number in numbers]
    message = OutboundMessage("out_1", OutboundKind.REPLY, "Notes:\n\n" + "\n".join(lines))
    for render in (sms.render, telegram.render):
        (part,) = render(message)
        assert part.text.split("\n")[-len(lines) :] == lines


@pytest.mark.parametrize(
    "markdown",
    ["1. a\n2. b", "1. a\n1. b\n1. c", "1) a\n2) b", "no 2. list", "- a\n- 1. b\n  2. c", "```\n2. a\n4. b\n```"],
)
def test_a_list_that_counts_from_one_stays_as_it_is(markdown: str) -> None:
    assert keep_numbers(markdown) == markdown


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("2. a\n   more\n   - deep\n4. b", ["2. a", "more", "deep", "4. b"]),
        ("2) a\n4) b", ["2) a", "4) b"]),
        ("10. a\n\n    more\n12. b", ["10. a", "more", "12. b"]),
        ("- 7. a\n- 9. b", ["7. a", "9. b"]),
        ("1. a\n   5. b\n   7. c\n2. d", ["1. a", "5. b", "7. c", "2. d"]),
        ("3. ```py\n   x = 1\n   ```\n5. # Head", ["3.", "x = 1", "5.", "Head"]),
        ("> 3. > q\n> 5. 8. z", ["3.", "q", "5.", "8. z"]),
        ("4.", ["4."]),
        ("Notes:\n2. a\n4. b", ["Notes:", "2. a", "4. b"]),
    ],
)
def test_the_rest_of_a_list_reads_the_same(markdown: str, shown: list[str]) -> None:
    assert read(keep_numbers(markdown)) == shown
