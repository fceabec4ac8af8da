"""Lists whose numbers are names: written so that no reader of Markdown renumbers them; pure."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MAX_NESTING = 24
_MARGIN = re.compile(r"[ \t>]*")
_BLANKS = re.compile(r"[ \t]*")
_LIKE_AN_ITEM = re.compile(r"^([ \t>]*[0-9]{1,9})([.)])(?=[ \t]|$)")
_WIDEST = 5
"""The widest marker of a point, in columns, whose lines can keep the indentation of the item's."""


@dataclass(frozen=True, slots=True)
class _Item:
    """The beginning of an item: its marker, whether its number is to be text, and whether words follow the number."""

    marker: str
    named: bool
    inline: bool


def keep_numbers(markdown: str) -> str:
    """Return Markdown whose lists show the numbers that they have.

    Readers of Markdown count on from a list's first number, some from 1: of notes 2 and 4 they make 2 and 3. A list
    that does not count from 1 becomes a list of points in which the numbers are text.
    """
    if not any(char.isdigit() for char in markdown):
        return markdown
    # As CommonMark ends lines: a lone carriage return does so, too.
    markdown = markdown.replace("\r\n", "\n").replace("\r", "\n")
    lines = markdown.split("\n")
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING}).disable(["reference", "inline"])
    tokens = parser.parse(markdown)
    for line, items in _items(tokens).items():
        if any(item.named for item in items):
            lines[line] = _rewritten(lines[line], items)
    for line in _continued(tokens):
        # To CommonMark this is no list, to a laxer reader it may be.
        lines[line] = _LIKE_AN_ITEM.sub(r"\1\\\2", lines[line])
    return "\n".join(lines)


def _items(tokens: Sequence[Token]) -> dict[int, list[_Item]]:
    """Return the items that begin on each line, the outermost first."""
    found: dict[int, list[_Item]] = defaultdict(list)
    open_lists: list[bool] = []
    for at, token in enumerate(tokens):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            open_lists.append(token.type == "ordered_list_open" and not _counts(list(_numbers(tokens, at))))
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            open_lists.pop()
        elif token.type == "list_item_open" and token.map is not None:
            inline = tokens[at + 1].type in ("paragraph_open", "list_item_close")
            found[token.map[0]].append(_Item(token.info + token.markup, open_lists[-1], inline))
    return found


def _numbers(tokens: Sequence[Token], at: int) -> Iterator[int]:
    for token in tokens[at + 1 :]:
        if token.level == tokens[at].level:
            return
        if token.type == "list_item_open" and token.level == tokens[at].level + 1:
            yield int(token.info)


def _counts(numbers: Sequence[int]) -> bool:
    """Return whether a list counts from 1, or leaves the counting to its reader."""
    return set(numbers) == {1} or list(numbers) == [*range(1, len(numbers) + 1)]


def _continued(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the lines of paragraphs, without their first lines."""
    for token in tokens:
        if token.type == "paragraph_open" and token.map is not None:
            yield from range(token.map[0] + 1, token.map[1])


def _rewritten(line: str, items: Sequence[_Item]) -> str:
    written, at = "", 0
    for item in items:
        margin = _end(_MARGIN, line, at)
        written, at = written + line[at:margin], margin
        if not line.startswith(item.marker, at):
            break
        after = at + len(item.marker)
        content = _end(_BLANKS, line, after)
        if not item.named:
            written, at = written + line[at:content], content
            continue
        blanks = " " * max(min(content - at - _WIDEST + 1, 4), 1)
        text = f"-{blanks}{item.marker[:-1]}\\{item.marker[-1]}"
        if item.inline:
            written, at = written + text, after
        else:
            below = "".join(">" if char == ">" else " " for char in written.rpartition("\n")[2])
            written += f"{text}\n{below.rstrip()}\n{below} {blanks}"
            at = content
    return written + line[at:]


def _end(pattern: re.Pattern[str], line: str, at: int) -> int:
    matched = pattern.match(line, at)
    return matched.end() if matched else at
