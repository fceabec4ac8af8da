"""Markdown as a text with marks on it, which become Telegram's entities; pure.

Entities rather than HTML or MarkdownV2: nothing has to be escaped, so nothing can fail to parse, and a text cut
anywhere keeps its marks. Every word and URL of the source stays; formatting without a mark is written out.
Source: core.telegram.org/bots/api#messageentity.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile, zip_longest
from typing import ClassVar
from urllib.parse import urlsplit

from markdown_it.token import Token

from notify.markdown_blocks import BlockWriter, language_of, link_of
from notify.telegram.entities import Mark, Rich, by_line, shifted
from notify.telegram.text import is_visible

_WIDEST_TABLE = 60
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]+", re.IGNORECASE)
_INLINE = {"em_open": "italic", "strong_open": "bold", "s_open": "strikethrough"}


def to_rich(markdown: str) -> Rich:
    """Return Markdown as a text with marks, with an empty line between its blocks."""
    source = markdown.replace("\r\n", "\n").replace("\r", "\n")
    writer = _Writer()
    if not writer.write_all(source):
        return Rich(source.strip())
    return Rich("".join(writer.pieces), tuple(writer.marks))


@dataclass(slots=True)
class _Writer(BlockWriter):
    """The output so far; `gap` counts the line ends due before the next line."""

    bullet: ClassVar[str] = "• "

    pieces: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    size: int = 0
    gap: int = 0
    quotes: list[int | None] = field(default_factory=list)
    rows: list[list[str]] | None = None

    def write_content(self, token: Token) -> None:
        match token.type:
            case "table_open":
                self.rows = []
            case "tr_open" if self.rows is not None:
                self.rows.append([])
            case "inline" if self.rows is not None:
                # Within code there are no links.
                self.rows[-1].append(_read_inline(token.children or (), linked=False).text.replace("\n", " "))
            case "table_close":
                self._code(_aligned(self.rows or []), "")
                self.rows = None
            case "inline":
                self._inline(_read_inline(token.children or ()))
            case "fence" | "code_block":
                self._fence(token)
            case "hr":
                self._lines(Rich("———"))
                self.blank()

    def _inline(self, rich: Rich) -> None:
        if self.heading and rich.text:
            rich = Rich(rich.text, (*rich.marks, Mark("bold", 0, len(rich.text))))
        self._lines(rich)

    def _fence(self, token: Token) -> None:
        language, info = language_of(token)
        if info:
            self._lines(Rich(info))
        self._code(token.content.rstrip("\n"), language)

    def _code(self, code: str, language: str) -> None:
        """Write code as a block; inside a list or a quote too, without their indentation."""
        if code.strip():
            self._start_line()
            self._put(Rich(code, (Mark("pre", 0, len(code), language=language),)))
            self.gap = max(self.gap, 1)
        self.blank()

    def _lines(self, rich: Rich) -> None:
        """Write a text line by line, each with its indentation."""
        for line in by_line(rich):
            self._start_line()
            self._put(line)
            self.gap = max(self.gap, 1)

    def _start_line(self) -> None:
        if self.size:
            self._put(Rich("\n" * self.gap))
        self.gap = 0
        self.quotes = [self.size if start is None else start for start in self.quotes]
        self._put(Rich(self.take_indent()))

    def _put(self, rich: Rich) -> None:
        self.marks += shifted(rich.marks, self.size)
        self.pieces.append(rich.text)
        self.size += len(rich.text)

    def write_empty_line(self) -> None:
        self._lines(Rich(""))

    def open_quote(self) -> None:
        # Telegram has no quote within a quote: the inner quote keeps its sign.
        if self.quotes:
            self.prefixes.append("> ")
        self.quotes.append(None)

    def close_quote(self) -> None:
        start = self.quotes.pop()
        if self.quotes:
            self.prefixes.pop()
        elif start is not None and start < self.size:
            self.marks.append(Mark("blockquote", start, self.size))

    def blank(self) -> None:
        self.gap = 2


def _aligned(rows: list[list[str]]) -> str:
    """Return a table in columns, or without them if it is too wide for a phone."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    if sum(widths) + 3 * len(widths) > _WIDEST_TABLE:
        return "\n".join(" | ".join(row).rstrip() for row in rows)
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=False)] for row in rows]
    return "\n".join(" | ".join(row).rstrip() for row in padded)


