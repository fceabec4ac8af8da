"""Message entities: the markup of a text, in offsets of UTF-16 units.

https://core.telegram.org/bots/api#messageentity
"""

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from workbench.simulator.journal import Json
from workbench.simulator.telegram.errors import bad_request
from workbench.simulator.telegram.text import utf16_length

SPLITTABLE = ("bold", "italic", "underline", "strikethrough", "spoiler")
QUOTES = ("blockquote", "expandable_blockquote")
_OPAQUE = ("code", "pre")
_PRIORITY = {
    **{"blockquote": 0, "expandable_blockquote": 0, "pre": 10, "code": 20, "text_link": 49, "text_mention": 49},
    **{"bold": 90, "italic": 91, "underline": 92, "strikethrough": 93, "spoiler": 94, "custom_emoji": 99},
}
_FARTHEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Entity:
    """Mark `length` units from `offset` on; the other fields belong to some types only."""

    type: str
    offset: int
    length: int
    url: str = ""
    language: str | None = None
    user_id: int = 0
    custom_emoji_id: str | None = None
    unix_time: int = 0
    date_time_format: str = ""

    @property
    def end(self) -> int:
        """Return the offset just after it."""
        return self.offset + self.length

    def to_json(self) -> dict[str, Json]:
        """Return it as the Bot API shows it."""
        shown: dict[str, Json] = {"type": self.type, "offset": self.offset, "length": self.length}
        if self.user_id:
            shown["user"] = {"id": self.user_id, "is_bot": False, "first_name": "Someone"}
        for name in ("url", "language", "custom_emoji_id", "unix_time", "date_time_format"):
            if value := getattr(self, name):
                shown[name] = value
        return shown


@dataclass(frozen=True, slots=True)
class FormattedText:
    """A plain text with its entities, sorted, none of them crossing another."""

    text: str
    entities: tuple[Entity, ...] = ()


def settle(text: str, entities: list[Entity]) -> FormattedText:
    """Normalize a text as Telegram does with any sent text: clean, settle overlaps, trim, find links.

    Raises `Refusal` for offsets outside the text or inside a surrogate pair (server source, `fix_formatted_text`).
    """
    for entity in entities:
        if not 0 <= entity.offset <= _FARTHEST:
            raise bad_request(f"Receive an entity with incorrect offset {entity.offset}")
        if not 0 <= entity.length <= _FARTHEST:
            raise bad_request(f"Receive an entity with incorrect length {entity.length}")
    settled = _without_crossings([entity for entity in entities if entity.length])
    text, settled = _cleaned(text, settled)
    text, settled = _trimmed(text, [entity for entity in settled if entity.length])
    settled += _found(text, settled)
    return FormattedText(text, tuple(_sorted(settled)))


def _sorted(entities: list[Entity]) -> list[Entity]:
    return sorted(entities, key=lambda e: (e.offset, -e.length, _PRIORITY.get(e.type, 50)))


def _crosses(entity: Entity, other: Entity) -> bool:
    first, second = sorted((entity, other), key=lambda e: (e.offset, -e.length))
    return first.offset < second.offset < first.end < second.end


def _without_crossings(entities: list[Entity]) -> list[Entity]:
    quotes = _apart([e for e in entities if e.type in QUOTES])
    solid = _apart([e for e in entities if e.type not in SPLITTABLE and e.type not in QUOTES])
    kept = quotes + [e for e in solid if not any(_crosses(e, q) or _inside(q, e) for q in quotes)]
    for kind in SPLITTABLE:
        for piece in _joined([e for e in entities if e.type == kind]):
            kept += _cut(piece, kept)
    return _sorted(kept)


def _inside(inner: Entity, outer: Entity) -> bool:
    return outer.offset <= inner.offset and inner.end <= outer.end and inner.length < outer.length


def _apart(entities: list[Entity]) -> list[Entity]:
    kept: list[Entity] = []
    for entity in _sorted(entities):
        if not kept or entity.offset >= kept[-1].end:
            kept.append(entity)
    return kept


def _joined(entities: list[Entity]) -> list[Entity]:
    joined: list[Entity] = []
    for entity in _sorted(entities):
        if joined and entity.offset <= joined[-1].end:
            end = max(joined[-1].end, entity.end)
            joined[-1] = replace(joined[-1], length=end - joined[-1].offset)
        else:
            joined.append(entity)
    return joined


