"""Messages of MCP as servers write them: all that can be understood is, and a bad message costs no other.

A reader for both pipes and HTTP: it copes with bytes that are not UTF-8, byte order marks, log output on the same line,
batches, and answers with fields that JSON-RPC places elsewhere.
"""

import json
import re
from collections.abc import Iterator

from abilities.mcp.hearing import in_turns
from core.json_types import Json, JsonObject

FAILED = -32603
"""The code of JSON-RPC for any error in a server."""
_GENERAL = -32000
"""Servers use it for anything; in the SDK it means that the connection ended."""
_BEGINS = re.compile(r'\{\s*"(?:jsonrpc|id)"\s*:')
_MOST_BEGINNINGS = 20
"""Places of a line at which a message is looked for: each is read to its end."""
_NUMBER = re.compile(r'"id" *: *([0-9]{1,9})[,} ]')
_AROUND = 200
"""Letters at the beginning and the end of a message in which the number of a request is looked for."""
_HALVES = re.compile("[\ud800-\udfff]")


async def read_messages(data: bytes) -> list[JsonObject]:
    """Return the messages in a line or a body. Servers print other text, too: it is skipped."""
    return await in_turns(len(data), _read, data)


async def read_answer(data: bytes, number: Json) -> bytes | None:
    """Return the answer to a request in a body, as strict readers read it; None if there is none."""
    answers = [one for one in await read_messages(data) if _is_answer(one)]
    if not answers:
        return None
    # The body belongs to the request, so a single answer may have any number.
    found = answers[0] if len(answers) == 1 else next((one for one in answers if one.get("id") == number), answers[-1])
    return written(found | {"id": number})


def written(message: JsonObject) -> bytes:
    """Return a message as strict readers read it: without halves of letters."""
    return _HALVES.sub("\ufffd", json.dumps(message, ensure_ascii=False)).encode()


def _read(data: bytes) -> list[JsonObject]:
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        found: list[Json] = [json.loads(text)]
    except (ValueError, RecursionError):
        found = list(_within(text)) or list(_broken(text))
    flat = [one for item in found for one in (item if isinstance(item, list) else [item])]
    return [_tidy(one) for one in flat if isinstance(one, dict)]


def _within(text: str) -> Iterator[JsonObject]:
    """Yield the answers in a line with other content; our own requests quoted in a log do not count."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MOST_BEGINNINGS):
        if (begins := _BEGINS.search(text, at)) is None:
            return
        try:
            found, at = decoder.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            at = begins.end()
            continue
        if isinstance(found, dict) and _is_answer(found):
            yield found


def _broken(text: str) -> Iterator[JsonObject]:
    """Yield whose answer it is that cannot be read: who waits for it need not wait for nothing."""
    if text.lstrip().startswith("{") and '"jsonrpc"' in text and '"method"' not in text[:_AROUND]:
        number = _NUMBER.search(text[:_AROUND]) or _NUMBER.search(text[-_AROUND:])
        if number:
            yield {"id": int(number[1])}


def _is_answer(said: JsonObject) -> bool:
    return "jsonrpc" in said and not said.get("method") and ("result" in said or "error" in said)


def _tidy(said: JsonObject) -> JsonObject:
    """Return an answer as JSON-RPC has it; anything else is left as it is."""
    if not _is_answer(said):
        return said
    number, error, result = said.get("id"), said.get("error"), said.get("result")
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    answer: JsonObject = {"jsonrpc": "2.0", "id": number}
    if "error" in said and (error or (error is not None and result is None)):
        return answer | {"error": _error(error)}
    return answer | {"result": result if isinstance(result, dict) else {"content": result}}


def _error(error: Json) -> JsonObject:
    told = error if isinstance(error, dict) else {"message": error}
    code, message = told.get("code"), told.get("message")
    if isinstance(code, str) and re.fullmatch(r"-?[0-9]{1,9}", code):
        code = int(code)
    if not isinstance(code, int) or isinstance(code, bool) or code == _GENERAL:
        code = FAILED
    if not isinstance(message, str):
        said = message if message is not None else told.get("data")
        message = said if isinstance(said, str) else "" if said is None else json.dumps(said, ensure_ascii=False)
    return {"code": code, "message": message, "data": told.get("data")}