def _read_inline(tokens: Sequence[Token], *, linked: bool = True) -> Rich:
    """Return a run of inline tokens: URLs whole, emphasis as marks; unless `linked`, every URL is written out."""
    run = _Run(linked)
    for token in tokens:
        match token.type:
            case "softbreak" | "hardbreak":
                run.put("\n")
            case "code_inline":
                run.begin(token, "code")
                run.put(token.content)
                run.end()
            case "link_open":
                run.begin(token)
            case "link_close":
                _end_link(run)
            case "image":
                run.begin(token)
                run.put(_read_inline(token.children or (), linked=False).text)
                _end_link(run)
            case "em_open" | "strong_open" | "s_open":
                # `2*3*4` is arithmetic to a person: marks inside a word stay.
                inside = "".join(run.pieces[-1:])[-1:].isalnum()
                run.put(token.markup if inside else "")
                run.begin(token, "" if inside else _INLINE[token.type])
            case "em_close" | "strong_close" | "s_close":
                inside = not run.open[-1].kind
                run.end()
                run.put(token.markup if inside else "")
            case _:
                run.put(token.content)
    return Rich("".join(run.pieces), tuple(run.marks))


@dataclass(frozen=True, slots=True)
class _Begun:
    """The beginning of a mark or link: its kind ('' to mark nothing), its token, the piece and the place."""

    kind: str
    token: Token
    piece: int
    start: int


@dataclass(slots=True)
class _Run:
    """A run of inline text; `open` holds the unclosed marks."""

    linked: bool
    pieces: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    size: int = 0
    open: list[_Begun] = field(default_factory=list)

    def put(self, text: str) -> None:
        self.pieces.append(text)
        self.size += len(text)

    def begin(self, token: Token, kind: str = "") -> None:
        """Begin a mark of this `kind`; without a kind only its position is noted."""
        self.open.append(_Begun(kind, token, len(self.pieces), self.size))

    def end(self) -> _Begun:
        """End the mark that began last; keep it if it has a kind and text."""
        begun = self.open.pop()
        if begun.kind and begun.start < self.size:
            self.marks.append(Mark(begun.kind, begun.start, self.size))
        return begun


def _end_link(run: _Run) -> None:
    """Link the text since the link began, or write the URL after it if the link would get lost."""
    begun = run.end()
    text = "".join(run.pieces[begun.piece :])
    url, title = link_of(begun.token, text)
    # Of several links or codes on a text, Telegram keeps a single entity; and it finds bare URLs by itself.
    inner = takewhile(lambda mark: mark.end > begun.start, reversed(run.marks))
    shared = any(mark.kind in ("code", "text_link") for mark in inner)
    within = any(outer.token.type == "link_open" for outer in run.open)
    if not url:
        pass
    elif not is_visible(text):
        run.put(url)
    elif run.linked and _is_linkable(url) and not shared and not within:
        run.marks.append(Mark("text_link", begun.start, run.size, url=url))
    else:
        run.put(f" ({url})")
    if title:
        run.put(f' "{title}"')


def _is_linkable(url: str) -> bool:
    """Return whether Telegram is sure to accept the URL: it silently drops any other, and keeps only the text."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    plain = re.fullmatch(r"[!-~]{1,2000}", url) and not re.search(r"[<>\"\\`{}|^]", url)
    return bool(plain and parts.scheme in ("http", "https") and _HOST.fullmatch(host) and port != 0)
