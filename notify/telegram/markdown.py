"""Markdown as a text with marks on it, which become Telegram's entities; pure.

Entities rather than HTML or MarkdownV2: nothing has to be escaped, so nothing can fail to parse, and a text cut
anywhere keeps its marks. Every word and URL of the source stays; what cannot be marked is written out.
Source: core.telegram.org/bots/api#messageentity.
"""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from notify.telegram.entities import Mark, Rich, by_line, shifted
from notify.telegram.inline_markdown import read_inline

_MAX_NESTING = 24
"""Levels of lists and quotes, two a list: what is nested within nested is read as often as it is deep."""
_LANGUAGE = re.compile(r"[A-Za-z0-9+#.-]{1,20}")
_WIDEST_TABLE = 60


def to_rich(markdown: str) -> Rich:
    """Turn Markdown into a text with marks, its blocks apart by one empty line."""
    source = markdown.replace("\r\n", "\n").replace("\r", "\n")
    tokens = _parser().parse(source)
    # Below this depth the parser drops text; such a thing is no document, so it goes as it is.
    if any(token.level >= _MAX_NESTING - 2 for token in tokens):
        return Rich(source.strip())
    writer = _Writer()
    for token in tokens:
        writer.write(token)
    return Rich("".join(writer.pieces), tuple(writer.marks))


def _parser() -> MarkdownIt:
    # Without "reference" the definitions `[a]: http://b` stay text instead of vanishing.
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING})
    return parser.disable(["reference"]).enable(["table", "strikethrough"])


@dataclass(slots=True)
class _Writer:
    """What is written so far, and where we are: list markers, quotes, the rows of a table."""

    pieces: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    size: int = 0
    gap: int = 0
    prefixes: list[str] = field(default_factory=list)
    marker: str = ""
    lists: int = 0
    quotes: list[int | None] = field(default_factory=list)
    heading: bool = False
    rows: list[list[str]] | None = None

    def write(self, token: Token) -> None:
        """Take one block token."""
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self.lists += 1
            case "bullet_list_close" | "ordered_list_close":
                self.lists -= 1
                if not self.lists:
                    self._blank()
            case "list_item_open":
                self._flush_marker()
                self.marker = f"{token.info}{token.markup} " if token.info else "• "
                self.prefixes.append(" " * len(self.marker))
            case "list_item_close":
                self._flush_marker()
                self.prefixes.pop()
            case "blockquote_open":
                self._flush_marker()
                self._open_quote()
            case "blockquote_close":
                self._close_quote()
            case "heading_open":
                self.heading = True
            case "heading_close":
                self.heading = False
                self._blank()
            case "paragraph_close":
                if not token.hidden:
                    self._blank()
            case _:
                self._write_content(token)

    def _write_content(self, token: Token) -> None:
        match token.type:
            case "table_open":
                self.rows = []
            case "tr_open" if self.rows is not None:
                self.rows.append([])
            case "inline" if self.rows is not None:
                # Within code there are no links.
                self.rows[-1].append(read_inline(token.children or (), linked=False).text.replace("\n", " "))
            case "table_close":
                self._code(_aligned(self.rows or []), "")
                self.rows = None
            case "inline":
                self._inline(read_inline(token.children or ()))
            case "fence" | "code_block":
                self._fence(token)
            case "hr":
                self._lines(Rich("———"))
                self._blank()
            case "html_block":
                self._lines(Rich(token.content.rstrip("\n")))
                self._blank()

    def _inline(self, rich: Rich) -> None:
        if self.heading and rich.text:
            rich = Rich(rich.text, (*rich.marks, Mark("bold", 0, len(rich.text))))
        self._lines(rich)

    def _fence(self, token: Token) -> None:
        info = token.info.strip()
        language = info if _LANGUAGE.fullmatch(info) else ""
        code = token.content.rstrip("\n")
        if info and not (language and code.strip()):
            self._lines(Rich(info))
        self._code(code, language)

    def _code(self, code: str, language: str) -> None:
        """Write code as a block; inside a list or a quote too, without their indentation."""
        if code.strip():
            self._start_line()
            self._put(Rich(code, (Mark("pre", 0, len(code), language=language),)))
            self.gap = max(self.gap, 1)
        self._blank()

    def _lines(self, rich: Rich) -> None:
        """Write a text line by line, each with its indentation."""
        for line in by_line(rich):
            self._start_line()
            self._put(line)
            self.gap = max(self.gap, 1)

    def _start_line(self) -> None:
        indent = "".join(self.prefixes)
        if self.marker:
            indent = "".join(self.prefixes[:-1]) + self.marker
            self.marker = ""
        if self.size:
            self._put(Rich("\n" * self.gap))
        self.gap = 0
        self.quotes = [self.size if start is None else start for start in self.quotes]
        self._put(Rich(indent))

    def _put(self, rich: Rich) -> None:
        self.marks += shifted(rich.marks, self.size)
        self.pieces.append(rich.text)
        self.size += len(rich.text)

    def _flush_marker(self) -> None:
        if self.marker:
            self._lines(Rich(""))

    def _open_quote(self) -> None:
        # Telegram has no quote within a quote: the inner one keeps its sign.
        if self.quotes:
            self.prefixes.append("> ")
        self.quotes.append(None)

    def _close_quote(self) -> None:
        start = self.quotes.pop()
        if self.quotes:
            self.prefixes.pop()
        elif start is not None and start < self.size:
            self.marks.append(Mark("blockquote", start, self.size))
        self._blank()

    def _blank(self) -> None:
        """Ask for an empty line before whatever comes next."""
        self.gap = 2


def _aligned(rows: list[list[str]]) -> str:
    """Write a table in columns, or without them where it is too wide for a phone."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=False)]
    if sum(widths) + 3 * len(widths) > _WIDEST_TABLE:
        return "\n".join(" | ".join(row).rstrip() for row in rows)
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=False)] for row in rows]
    return "\n".join(" | ".join(row).rstrip() for row in padded)
