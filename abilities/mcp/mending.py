"""Results of MCP servers, repaired to fit the protocol: a bad tool, page, block or value is left out, and no other.

The readable parts of a result that took effect are read: its text counts, even if other parts are bad. An empty result
is valid, too. An answer is unreadable only if it has content of which nothing can be read.
"""

import json
from collections.abc import Callable, Iterable
from typing import cast

from abilities.mcp.hearing import sound, sound_object
from core.json_types import Json, JsonObject

MOST_TOOLS = 500
MOST_RESOURCES = 1_000
GIVEN = "onevalet/parameters"
"""The key of a mended tool's `_meta` under which its parameters stand as they were given: the SDK takes fewer."""
_MOST_BLOCKS = 200
"""Pieces of which a result may consist."""
_UNREADABLE = "[Something that cannot be read.]"
_COMPLETE: JsonObject = {"resultType": "complete"}
_LISTED: JsonObject = {**_COMPLETE, "ttlMs": 0, "cacheScope": "private"}
"""Fields that the protocol of 2026 also requires, and that are not read here."""
_ASIDE = frozenset({"_meta", "isError", "resultType", "content", "structuredContent", "toolResult"})
_NOT_FAILED = (None, False, 0, "", "false", "False")


def mended(method: str, result: JsonObject) -> JsonObject:
    """Return a server's answer to a method, storable and cut. Raises `ValueError` if nothing of it can be read."""
    mend = _MENDERS.get(method)
    if mend is None or (mend in (_called, _read) and result.get("resultType") == "input_required"):
        return sound_object(result)
    return mend(result)


def _initialized(result: JsonObject) -> JsonObject:
    # No other field is read here, and some servers leave out required fields.
    whole: JsonObject = {"capabilities": {}, "serverInfo": {"name": "", "version": ""}}
    return whole | {"protocolVersion": sound(result.get("protocolVersion"))}


def _tools(result: JsonObject) -> JsonObject:
    return _page(result, "tools", MOST_TOOLS, _tool)


def _resources(result: JsonObject) -> JsonObject:
    return _page(result, "resources", MOST_RESOURCES, _resource)


def _page(result: JsonObject, key: str, most: int, mend: Callable[[JsonObject], JsonObject | None]) -> JsonObject:
    listed = result.get(key)
    if listed is None and "content" not in result:  # as some write a list of nothing
        listed = []
    if not isinstance(listed, list):
        raise ValueError("no list")
    cursor = result.get("nextCursor")
    page: JsonObject = {**_LISTED, key: [one for one in map(_safely(mend), listed[:most]) if one is not None]}
    return page | ({"nextCursor": sound(cursor)} if isinstance(cursor, str) else {})


def _safely(mend: Callable[[JsonObject], JsonObject | None]) -> Callable[[Json], JsonObject | None]:
    """Return a function that repairs a member of a list, or leaves it out if it cannot be read."""

    def mended_piece(piece: Json) -> JsonObject | None:
        try:
            whole = sound(piece)
        except (ValueError, RecursionError):
            return None
        return mend(whole) if isinstance(whole, dict) else None

    return mended_piece


def _tool(tool: JsonObject) -> JsonObject | None:
    name, hints = tool.get("name"), tool.get("annotations")
    if not isinstance(name, str):
        return None
    given = _parameters(tool)
    reads = isinstance(hints, dict) and hints.get("readOnlyHint") is True
    return {
        "name": name,
        "description": _text_or_none(tool.get("description")),
        "inputSchema": _strict(given),
        "annotations": {"readOnlyHint": reads},
        "_meta": {GIVEN: given},
    }


def _parameters(tool: JsonObject) -> JsonObject:
    """Return the schema of a tool's parameters; if it is none, a schema that cannot be offered, which says so."""
    given = next((tool[key] for key in ("inputSchema", "input_schema", "parameters") if tool.get(key) is not None), {})
    if given is True or given == []:  # any arguments; and an empty object, as PHP writes it
        given = {}
    if not isinstance(given, dict):
        return {"type": "no schema"}
    kind = given.get("type")
    whole = given
    if kind is None or (isinstance(kind, list) and "object" in kind):
        whole = whole | {"type": "object"}
    if given.get("properties", {}) in (None, []):
        whole = whole | {"properties": {}}
    if "required" in given and given["required"] is None:
        whole = {key: value for key, value in whole.items() if key != "required"}
    return whole


