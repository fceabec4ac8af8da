"""The MarkdownV2 style: https://core.telegram.org/bots/api#markdownv2-style.

Which errors come with which words follows the server source, `parse_markdown_v2`. Offsets in errors are in
bytes of UTF-8, so the parser walks over bytes; past the end it reads zeros.
"""

from dataclasses import dataclass
from typing import Any

from workbench.simulator.telegram.entities import Entity
from workbench.simulator.telegram.errors import MarkupError
from workbench.simulator.telegram.links import checked_link, linked_emoji, linked_moment, linked_user
from workbench.simulator.telegram.text import PlainText

_RESERVED = frozenset(b"_*[]()~`>#+-=|{}.!\n")
_SPACES = frozenset(b" \t\r\n\0\v")
_CODE = ("Code", "Pre", "PreCode")
_TYPES = {
    **{"Bold": "bold", "Italic": "italic", "Underline": "underline", "Strikethrough": "strikethrough"},
    **{"Spoiler": "spoiler", "Code": "code", "Pre": "pre", "PreCode": "pre", "BlockQuote": "blockquote"},
    **{"ExpandableBlockQuote": "expandable_blockquote"},
}
_MARKS = {
    **{"Bold": b"*", "Strikethrough": b"~", "Code": b"`", "Pre": b"```", "PreCode": b"```"},
    **{"TextUrl": b"]", "CustomEmoji": b"]", "Underline": b"__", "Spoiler": b"||"},
}


@dataclass(frozen=True, slots=True)
class _Open:
    """An entity that has begun: its place in the source, in the plain text, and in UTF-16 units."""

    name: str
    source: int
    plain: int
    units: int
    language: str | None = None


