"""The blocks of a Markdown text, walked in the same way for every channel that writes them as lines; pure.

All cells of a table are kept, even those beyond the header, which GFM drops. A bare web address stays letter for
letter, even if it contains marks: CommonMark finds emphasis, escapes and entities there, and a link that lost an
underscore leads nowhere. Its end is found as in GFM: github.github.com/gfm/#autolinks-extension-.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, getLine, table
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token


def keep_all_cells(parser: MarkdownIt) -> None:
    """Make a parser accept tables with rows that are longer than the header."""
    parser.block.ruler.at("table", _whole_table, {"alt": ["paragraph", "reference"]})


def _whole_table(state: StateBlock, first: int, behind: int, silent: bool) -> bool:
    start = len(state.tokens)
    if not table(state, first, behind, silent):
        return False
    rows = [at for at in range(start, len(state.tokens)) if state.tokens[at].type == "tr_open"]
    width = sum(token.type == "th_open" for token in state.tokens[start:])
    for row in reversed(rows[1:]):
        opened = state.tokens[row]
        end = next(at for at in range(row, len(state.tokens)) if state.tokens[at].type == "tr_close")
        line = (opened.map or [first])[0]
        state.tokens[end:end] = _further(_cells(state, line)[width:], opened, line)
    return True


def _cells(state: StateBlock, line: int) -> list[str]:
    written = getLine(state, line).strip()
    cells = escapedSplit(written)
    # As the parser counts them: a pipe at either end of a line divides nothing.
    return cells[not cells[0] : len(cells) - (not cells[-1])]


def _further(cells: list[str], row: Token, line: int) -> list[Token]:
    tokens = []
    for cell in cells:
        level = row.level + 1
        tokens += [
            Token("td_open", "td", 1, level=level, block=True),
            Token(
                "inline", "", 0, level=level + 1, map=[line, line + 1], content=cell.strip(), children=[], block=True
            ),
            Token("td_close", "td", -1, level=level, block=True),
        ]
    return tokens


_SCHEME = re.compile(r"(?:^|[^A-Za-z0-9])https?$", re.IGNORECASE)
_REST = re.compile(r"://[^\s<>\[\]`|]+")
_NEVER_LAST = "?!.,:;*_~'\""


def keep_addresses(parser: MarkdownIt) -> None:
    """Make a parser read no mark in a bare address."""
    parser.inline.ruler.before("escape", "bare_address", _take_address)


def _take_address(state: StateInline, silent: bool) -> bool:
    # The scheme was taken as text: a colon is the first letter at which a rule is asked.
    if not state.src.startswith("://", state.pos) or not _SCHEME.search(state.src, max(0, state.pos - 6), state.pos):
        return False
    match = _REST.match(state.src, state.pos, state.posMax)
    rest = _without_end(match[0]) if match else ""
    if len(rest) <= len("://"):
        return False
    if not silent:
        state.pending += rest
    state.pos += len(rest)
    return True


def _without_end(rest: str) -> str:
    """Return an address without the marks of the sentence around it."""
    end, unopened = len(rest), rest.count(")") - rest.count("(")
    while end and (rest[end - 1] in _NEVER_LAST or (rest[end - 1] == ")" and unopened > 0)):
        unopened -= rest[end - 1] == ")"
        end -= 1
    return rest[:end]


_MAX_NESTING = 24
"""Levels of lists and quotes, two a list: nested blocks are parsed as often as they are deep."""
_LANGUAGE = re.compile(r"[A-Za-z0-9+#.-]{1,20}")


@dataclass(slots=True)
class BlockWriter(ABC):
    """The state of a walk over the blocks: markers of lists, prefixes of quotes and lists, a heading."""

    bullet: ClassVar[str] = "- "

    prefixes: list[str] = field(default_factory=list)
    marker: str = ""
    lists: int = 0
    heading: bool = False

    def write_all(self, source: str) -> bool:
        """Write a text's blocks, in order; return False, and write nothing, if they are nested too deeply."""
        # Without "reference" the definitions `[a]: http://b` stay text instead of vanishing.
        parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING})
        parser.disable(["reference"]).enable(["table", "strikethrough"])
        keep_all_cells(parser)
        keep_addresses(parser)
        tokens = parser.parse(source)
        # Below this depth the parser drops text; such a thing is no document.
        if any(token.level >= _MAX_NESTING - 2 for token in tokens):
            return False
        for token in tokens:
            self._write(token)
        return True

    @abstractmethod
    def write_content(self, token: Token) -> None:
        """Write the content of a block: its text, code, a table."""

    @abstractmethod
    def write_empty_line(self) -> None:
        """Write the line of a list's item that has no text."""

    @abstractmethod
    def blank(self) -> None:
        """Request an empty line before the next output."""

    def open_quote(self) -> None:
        self.prefixes.append("> ")

    def close_quote(self) -> None:
        self.prefixes.pop()

    def take_indent(self) -> str:
        """Return the prefix of the next line; a list's marker occurs in it once."""
        if not self.marker:
            return "".join(self.prefixes)
        marker, self.marker = self.marker, ""
        return "".join(self.prefixes[:-1]) + marker

    def _write(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self.lists += 1
            case "bullet_list_close" | "ordered_list_close":
                self.lists -= 1
                if not self.lists:
                    self.blank()
            case "list_item_open":
                self._flush_marker()
                self.marker = f"{token.info}{token.markup} " if token.info else self.bullet
                self.prefixes.append(" " * len(self.marker))
            case "list_item_close":
                self._flush_marker()
                self.prefixes.pop()
            case "blockquote_open":
                self._flush_marker()
                self.open_quote()
            case "blockquote_close":
                self.close_quote()
                self.blank()
            case "heading_open":
                self.heading = True
            case "heading_close":
                self.heading = False
                self.blank()
            case "paragraph_close":
                if not token.hidden:
                    self.blank()
            case _:
                self.write_content(token)

    def _flush_marker(self) -> None:
        if self.marker:
            self.write_empty_line()


def language_of(fence: Token) -> tuple[str, str]:
    """Return a code block's language, and its info line if that must be written out."""
    info = fence.info.strip()
    language = info if _LANGUAGE.fullmatch(info) else ""
    return language, "" if language and fence.content.strip() else info


def link_of(token: Token, text: str) -> tuple[str, str]:
    """Return the URL and the title of a link or an image, each empty if the text contains it already."""
    url = str(token.attrGet("href") or token.attrGet("src") or "")
    is_said = token.markup == "autolink" or url in (text, f"mailto:{text}")
    return "" if is_said else url, str(token.attrGet("title") or "")
