"""Markdown as plain text that reads well on a phone or in a terminal; pure.

Every word and URL of the source stays: marks that plain text cannot show (emphasis, headings, fences) are dropped, and
text that the parser would swallow is kept as written.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from notify.markdown_blocks import BlockWriter, language_of, link_of

_BLANK_RUN = re.compile(r"\n{3,}")
_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85]")
# Half a surrogate pair cannot be encoded. Besides invisible characters: marks that reverse the order of letters,
# which disguise a text.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    """Return a text without characters that a device obeys instead of showing them; lines end with \\n."""
    return _CONTROL.sub("", _LINE_ENDS.sub("\n", text))


def to_plain(markdown: str) -> str:
    """Return Markdown as plain text, with an empty line between its blocks."""
    source = markdown.replace("\r\n", "\n").replace("\r", "\n")
    writer = _Writer()
    if not writer.write_all(source):
        return source.strip()
    return _BLANK_RUN.sub("\n\n", "\n".join(writer.lines)).strip("\n").rstrip()


@dataclass(slots=True)
class _Writer(BlockWriter):
    """The lines so far; `gap` has the prefixes of an empty line that is due before the next line."""

    lines: list[str] = field(default_factory=list)
    gap: list[str] | None = None
    cells: list[str] = field(default_factory=list)
    in_table: bool = False

    def write_content(self, token: Token) -> None:
        match token.type:
            case "table_open":
                self.in_table = True
            case "table_close":
                self.in_table = False
                self.blank()
            case "tr_close":
                self._lines(" | ".join(self.cells))
                self.cells.clear()
            case "inline" if self.in_table:
                self.cells.append(_inline(token.children or ()))
            case "inline":
                self._lines(_inline(token.children or ()))
            case "fence" | "code_block":
                _, info = language_of(token)
                if info:
                    self._lines(info)
                self._lines(token.content.rstrip("\n"))
                self.blank()
            case "hr":
                self._lines("---")
                self.blank()

    def _lines(self, text: str) -> None:
        if self.gap is not None and self.lines:
            self.lines.append("".join(_common(self.gap, self.prefixes)).rstrip(" "))
        self.gap = None
        for line in text.split("\n"):
            self.lines.append((self.take_indent() + line).rstrip(" "))

    def write_empty_line(self) -> None:
        self._lines("")

    def blank(self) -> None:
        self.gap = list(self.prefixes) if self.gap is None else _common(self.gap, self.prefixes)


def _common(first: Sequence[str], second: Sequence[str]) -> list[str]:
    return [indent for indent, other in zip(first, second, strict=False) if indent == other]


def _inline(tokens: Sequence[Token]) -> str:
    """Return a run of inline tokens as text: URLs whole, emphasis dropped."""
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
    url, title = link_of(token, text)
    words = f'{text} "{title}"' if title else text
    if not url:
        return words
    return f"{words} ({url})" if words else url