def _strict(given: JsonObject) -> JsonObject:
    """Return as much of a schema as the SDK takes: it looks for parameters that HTTP names in headers."""
    kept = {key: value for key, value in given.items() if key not in ("type", "$schema", "properties", "required")}
    properties = given.get("properties")
    parts = properties.items() if isinstance(properties, dict) else ()
    return kept | {
        "type": "object",
        "properties": {name: part for name, part in parts if isinstance(part, dict | bool)},
    }


def _resource(resource: JsonObject) -> JsonObject | None:
    uri, name = resource.get("uri"), resource.get("name")
    if not isinstance(uri, str):
        return None
    return {
        "uri": uri,
        "name": name if isinstance(name, str) else "",
        "description": _text_or_none(resource.get("description")),
    }


def _called(result: JsonObject) -> JsonObject:
    content = result.get("content")
    blocks, lost = _readable(content if isinstance(content, list) else [content], _block)
    if not any(str(block.get("text", "")).strip() for block in blocks):
        # Without words of its own: the same as data, or a result that is none of the protocol's.
        others = {key: value for key, value in result.items() if key not in _ASIDE}
        spoken = [result.get("structuredContent"), result.get("toolResult"), others or None]
        more, also = _readable(spoken, _data)
        blocks, lost = [*blocks, *more[:1]], lost + also
    if lost and not blocks:
        raise ValueError("nothing can be read")
    blocks += [_text(_UNREADABLE)] * lost
    return {**_COMPLETE, "content": cast(Json, blocks), "isError": result.get("isError") not in _NOT_FAILED}


def _read(result: JsonObject) -> JsonObject:
    contents = result.get("contents", result.get("content"))
    blocks, lost = _readable(contents if isinstance(contents, list) else [contents], _resource_block)
    if lost and not blocks:
        raise ValueError("nothing can be read")
    found = [block["resource"] if "resource" in block else {"uri": "", "text": block["text"]} for block in blocks]
    return {**_LISTED, "contents": cast(Json, found)}


def _readable(pieces: Iterable[Json], read: Callable[[Json], JsonObject]) -> tuple[list[JsonObject], int]:
    """Return the pieces that can be read, and how many cannot."""
    found, lost = list[JsonObject](), 0
    for piece in list(pieces)[:_MOST_BLOCKS]:
        if piece is None:
            continue
        try:
            found.append(read(sound(piece)))
        except (ValueError, RecursionError):
            lost += 1
    return found, lost


def _block(block: Json) -> JsonObject:
    """Return a block as a text block, or as a block of other content."""
    if not isinstance(block, dict):
        return _text(block)
    if (text := block.get("text")) is not None or block.get("type") == "text":
        return _text(text)
    if block.get("data") is not None and block.get("type") != "json":
        return _blob(block["data"], block)
    if isinstance(resource := block.get("resource"), dict):
        return _resource_block(resource)
    if isinstance(uri := block.get("uri"), str):
        return _text(f"{block.get('name') or ''} {uri}".strip())
    return _text(block)


def _resource_block(resource: Json) -> JsonObject:
    if isinstance(resource, dict) and resource.get("blob") is not None:
        return _blob(resource["blob"], resource)
    return _block(resource)


def _data(value: Json) -> JsonObject:
    return _text(value)


def _blob(data: Json, block: JsonObject) -> JsonObject:
    if not isinstance(data, str):
        raise ValueError("no data")
    kind = block.get("mimeType") or block.get("mime_type")
    if data.startswith("data:") and "," in data[:_MOST_BLOCKS]:  # an address that holds the data, as browsers have it
        head, _, data = data.partition(",")
        kind = kind or head.removeprefix("data:").partition(";")[0]
    return {"type": "resource", "resource": {"uri": "", "blob": data, "mimeType": _text_or_none(kind)}}


def _text(value: Json) -> JsonObject:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"type": "text", "text": text}


def _text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None


_MENDERS: dict[str, Callable[[JsonObject], JsonObject]] = {
    "initialize": _initialized,
    "tools/list": _tools,
    "tools/call": _called,
    "resources/list": _resources,
    "resources/read": _read,
}
