"""The blocks of a Markdown text, walked in one way for every channel that writes them out as lines; pure."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token

from notify.markdown_addresses import keep_addresses
from notify.markdown_tables import keep_all_cells

_MAX_NESTING = 24
"""Levels of lists and quotes, two a list: what is nested within nested is read as often as it is deep."""
_LANGUAGE = re.compile(r"[A-Za-z0-9+#.-]{1,20}")


@dataclass(slots=True)
class BlockWriter(ABC):
    """Where a walk over the blocks is: markers of lists, prefixes of quotes and lists, a heading."""

    bullet: ClassVar[str] = "- "

    prefixes: list[str] = field(default_factory=list)
    marker: str = ""
    lists: int = 0
    heading: bool = False

    def write_all(self, source: str) -> bool:
        """Write a text's blocks, in order; False, and nothing written, where they are nested too deeply."""
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
        """Write what stands in a block: its text, code, a table."""

    @abstractmethod
    def write_empty_line(self) -> None:
        """Write the line of a list's item that has no text."""

    @abstractmethod
    def blank(self) -> None:
        """Ask for an empty line before whatever comes next."""

    def open_quote(self) -> None:
        self.prefixes.append("> ")

    def close_quote(self) -> None:
        self.prefixes.pop()

    def take_indent(self) -> str:
        """Return what stands before the next line; a list's marker stands there once."""
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
    """Return a code block's language, and its info line where that has to be written out."""
    info = fence.info.strip()
    language = info if _LANGUAGE.fullmatch(info) else ""
    return language, "" if language and fence.content.strip() else info


def link_of(token: Token, text: str) -> tuple[str, str]:
    """Return the URL and the title of a link or an image, each empty where the text says it already."""
    url = str(token.attrGet("href") or token.attrGet("src") or "")
    is_said = token.markup == "autolink" or url in (text, f"mailto:{text}")
    return "" if is_said else url, str(token.attrGet("title") or "")