def _cut(entity: Entity, others: list[Entity]) -> list[Entity]:
    """Cut if another entity begins or ends inside it and would cross; nothing is marked up inside code."""
    borders = {entity.offset, entity.end}
    for other in others:
        if _crosses(entity, other) or other.type in _OPAQUE:
            borders |= {border for border in (other.offset, other.end) if entity.offset < border < entity.end}
    edges = sorted(borders)
    pieces = [replace(entity, offset=a, length=b - a) for a, b in pairwise(edges)]
    if len(pieces) > 1:  # a piece may cross an entity inside the whole
        return [part for piece in pieces for part in _cut(piece, others)]
    code = [other for other in others if other.type in _OPAQUE]
    return [p for p in pieces if not any(c.offset <= p.offset and p.end <= c.end for c in code)]


# Control characters become spaces, carriage returns go, as do the line and paragraph separators, the
# direction overrides and three vertical lines (server source, `clean_input_string`).
_DROPPED = {"\r", *map(chr, range(0x2028, 0x202F)), "\u0333", "\u033f", "\u030a"}


def _cleaned(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    kept: list[str] = []
    places: dict[int, int] = {}
    before = after = 0
    for letter in text:
        places[before] = after
        units = 1 + (letter > "\uffff")
        before += units
        if letter not in _DROPPED:
            kept.append(" " if letter < " " and letter != "\n" else letter)
            after += units
    places[before] = after
    moved = []
    for entity in entities:
        _check_bounds(entity, places, before, text)
        start, end = places[entity.offset], places[entity.end]
        moved.append(replace(entity, offset=start, length=end - start))
    return "".join(kept), moved


def _check_bounds(entity: Entity, places: dict[int, int], size: int, text: str) -> None:
    if entity.offset >= size:
        raise bad_request(f"Entity begins after the end of the text at UTF-16 offset {entity.offset}")
    if entity.end > size:
        raise bad_request(
            f"Entity beginning at UTF-16 offset {entity.offset} ends after the end of the text at UTF-16 "
            f"offset {entity.end}"
        )
    if entity.offset not in places:
        where = _byte_offset(text, entity.offset)
        raise bad_request(f"Entity begins in a middle of a UTF-16 symbol at byte offset {where}")
    if entity.end not in places:
        raise bad_request(
            f"Entity beginning at UTF-16 offset {entity.offset} ends in a middle of a UTF-16 symbol at byte "
            f"offset {_byte_offset(text, entity.end)}"
        )


def _byte_offset(text: str, units: int) -> int:
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore").encode())


def _trimmed(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """Strip spaces at the end everywhere, at the start only before the first entity."""
    text = text.rstrip(" \n")
    size = utf16_length(text)
    entities = [replace(e, length=min(e.end, size) - e.offset) for e in entities if e.offset < size]
    leading = len(text) - len(text.lstrip(" \n"))
    leading = min([leading, *(entity.offset for entity in entities)])
    return text[leading:], [replace(e, offset=e.offset - leading) for e in entities]


_FINDERS = (
    (
        "url",
        re.compile(
            r"https?://[^\s<>\"]+[^\s<>\".,:;!?)\]]|(?<![\w@.+-])(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev)\b", re.I
        ),
    ),
    ("email", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")),
    ("mention", re.compile(r"(?<![\w@/])@[A-Za-z]\w{3,31}\b")),
    ("hashtag", re.compile(r"(?<![\w#])#\w*[^\W\d_]\w*")),
    ("bot_command", re.compile(r"(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z]\w{2,31})?(?![\w/<>@])")),
)


def _found(text: str, entities: list[Entity]) -> list[Entity]:
    """Find the entities that Telegram adds by itself; plainer than its own finder, which knows every top domain."""
    taken = [(e.offset, e.end) for e in entities if e.type not in SPLITTABLE and e.type not in QUOTES]
    borders = [edge for e in entities for edge in (e.offset, e.end)]
    detected: list[Entity] = []
    for kind, pattern in _FINDERS:
        for match in pattern.finditer(text):
            start = utf16_length(text[: match.start()])
            end = start + utf16_length(match.group())
            if any(a < end and start < b for a, b in taken) or any(start < edge < end for edge in borders):
                continue
            taken.append((start, end))
            detected.append(Entity(kind, start, end - start))
    return detected
