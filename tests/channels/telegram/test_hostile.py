"""Requests that are not Telegram's, or not what Telegram sends: all 4xx, nothing accepted, nothing logged as ours."""

import asyncio
import json
import logging
from dataclasses import dataclass, field
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.channels.telegram.builders import HEADER, PATH, PERSON, SECRET, TOKEN, Gateway, message, press, update

GOOD = json.dumps(update()).encode()


@dataclass(frozen=True)
class Hostile:
    body: bytes = GOOD
    headers: dict[str, str] = field(default_factory=dict)
    method: str = "POST"
    path: str = PATH


def signed(body: bytes | Any, **headers: str) -> Hostile:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Hostile(raw, {HEADER: SECRET, **headers})


def with_message(**changes: Any) -> Hostile:
    return signed(update(message=message(**changes)))


def with_sender(**changes: Any) -> Hostile:
    return with_message(**{"from": {**message()["from"], **changes}})


FORGED = {
    "no secret": Hostile(),
    "empty secret": Hostile(headers={HEADER: ""}),
    "wrong secret": Hostile(headers={HEADER: "nonsense"}),
    "secret cut short": Hostile(headers={HEADER: SECRET[:-1]}),
    "secret with more": Hostile(headers={HEADER: SECRET + "x"}),
    "secret in another case": Hostile(headers={HEADER: SECRET.swapcase()}),
    "secret that is not ASCII": Hostile(headers={HEADER: "é" + SECRET}),
    "the bot token as secret": Hostile(headers={HEADER: TOKEN}),
    "secret under another name": Hostile(headers={"X-Telegram-Secret": SECRET}),
    "secret in the query": Hostile(path=f"{PATH}?secret_token={SECRET}"),
    "secret as bearer": Hostile(headers={"Authorization": f"Bearer {SECRET}"}),
    "forged press": Hostile(json.dumps(press()).encode(), {HEADER: "nonsense"}),
    "forged garbage": Hostile(b"\xff\x00{", {HEADER: "nonsense"}),
    "forged and empty": Hostile(b"", {HEADER: "nonsense"}),
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
    "message null": signed({"update_id": 1, "message": None}),
    "message a string": signed({"update_id": 1, "message": "hi"}),
    "message empty": signed({"update_id": 1, "message": {}}),
    "no chat": with_message(chat=None),
    "chat a number": with_message(chat=5),
    "chat id a string": with_message(chat={"id": str(PERSON), "type": "private"}),
    "chat id missing": with_message(chat={"type": "private"}),
    "chat type missing": with_message(chat={"id": PERSON}),
    "chat type a list": with_message(chat={"id": PERSON, "type": ["private"]}),
    "no sender": with_message(**{"from": None}),
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
    "photo without sizes": with_message(text=None, photo=[]),
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
    "text/plain": signed(GOOD, **{"Content-Type": "text/plain"}),
    "multipart": signed(GOOD, **{"Content-Type": "multipart/form-data; boundary=x"}),
    "compressed": signed(b"x\x9c\x03\x00", **{"Content-Encoding": "deflate"}),
    "larger than 256 KiB": with_message(text="x" * 300_000),
    "GET": Hostile(b"", {HEADER: SECRET}, method="GET"),
    "PUT": Hostile(GOOD, {HEADER: SECRET}, method="PUT"),
    "another path": Hostile(GOOD, {HEADER: SECRET}, path=f"{PATH}/{TOKEN}"),
}

_HEAD = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n".encode()
_SIGNED_HEAD = _HEAD + f"{HEADER}: {SECRET}\r\n".encode()
_LENGTH = f"Content-Length: {len(GOOD)}\r\n\r\n".encode()

RAW = {
    "secret twice": _SIGNED_HEAD + f"{HEADER}: {SECRET}\r\n".encode() + _LENGTH + GOOD,
    "good secret, then a bad one": _SIGNED_HEAD + f"{HEADER}: nonsense\r\n".encode() + _LENGTH + GOOD,
    "raw bytes in the secret": _HEAD + f"{HEADER}: ".encode() + b"\xff\xfe\xfa\r\n" + _LENGTH + GOOD,
    "chunked garbage": _SIGNED_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nnonsense\r\n",
    "length and chunks": _SIGNED_HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n",
}


def test_promise_12_the_list_of_hostile_requests_is_long_enough() -> None:
    assert len(FORGED) + len(MALFORMED) + len(RAW) >= 70


@pytest.mark.parametrize("name", FORGED)
async def test_promise_12_forged_requests_end_in_403(
    name: str, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    assert await _status(gateway, FORGED[name], caplog) == 403


@pytest.mark.parametrize("name", MALFORMED)
async def test_promise_12_authentic_but_malformed_requests_end_in_4xx(
    name: str, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    assert 400 <= await _status(gateway, MALFORMED[name], caplog) < 500


@pytest.mark.parametrize("name", RAW)
async def test_promise_12_requests_that_are_hardly_http_end_in_4xx(
    name: str, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), capture_logs() as logs:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(RAW[name])
        async with asyncio.timeout(3):
            line = await reader.readline()
        writer.close()
    assert line.split(b" ")[1][:1] == b"4", line
    _nothing_happened(gateway, logs, caplog)


async def _status(gateway: Gateway, hostile: Hostile, caplog: pytest.LogCaptureFixture) -> int:
    with caplog.at_level(logging.INFO), capture_logs() as logs:
        response = await gateway.send(hostile.body, path=hostile.path, method=hostile.method, headers=hostile.headers)
    _nothing_happened(gateway, logs, caplog)
    return response.status


def _nothing_happened(gateway: Gateway, logs: object, caplog: pytest.LogCaptureFixture) -> None:
    assert gateway.sink.calls == 0
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= logging.WARNING]
    said = f"{logs}{caplog.text}"
    assert "request_failed" not in said
    for private in ("Lunch", str(PERSON), TOKEN, SECRET):
        assert private not in said
