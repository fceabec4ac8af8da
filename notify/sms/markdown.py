"""Markdown as plain text that reads well on a phone; pure.

Every word and URL of the source stays: what plain text cannot show (emphasis, heading marks, fences) is
dropped, and what the parser would swallow is given as it was written.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MAX_NESTING = 24
"""Levels of lists and quotes, two a list: what is nested within nested is read as often as it is deep."""
_LANGUAGE = re.compile(r"[A-Za-z0-9+#.-]{1,20}")
_BLANK_RUN = re.compile(r"\n{3,}")


def to_plain(markdown: str) -> str:
    """Turn Markdown into plain text, its blocks apart by one empty line."""
    source = markdown.replace("\r\n", "\n").replace("\r", "\n")
    tokens = _parser().parse(source)
    # Below this depth the parser drops text; such a thing is no document, so it goes as it is.
    if any(token.level >= _MAX_NESTING - 2 for token in tokens):
        return source.strip()
    writer = _Writer()
    for token in tokens:
        writer.write(token)
    return _BLANK_RUN.sub("\n\n", "\n".join(writer.lines)).strip("\n").rstrip()


def _parser() -> MarkdownIt:
    # Without "reference" the definitions `[a]: http://b` stay text instead of vanishing.
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING})
    return parser.disable(["reference"]).enable(["table", "strikethrough"])


@dataclass(slots=True)
class _Writer:
    """Lines so far, and where we are: list markers, quotes, the row of a table."""

    lines: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    marker: str = ""
    depth: int = 0
    gap: list[str] | None = None
    cells: list[str] = field(default_factory=list)
    in_table: bool = False

    def write(self, token: Token) -> None:
        """Take one block token."""
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self.depth += 1
            case "bullet_list_close" | "ordered_list_close":
                self.depth -= 1
                if not self.depth:
                    self._blank()
            case "list_item_open":
                self._flush_marker()
                self.marker = f"{token.info}{token.markup} " if token.info else "- "
                self.prefixes.append(" " * len(self.marker))
            case "list_item_close":
                self._flush_marker()
                self.prefixes.pop()
            case "blockquote_open":
                self._flush_marker()
                self.prefixes.append("> ")
            case "blockquote_close":
                self.prefixes.pop()
                self._blank()
            case "paragraph_close":
                if not token.hidden:
                    self._blank()
            case "heading_close":
                self._blank()
            case _:
                self._write_content(token)

    def _write_content(self, token: Token) -> None:
        match token.type:
            case "table_open":
                self.in_table = True
            case "table_close":
                self.in_table = False
                self._blank()
            case "tr_close":
                self._lines(" | ".join(self.cells))
                self.cells.clear()
            case "inline" if self.in_table:
                self.cells.append(_inline(token.children or ()))
            case "inline":
                self._lines(_inline(token.children or ()))
            case "fence" | "code_block":
                info = token.info.strip()
                if info and not (_LANGUAGE.fullmatch(info) and token.content.strip()):
                    self._lines(info)
                self._lines(token.content.rstrip("\n"))
                self._blank()
            case "hr":
                self._lines("---")
                self._blank()
            case "html_block":
                self._lines(token.content.rstrip("\n"))
                self._blank()

    def _lines(self, text: str) -> None:
        if self.gap is not None and self.lines:
            self.lines.append("".join(_common(self.gap, self.prefixes)).rstrip(" "))
        self.gap = None
        for line in text.split("\n"):
            self.lines.append((self._indent() + line).rstrip(" "))

    def _indent(self) -> str:
        if not self.marker:
            return "".join(self.prefixes)
        marker, self.marker = self.marker, ""
        return "".join(self.prefixes[:-1]) + marker

    def _flush_marker(self) -> None:
        if self.marker:
            self._lines("")

    def _blank(self) -> None:
        """Ask for an empty line before whatever comes next."""
        self.gap = list(self.prefixes) if self.gap is None else _common(self.gap, self.prefixes)


def _common(first: Sequence[str], second: Sequence[str]) -> list[str]:
    return [one for one, other in zip(first, second, strict=False) if one == other]


def _inline(tokens: Sequence[Token]) -> str:
    """Write a run of inline tokens: URLs whole, emphasis dropped."""
    written: list[str] = []
    links: list[tuple[Token, int]] = []
    kept_marks: list[bool] = []
    for token in tokens:
        match token.type:
            case "softbreak" | "hardbreak":
                written.append("\n")
            case "link_open":
                links.append((token, len(written)))
            case "link_close":
                opened, start = links.pop()
                written[start:] = [_link(opened, "".join(written[start:]))]
            case "image":
                written.append(_link(token, _inline(token.children or ())))
            case "em_open" | "strong_open" | "s_open":
                # `2*3*4` is arithmetic to a person: marks inside a word stay.
                kept_marks.append("".join(written[-1:])[-1:].isalnum())
                written.append(token.markup if kept_marks[-1] else "")
            case "em_close" | "strong_close" | "s_close":
                written.append(token.markup if kept_marks.pop() else "")
            case _:
                written.append(token.content)
    return "".join(written)


def _link(token: Token, text: str) -> str:
    url = str(token.attrGet("href") or token.attrGet("src") or "")
    title = str(token.attrGet("title") or "")
    words = f'{text} "{title}"' if title else text
    if token.markup == "autolink" or not url or url in (text, f"mailto:{text}"):
        return words
    return f"{words} ({url})" if words else url
