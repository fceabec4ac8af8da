"""The words of a Bot API text with their targets: the addresses of links, the moments of dates; pure.

Source: core.telegram.org/bots/api#messageentity. Offsets count UTF-16 code units. An entity that does not fit its text
changes nothing.
"""

from datetime import UTC, datetime

from core.json_types import Json, JsonObject, objects_in

_UNIT = 2
_LOW_SURROGATES = range(0xDC00, 0xE000)


def linked_text(text: str, entities: Json) -> str:
    """Return a text in which each linked word is followed by its address, and each date by its moment."""
    if not any(map(_behind, objects_in(entities))):
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    found: list[tuple[int, str]] = []
    for entity in objects_in(entities):
        begin, length = entity.get("offset"), entity.get("length")
        if not isinstance(begin, int) or not isinstance(length, int) or begin < 0 or length < 1:
            continue
        end = begin + length
        if end * _UNIT > len(units) or _splits(units, begin) or _splits(units, end):
            continue
        words = units[begin * _UNIT : end * _UNIT].decode("utf-16-le", "surrogatepass")
        if shown := with_address(words, _behind(entity)).removeprefix(words):
            found.append((end, shown))
    for end, shown in sorted(found, reverse=True):
        at = end * _UNIT
        units = units[:at] + shown.encode("utf-16-le", "surrogatepass") + units[at:]
    return units.decode("utf-16-le", "surrogatepass")


def with_address(words: str, behind: str) -> str:
    """Return words followed by their target, unless they name it themselves."""
    plain = behind.partition("://")[2] or behind.removeprefix("mailto:").removeprefix("tel:")
    if not behind or words.strip().rstrip("/") in (behind.rstrip("/"), plain.rstrip("/")):
        return words
    return f"{words} ({behind})" if words.strip() else behind


def moment_of(seconds: Json) -> str:
    """Return a moment in words, empty for none."""
    if isinstance(seconds, bool) or not isinstance(seconds, int):
        return ""
    try:
        return f"{datetime.fromtimestamp(seconds, tz=UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):  # later than any calendar
        return ""


def _behind(entity: JsonObject) -> str:
    match entity.get("type"):
        case "text_link":
            url = entity.get("url")
            return url if isinstance(url, str) else ""
        case "date_time":
            return moment_of(entity.get("unix_time"))
    return ""


def _splits(units: bytes, at: int) -> bool:
    """Return whether an offset falls between the two halves of a character."""
    return int.from_bytes(units[at * _UNIT : (at + 1) * _UNIT], "little") in _LOW_SURROGATES
