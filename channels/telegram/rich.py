"""The words and files of a rich message; pure.

Source: core.telegram.org/bots/api#richmessage. It is read by its fields and not by the kinds of its blocks, so that a
block of the future gives its words as well.
"""

from collections.abc import Iterator

from channels.telegram.text import moment_of, with_address
from core.json_types import Json, JsonObject, objects_in

_DEEPEST = 40
_BEHIND = ("url", "email_address", "phone_number", "bank_card_number")
_LEADING = ("summary", "text", "expression")
_FILES = ("animation", "audio", "photo", "video", "voice_note")


def rich_words(rich: Json) -> str:
    """Return the words of a rich message, a block a line, a table's cells between bars."""
    return "\n".join(_blocks(rich.get("blocks"), 0)) if isinstance(rich, dict) else ""


def rich_files(rich: Json, depth: int = 0) -> Iterator[JsonObject]:
    """Yield the blocks that are files, named as the fields of a message are."""
    if not isinstance(rich, dict) or depth > _DEEPEST:
        return
    for block in objects_in(rich.get("blocks")):
        yield from ({name.removesuffix("_note"): block[name]} for name in _FILES if name in block)
        yield from rich_files(block, depth + 1)
    for item in objects_in(rich.get("items")):
        yield from rich_files(item, depth + 1)


def _blocks(blocks: Json, depth: int) -> list[str]:
    if depth > _DEEPEST:
        return []
    return [line for block in objects_in(blocks) for line in _block(block, depth)]


def _block(block: JsonObject, depth: int) -> list[str]:
    lines = [words for name in _LEADING if (words := _text(block.get(name), depth))]
    for item in objects_in(block.get("items")):
        lines += _item(item, depth)
    if isinstance(cells := block.get("cells"), list):
        lines += [" | ".join(_text(cell.get("text"), depth) for cell in objects_in(row)) for row in cells]
    inner = _blocks(block.get("blocks"), depth + 1)
    lines += [f"> {line}" for line in inner] if block.get("type") == "blockquote" else inner
    if isinstance(place := block.get("location"), dict):
        lines.append(f"📍 {place.get('latitude')}, {place.get('longitude')}")
    caption = block.get("caption")
    below = caption if isinstance(caption, dict) and "type" not in caption else {"text": caption}
    lines += [words for value in (below.get("text"), below.get("credit")) if (words := _text(value, depth))]
    return [*lines, *([f"— {credit}"] if (credit := _text(block.get("credit"), depth)) else [])]


def _item(item: JsonObject, depth: int) -> list[str]:
    label = item.get("label")
    mark = "[x]" if item.get("is_checked") is True else "[ ]" if item.get("has_checkbox") is True else ""
    first, *rest = _blocks(item.get("blocks"), depth + 1) or [""]
    begins = (label if isinstance(label, str) else "-", mark, first)
    return [" ".join(part for part in begins if part), *(f"  {line}" for line in rest)]


def _text(text: Json, depth: int) -> str:
    """Return the words of a RichText: a string, a list of such, or an object with more of it inside."""
    if isinstance(text, str):
        return text
    if depth > _DEEPEST:
        return ""
    if isinstance(text, list):
        return "".join(_text(part, depth + 1) for part in text)
    if not isinstance(text, dict):
        return ""
    words = "".join(_text(text.get(name), depth + 1) for name in ("text", "alternative_text", "expression"))
    behind = next((value for name in _BEHIND if isinstance(value := text.get(name), str)), "")
    return with_address(words, behind or moment_of(text.get("unix_time")))