def parse_markdown_v2(text: str) -> tuple[str, list[Entity]]:
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        data = text.encode()
        self.size = len(data)
        self.source = data + b"\0\0\0\0"
        self.plain = PlainText()
        self.open: list[_Open] = []
        self.entities: list[Entity] = []
        self.in_quote = False
        self.at_line_start = True

    def parse(self) -> tuple[str, list[Entity]]:
        at = 0
        while at < self.size:
            at = self._step(at)
        self._end_of_text()
        return str(self.plain), self.entities

    def _step(self, at: int) -> int:
        byte = self.source[at]
        if byte == ord("\\") and 0 < self.source[at + 1] <= 126:
            escaped = self.source[at + 1]
            self.plain.add(escaped)
            if escaped != ord("\r"):
                self.at_line_start = escaped == ord("\n")
            return at + 2
        in_code = bool(self.open) and self.open[-1].name in _CODE
        if byte != ord("`") if in_code else byte not in _RESERVED:
            self.plain.add(byte)
            if byte & 0xC0 != 0x80 and byte != ord("\r"):
                self.at_line_start = False
            return at + 1
        return self._close(at) if self._closes(at) else self._begin(at)

    def _closes(self, at: int) -> bool:
        if not self.open:
            return False
        byte, following = self.source[at], self.source[at + 1]
        if self.in_quote and byte == ord("\n") and (at + 1 == self.size or following != ord(">")):
            return True
        name = self.open[-1].name
        if name == "Italic":
            return byte == ord("_") and following != ord("_")
        return name in _MARKS and self.source.startswith(_MARKS[name], at)

    def _begin(self, at: int) -> int:
        if self.source[at] == ord("\n"):
            self.plain.add(ord("\n"))
            self.at_line_start = True
            return at + 1
        if self.source[at] == ord(">") and self.at_line_start:
            if not self.in_quote:
                self.in_quote = True
                self._push("BlockQuote", at)
            return at + 1
        for mark, name in (
            (b"__", "Underline"),
            (b"_", "Italic"),
            (b"*", "Bold"),
            (b"~", "Strikethrough"),
            (b"||", "Spoiler"),
            (b"![", "CustomEmoji"),
            (b"[", "TextUrl"),
        ):
            if self.source.startswith(mark, at):
                self._push(name, at)
                return at + len(mark)
        if self.source.startswith(b"```", at):
            language, following = code_language(self.source, at + 3, self.size)
            self._push("PreCode" if language else "Pre", at, language)
            return following
        if self.source[at] == ord("`"):
            self._push("Code", at)
            return at + 1
        letter = chr(self.source[at])
        raise MarkupError(f"Character '{letter}' is reserved and must be escaped with the preceding '\\'")

    def _push(self, name: str, at: int, language: str | None = None) -> None:
        self.open.append(_Open(name, at, len(self.plain.data), self.plain.units, language))

    def _close(self, at: int) -> int:
        name = self.open[-1].name
        if self.source[at] == ord("\n"):
            return self._close_quote(at)
        begun = self.open.pop()
        if name == "TextUrl":
            return self._close_link(begun, at)
        if name == "CustomEmoji":
            return self._close_emoji(begun, at)
        self._mark(begun, _TYPES[name], language=begun.language)
        return at + len(_MARKS.get(name, b"_"))

    def _close_quote(self, at: int) -> int:
        name = "BlockQuote"
        if self.open[-1].name != "BlockQuote":
            # An empty spoiler as the last thing in the line makes the quotation expandable.
            begun = self.open[-1].source
            last = begun == at - 2 or (begun == at - 3 and self.plain.data.endswith(b"\r"))
            if self.open[-1].name != "Spoiler" or not last:
                raise self._unended()
            self.open.pop()
            if self.open[-1].name != "BlockQuote":
                raise self._unended()
            name = "ExpandableBlockQuote"
        self.in_quote = False
        self.plain.add(ord("\n"))
        self.at_line_start = True
        self._mark(self.open.pop(), _TYPES[name])
        return at + 1

    def _close_link(self, begun: _Open, at: int) -> int:
        if self.source[at + 1] == ord("("):
            url, following = self._url(at + 2)
        else:
            url, following = self.plain.since(begun.plain), at + 1
        if user_id := linked_user(url):
            self._mark(begun, "text_mention", user_id=user_id)
        elif link := checked_link(url):
            self._mark(begun, "text_link", url=link)
        return following

    def _close_emoji(self, begun: _Open, at: int) -> int:
        if self.source[at + 1] != ord("("):
            raise MarkupError("The entity must contain a tg://emoji or tg://time URL")
        url, following = self._url(at + 2)
        if emoji := linked_emoji(url):
            self._mark(begun, "custom_emoji", custom_emoji_id=emoji)
        elif moment := linked_moment(url):
            self._mark(begun, "date_time", unix_time=moment[0], date_time_format=moment[1])
        else:
            raise MarkupError("Invalid tg://emoji or tg://time URL specified")
        return following

    def _url(self, start: int) -> tuple[str, int]:
        url, at = bytearray(), start
        while at < self.size and self.source[at] != ord(")"):
            if self.source[at] == ord("\\") and 0 < self.source[at + 1] <= 126:
                at += 1
            url.append(self.source[at])
            at += 1
        if self.source[at] != ord(")"):
            raise MarkupError(f"Can't find end of a URL at byte offset {start}")
        return url.decode(), at + 1

    def _mark(self, begun: _Open, kind: str, **values: Any) -> None:
        """Add an entity, unless it is empty. `values` are further fields of `Entity`."""
        if length := self.plain.units - begun.units:
            self.entities.append(Entity(kind, begun.units, length, **values))

    def _end_of_text(self) -> None:
        if self.in_quote:
            kind = "blockquote"
            if self.open[-1].name == "Spoiler" and self.open[-1].source == self.size - 2:
                self.open.pop()
                kind = "expandable_blockquote"
            if self.open[-1].name == "BlockQuote":
                self._mark(self.open.pop(), kind)
        if self.open:
            raise self._unended()

    def _unended(self) -> MarkupError:
        begun = self.open[-1]
        return MarkupError(f"Can't find end of {begun.name} entity at byte offset {begun.source}")


def code_language(source: bytes, start: int, size: int) -> tuple[str, int]:
    """Return the language after the three backticks, if any, and the beginning of the code.

    A single line break before the code is not part of it.
    """
    end = start
    while source[end] not in _SPACES and source[end] != ord("`"):
        end += 1
    language = ""
    if end != start and end < size and source[end] != ord("`"):
        language, start = source[start:end].decode(), end
    if source[start] in b"\r\n":
        pair = source[start + 1] in b"\r\n" and source[start + 1] != source[start]
        start += 2 if pair else 1
    return language, start
