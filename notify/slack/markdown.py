"""Text written so that Slack interprets only its Markdown; pure.

Slack reads its own marks (`<!channel>`, `<@U…>`, `<address|label>`) inside Markdown too, so that a text could call
people, or hide the target of a link. Escaped marks are shown literally, even in code, so a text that looks escaped must
itself be escaped.
Source: docs.slack.dev, messaging/formatting-message-text; github.com/PostHog/posthog/pull/95054 for Markdown blocks.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from core.json_types import Json, JsonObject
from notify.slack.split import Fence, find_blocks
from providers.slack.wire import MAX_SECTION, escape, plain_text
from providers.utf16 import units

MAX_LINE = 300

_TICKS = re.compile("`+")
# An escaped character, an address in angle brackets (Markdown and Slack agree on it), or an angle bracket.
_MARKS = re.compile(r"\\[!-/:-@\[-`{-~]|<(?:https?://|mailto:)[^\s<>|]+>|<")
# Characters that Slack interprets, even in code.
_IN_CODE = re.compile(r"<|&(?=(?:lt|gt|amp);)")
_WRITTEN = {"&": "&amp;", "\\<": "&lt;", "\\>": "&gt;", "\\&": "&amp;", "<": "&lt;"}


def defuse(markdown: str) -> str:
    """Return Markdown in which Slack finds no mark of its own; it reads the same."""
    if not any(mark in markdown for mark in "<&\\"):
        return markdown
    written, done = [], 0
    for start, end in _code(markdown):
        written += [_MARKS.sub(_write, markdown[done:start]), _IN_CODE.sub(_write, markdown[start:end])]
        done = end
    return "".join([*written, _MARKS.sub(_write, markdown[done:])])


def literal_blocks(text: str) -> list[Json]:
    """Return as many sections as a text needs to be shown literally, without Markdown."""
    blocks: list[Json] = []
    piece, size = "", 0
    for letter in map(escape, text):
        if size + units(letter) > MAX_SECTION:
            blocks.append(_section(piece))
            piece, size = "", 0
        piece, size = piece + letter, size + units(letter)
    return [*blocks, _section(piece)] if piece.strip() or not blocks else blocks


def line_block(line: str) -> JsonObject:
    """Return the block that shows a line, small, beneath a message."""
    return {"type": "context", "elements": [plain_text(escape(line, MAX_LINE))]}


def _section(written: str) -> JsonObject:
    return {"type": "section", "text": plain_text(written)}


def _write(match: re.Match[str]) -> str:
    return _WRITTEN.get(match[0], match[0])


def _code(markdown: str) -> Iterator[tuple[int, int]]:
    """Yield the places of code, in order: fences, and in a block of text runs of as many backticks on both sides."""
    for block in find_blocks(markdown):
        if isinstance(block, Fence):
            yield block.start, block.end
        else:
            yield from _spans(markdown, block.start, block.end)


def _spans(markdown: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    runs = [(ticks.start(), ticks.end()) for ticks in _TICKS.finditer(markdown, start, end)]
    closers: dict[int, list[int]] = defaultdict(list)
    for first, behind in runs:
        closers[behind - first].append(first)
    done = start
    for begun, behind in runs:
        # Outside of code a backslash takes the first backtick away.
        opens = begun + _escaped(markdown, begun)
        if begun < done or opens == behind:
            continue
        size = behind - opens
        following = closers[size]
        at = bisect_left(following, behind)
        if at < len(following):
            done = following[at] + size
            yield opens, done


def _escaped(markdown: str, at: int) -> int:
    """Return 1 if an odd number of backslashes precedes this place."""
    before = at
    while before and markdown[before - 1] == "\\":
        before -= 1
    return (at - before) % 2
