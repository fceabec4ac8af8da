"""Requests that are not Telegram's, or not what Telegram sends."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.channels import hostile
from tests.channels.hostile import HostileCases
from tests.channels.memory_sink import MemorySink
from tests.channels.telegram.builders import (
    HEADER,
    PATH,
    PERSON,
    SECRET,
    TOKEN,
    Gateway,
    make_channel,
    message,
    press,
    serve_channel,
    update,
)

GOOD = json.dumps(update()).encode()


def request(body: bytes = GOOD, headers: dict[str, str] | None = None, *, path: str = PATH) -> hostile.Hostile:
    return hostile.Hostile(body, headers or {}, path=path)


def signed(body: bytes | Any, **headers: str) -> hostile.Hostile:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request(raw, {HEADER: SECRET, **headers})


def with_message(**changes: Any) -> hostile.Hostile:
    return signed(update(message=message(**changes)))


def with_sender(**changes: Any) -> hostile.Hostile:
    return with_message(**{"from": {**message()["from"], **changes}})


FORGED = {
    "no secret": request(),
    "empty secret": request(headers={HEADER: ""}),
    "wrong secret": request(headers={HEADER: "nonsense"}),
    "secret cut short": request(headers={HEADER: SECRET[:-1]}),
    "secret with more": request(headers={HEADER: SECRET + "x"}),
    "secret in another case": request(headers={HEADER: SECRET.swapcase()}),
    "secret that is not ASCII": request(headers={HEADER: "é" + SECRET}),
    "the bot token as secret": request(headers={HEADER: TOKEN}),
    "secret under another name": request(headers={"X-Telegram-Secret": SECRET}),
    "secret in the query": request(path=f"{PATH}?secret_token={SECRET}"),
    "secret as bearer": request(headers={"Authorization": f"Bearer {SECRET}"}),
    "forged press": request(json.dumps(press()).encode(), {HEADER: "nonsense"}),
    "forged garbage": request(b"\xff\x00{", {HEADER: "nonsense"}),
    "forged and empty": request(b"", {HEADER: "nonsense"}),
}

MALFORMED = {
    "empty body": signed(b""),
    "not JSON": signed(b"update_id=1"),
    "half of it": signed(GOOD[:-30]),
    "two of it": signed(GOOD + GOOD),
    "not UTF-8": signed(GOOD.replace(b"Lunch", b"\xff\xfe")),
    "UTF-16": signed(GOOD.decode().encode("utf-16")),
    "a list": signed([update()]),
    "a string": signed("update"),
    "null": signed(b"null"),
    "NaN": signed(b'{"update_id": NaN}'),
    "Infinity": signed(b'{"update_id": 1, "message": Infinity}'),
    "nested a hundred thousand deep": signed(b'{"update_id":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "a number of ten thousand digits": signed(b'{"update_id":' + b"9" * 10_000 + b"}"),
    "no update_id": signed({"message": message()}),
    "update_id a string": signed({**update(), "update_id": "501"}),
    "update_id true": signed({**update(), "update_id": True}),
    "update_id negative": signed({**update(), "update_id": -1}),
    "update_id broken": signed({**update(), "update_id": 1.5}),
    "update_id too large": signed({**update(), "update_id": 2**70}),
    "two kinds": signed({**update(), **press()}),
    "message a string": signed({"update_id": 1, "message": "hi"}),
    "message empty": signed({"update_id": 1, "message": {}}),
    "no chat": with_message(chat=None),
    "chat a number": with_message(chat=5),
    "chat id a string": with_message(chat={"id": str(PERSON), "type": "private"}),
    "chat id missing": with_message(chat={"type": "private"}),
    "chat type missing": with_message(chat={"id": PERSON}),
    "chat type a list": with_message(chat={"id": PERSON, "type": ["private"]}),
    "sender id a string": with_sender(id=str(PERSON)),
    "sender id null": with_sender(id=None),
    "sender id zero": with_sender(id=0),
    "sender id an object": with_sender(id={"$ne": 1}),
    "sender id far too large": with_sender(id=10**30),
    "sender name an object": with_sender(first_name={"a": 1}),
    "no message_id": with_message(message_id=None),
    "message_id a string": with_message(message_id="17; drop table"),
    "no date": with_message(date=None),
    "date a string": with_message(date="today"),
    "text a number": with_message(text=5),
    "text a list": with_message(text=["Lunch"]),
    "photo an object": with_message(text=None, photo={"file_id": "x"}),
    "document without id": with_message(text=None, document={"file_name": "/etc/passwd"}),
    "voice a string": with_message(text=None, voice="file:///etc/passwd"),
    "press without id": signed(update(callback_query={"from": message()["from"], "data": "t"})),
    "press without sender": signed(update(callback_query={"id": "1", "data": "t"})),
    "press with data a list": signed(update(callback_query={"id": "1", "from": message()["from"], "data": ["t"]})),
    "membership without a status": signed(
        update(my_chat_member={"chat": message()["chat"], "from": message()["from"], "new_chat_member": {}})
    ),
    "edit without a chat": signed(update(edited_message={"message_id": 1})),
    "a form": signed(GOOD, **{"Content-Type": "application/x-www-form-urlencoded"}),
    "path of the token": request(GOOD, {HEADER: SECRET}, path=f"{PATH}/{TOKEN}"),
}


@asynccontextmanager
async def serve() -> AsyncIterator[Gateway]:
    """Serve the channel, with a sink that counts."""
    sink = MemorySink()
    async with serve_channel(make_channel(sink), sink) as served:
        yield served


CASES = HostileCases(
    serve=serve,
    good=request(GOOD, {"Content-Type": "application/json", HEADER: SECRET}),
    proof=HEADER,
    forged=FORGED,
    malformed=MALFORMED,
    raw={},
    private=("Lunch", str(PERSON), TOKEN, SECRET),
)
