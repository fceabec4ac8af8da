"""The words in Block Kit's blocks, so that content outside the text is not lost; pure.

Source: docs.slack.dev, reference/block-kit/blocks. Rich text and tables are read as they are built; any other block,
even of the future, by the fields that hold words.
"""

from channels.slack.text import typed_text, unescape
from core.json_types import Json, JsonObject, objects_in

_DEEPEST = 40
_SAID = ("title", "subtitle", "text", "body", "description", "alt_text", "label", "fallback", "value")
_TABLES = ("table", "data_table")
_NO_WORDS = frozenset({"type", "style", "emoji", "verbatim", "unicode", "name", "range", "timestamp", "format"})


def block_words(blocks: Json) -> str:
    """Return the words of blocks, each block on lines of its own."""
    return "\n".join(line for block in objects_in(blocks) for line in _block(block) if line)


def words_beyond(said: str, blocks: Json) -> str:
    """Return the words of blocks that a text lacks: Slack also puts typed rich text into the text."""
    more = [block_words([block]) for block in objects_in(blocks) if block.get("type") != "rich_text"]
    told = _plain(said)
    return "\n\n".join(words for words in more if words and _plain(words) not in told)


def unread_in(blocks: Json) -> str:
    """Return the kind of the first block without readable words; empty if each has words, or only spaces."""
    for block in objects_in(blocks):
        kind = block.get("type")
        inline = list(_inline(block, 0)) if kind == "rich_text" else []
        typed = bool(inline) and all(item.get("type") == "text" for item in inline)
        if not (typed or block_words([block]).strip()) and (inline or kind != "rich_text"):
            return str(kind)
    return ""


def _block(block: JsonObject) -> list[str]:
    kind = block.get("type")
    if kind == "rich_text":
        return [line for element in objects_in(block.get("elements")) for line in _rich(element, 0)]
    if kind in _TABLES and isinstance(rows := block.get("rows"), list):
        caption = block.get("caption")
        named = caption if isinstance(caption, str) else _any(caption, 0)
        return [named, *(" | ".join(_cell(cell) for cell in objects_in(row)) for row in rows)]
    return [_any(block, 0)]


def _rich(element: JsonObject, depth: int) -> list[str]:
    """Read an element of rich text: a section, a list, a quotation or code."""
    inner = element.get("elements")
    if depth > _DEEPEST:
        return []
    if element.get("type") == "rich_text_list":
        indent = element.get("indent")
        begins = "  " * indent if isinstance(indent, int) and 0 < indent < _DEEPEST else ""
        offset = element.get("offset")
        first = offset + 1 if isinstance(offset, int) else 1
        ordered = element.get("style") == "ordered"
        return [
            f"{begins}{f'{number}.' if ordered else '-'} {' '.join(_rich(item, depth + 1))}"
            for number, item in enumerate(objects_in(inner), start=first)
        ]
    words = (
        "".join(_said(item, depth) for item in objects_in(inner)) if isinstance(inner, list) else _any(element, depth)
    )
    mark = "> " if element.get("type") == "rich_text_quote" else ""
    return [f"{mark}{line}" for line in words.splitlines()]


def _said(item: JsonObject, depth: int) -> str:
    """Read a piece of a line of rich text. Its text is not escaped."""
    text = item.get("text") if isinstance(item.get("text"), str) else ""
    match item.get("type"):
        case "text":
            return str(text)
        case "link":
            url = str(item.get("url") or "")
            return typed_text(f"<{url}|{text}>" if text else f"<{url}>") if url and ">" not in f"{url}{text}" else url
        case "user" | "usergroup":
            return f"@{item.get('user_id') or item.get('usergroup_id') or ''}"
        case "channel":
            return f"#{item.get('channel_id') or ''}"
        case "broadcast":
            return f"@{item.get('range') or ''}"
        case "emoji":
            return _emoji(item)
        case "date":
            return str(item.get("fallback") or item.get("timestamp") or "")
    return _any(item, depth)


def _emoji(item: JsonObject) -> str:
    try:
        return "".join(chr(int(code, 16)) for code in str(item["unicode"]).split("-"))
    except (KeyError, ValueError, OverflowError):
        return f":{item.get('name') or ''}:"


def _cell(cell: JsonObject) -> str:
    return " ".join(" ".join(_block(cell)).split())


def _any(value: Json, depth: int) -> str:
    """Return the words of anything: those of its fields that hold words, and of all that stands inside."""
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join(words for item in value if (words := _any(item, depth + 1)))
    if not isinstance(value, dict):
        return ""
    if value.get("type") == "rich_text":
        return "\n".join(_block(value))
    lines = []
    for name in sorted(value, key=lambda name: _SAID.index(name) if name in _SAID else len(_SAID)):
        inner = value[name]
        if name in _SAID and isinstance(inner, str):
            lines.append(typed_text(inner) if value.get("type") == "mrkdwn" else unescape(inner))
        elif name in _SAID and isinstance(inner, int | float) and not isinstance(inner, bool):
            lines.append(str(inner))
        elif name not in _NO_WORDS:
            lines.append(_any(inner, depth + 1))
    return "\n".join(dict.fromkeys(line for line in lines if line))


def _inline(value: JsonObject, depth: int) -> list[JsonObject]:
    """Return the pieces of a rich text that have nothing inside."""
    inner = objects_in(value.get("elements")) if depth <= _DEEPEST else []
    if not inner:
        return [value] if depth > 1 or value.get("type") not in ("rich_text", "rich_text_section") else []
    return [piece for item in inner for piece in _inline(item, depth + 1)]


def _plain(text: str) -> str:
    return " ".join(text.split())
