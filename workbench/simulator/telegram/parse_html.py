"""The HTML style: https://core.telegram.org/bots/api#html-style.

Errors and their words follow the server source, `parse_html`: a handful of tags, four named characters, and
offsets in bytes.
"""

from dataclasses import dataclass, field

from workbench.simulator.telegram.entities import Entity
from workbench.simulator.telegram.errors import MarkupError
from workbench.simulator.telegram.links import checked_link, linked_user, valid_date_format
from workbench.simulator.telegram.text import PlainText

_SPACES = frozenset(b" \t\r\n\0\v")
_SIMPLE = {
    **{"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline"},
    **{"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough"},
    **{"tg-spoiler": "spoiler", "span": "spoiler"},
}
_TAGS = frozenset((*_SIMPLE, "a", "pre", "code", "blockquote", "tg-emoji", "tg-time"))
_NAMED = {b"lt": ord("<"), b"gt": ord(">"), b"amp": ord("&"), b"quot": ord('"')}


@dataclass(slots=True)
class _Open:
    tag: str
    plain: int
    units: int
    attributes: dict[str, str] = field(default_factory=dict)


def parse_html(text: str) -> tuple[str, list[Entity]]:
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        data = text.encode()
        self.size = len(data)
        self.source = data + b"\0\0\0\0"
        self.plain = PlainText()
        self.open: list[_Open] = []
        self.entities: list[Entity] = []

    def parse(self) -> tuple[str, list[Entity]]:
        at = 0
        while at < self.size:
            byte = self.source[at]
            code, following = _character(self.source, at) if byte == ord("&") else (0, at)
            if code:
                self.plain.add_character(code)
                at = following
            elif byte != ord("<"):
                self.plain.add(byte)
                at += 1
            elif self.source[at + 1] == ord("/"):
                at = self._end_tag(at)
            else:
                at = self._start_tag(at)
        if self.open:
            raise MarkupError(f'Can\'t find end tag corresponding to start tag "{self.open[-1].tag}"')
        return str(self.plain), self.entities

    def _start_tag(self, begin: int) -> int:
        at = self._until(begin + 1, b">")
        if self.source[at] == 0:
            raise MarkupError(f"Unclosed start tag at byte offset {begin}")
        tag = self._lower(begin + 1, at)
        if tag not in _TAGS:
            raise MarkupError(f'Unsupported start tag "{tag}" at byte offset {begin}')
        begun = _Open(tag, len(self.plain.data), self.plain.units)
        while self.source[at := self._skip_spaces(at)] != ord(">"):
            at = self._attribute(begun, begin, at)
        if tag == "span" and begun.attributes.get("class") != "tg-spoiler":
            raise MarkupError(f'Tag "span" must have class "tg-spoiler" at byte offset {begin}')
        self.open.append(begun)
        return at + 1

    def _attribute(self, begun: _Open, begin: int, at: int) -> int:
        unclosed = MarkupError(f'Unclosed start tag "{begun.tag}" at byte offset {begin}')
        end = self._until(at, b"=>/\"'")
        if end == at:
            raise MarkupError(f'Empty attribute name in the tag "{begun.tag}" at byte offset {begin}')
        name = self.source[at:end].decode()
        at = self._skip_spaces(end)
        if self.source[at] != ord("="):
            if self.source[at] == 0:
                raise unclosed
            begun.attributes.setdefault(name, "")
            return at
        at = self._skip_spaces(at + 1)
        if self.source[at] == 0:
            raise unclosed
        value, at = self._quoted(at) if self.source[at] in b"\"'" else self._token(at)
        if self.source[at] == 0:
            raise MarkupError(f"Unclosed start tag at byte offset {begin}")
        begun.attributes[name] = value
        return at

    def _token(self, start: int) -> tuple[str, int]:
        at = start
        while chr(self.source[at]).isascii() and (chr(self.source[at]).isalnum() or self.source[at] in b".-"):
            at += 1
        if self.source[at] not in _SPACES and self.source[at] != ord(">"):
            raise MarkupError(f"Unexpected end of name token at byte offset {start}")
        return self._lower(start, at), at

    def _quoted(self, at: int) -> tuple[str, int]:
        quote, value = self.source[at], bytearray()
        at += 1
        while self.source[at] not in (quote, 0):
            code, following = _character(self.source, at) if self.source[at] == ord("&") else (0, at)
            if code:
                value += chr(code).encode()
                at = following
            else:
                value.append(self.source[at])
                at += 1
        return value.decode(), at + (self.source[at] == quote)

    def _end_tag(self, begin: int) -> int:
        if not self.open:
            raise MarkupError(f"Unexpected end tag at byte offset {begin}")
        end = self._until(begin + 2, b">")
        tag, at = self._lower(begin + 2, end), self._skip_spaces(end)
        if self.source[at] != ord(">"):
            raise MarkupError(f"Unclosed end tag at byte offset {begin}")
        begun = self.open[-1]
        if tag and tag != begun.tag:
            raise MarkupError(f'Unmatched end tag at byte offset {begin}, expected "</{begun.tag}>", found "</{tag}>"')
        if self.plain.units > begun.units:
            self._mark(begun, self.plain.units - begun.units)
        self.open.pop()
        return at + 1

    def _mark(self, begun: _Open, length: int) -> None:
        tag, at, given = begun.tag, begun.units, begun.attributes
        match tag:
            case "a":
                self._mark_link(begun, length)
            case "pre" | "code":
                self._mark_code(begun, length)
            case "blockquote":
                kind = "expandable_blockquote" if "expandable" in given else "blockquote"
                self.entities.append(Entity(kind, at, length))
            case "tg-emoji":
                emoji = given.get("emoji-id", "")
                if not emoji.isdecimal() or not int(emoji):
                    raise MarkupError("Invalid custom emoji identifier specified")
                self.entities.append(Entity("custom_emoji", at, length, custom_emoji_id=emoji))
            case "tg-time":
                self._mark_moment(begun, length)
            case _:
                self.entities.append(Entity(_SIMPLE[tag], at, length))

    def _mark_link(self, begun: _Open, length: int) -> None:
        url = begun.attributes.get("href", "") or self.plain.since(begun.plain)
        if user_id := linked_user(url):
            self.entities.append(Entity("text_mention", begun.units, length, user_id=user_id))
        elif link := checked_link(url):
            self.entities.append(Entity("text_link", begun.units, length, url=link))

    def _mark_code(self, begun: _Open, length: int) -> None:
        """Merge <pre><code class="language-…"> into a single `pre` with a language, in either nesting."""
        language = begun.attributes.get("class", "").removeprefix("language-") if begun.tag == "code" else ""
        if not begun.attributes.get("class", "").startswith("language-"):
            language = ""
        last = self.entities[-1] if self.entities else None
        wanted = ("pre", "code") if begun.tag == "code" else ("code", "pre")
        if last and (last.type, last.offset, last.length) == (wanted[0], begun.units, length):
            both = language or last.language
            if both:
                self.entities[-1] = Entity("pre", begun.units, length, language=both)
                return
        self.entities.append(Entity(begun.tag, begun.units, length, language=language))

    def _mark_moment(self, begun: _Open, length: int) -> None:
        unix, form = begun.attributes.get("unix", ""), begun.attributes.get("format", "")
        if not valid_date_format(form):
            raise MarkupError("Invalid date-time format specified")
        if unix.isdecimal() and int(unix):
            moment = Entity("date_time", begun.units, length, unix_time=int(unix), date_time_format=form)
            self.entities.append(moment)

    def _until(self, at: int, stops: bytes) -> int:
        while self.source[at] not in _SPACES and self.source[at] not in stops:
            at += 1
        return at

    def _skip_spaces(self, at: int) -> int:
        while self.source[at] and self.source[at] in _SPACES:
            at += 1
        return at

    def _lower(self, start: int, end: int) -> str:
        return self.source[start:end].decode().lower()


def _character(source: bytes, at: int) -> tuple[int, int]:
    """Read a character reference at `&`: its number and the offset after it, or 0 if it is only text."""
    end = at + 1
    if source[end] == ord("#"):
        base = 16 if source[end + 1] == ord("x") else 10
        digits = b"0123456789abcdefABCDEF" if base == 16 else b"0123456789"
        start = end = end + (2 if base == 16 else 1)
        while source[end] in digits:
            end += 1
        code = int(source[start:end] or b"0", base)
        if not 0 < code < 0x10FFFF or end - at >= 10 or 0xD800 <= code <= 0xDFFF:
            return 0, at
    else:
        while chr(source[end]).isascii() and chr(source[end]).isalpha():
            end += 1
        code = _NAMED.get(source[at + 1 : end], 0)
    return code, end + (source[end] == ord(";"))
