"""Requests that are not Slack's, or not what Slack sends: all 4xx, nothing accepted, nothing logged as ours."""

import asyncio
import json
import logging
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import pytest
from structlog.testing import capture_logs

from tests.channels.slack.builders import (
    BOT_TOKEN,
    FORM_TYPE,
    JSON_TYPE,
    PATH,
    PERSON,
    SAID,
    SECRET,
    Gateway,
    command,
    envelope,
    message,
    press,
    proof,
    submission,
)

SIGNATURE, STAMP = "X-Slack-Signature", "X-Slack-Request-Timestamp"


@dataclass(frozen=True)
class Hostile:
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    method: str = "POST"
    path: str = PATH


GOOD = json.dumps(envelope()).encode()
PROOF = proof(GOOD)


def forged(body: bytes = GOOD, **headers: str | None) -> Hostile:
    """Take a good request and replace or remove headers."""
    changed = {"Content-Type": JSON_TYPE, **PROOF} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Hostile(body, {name: value for name, value in changed.items() if value is not None})


def signed(body: bytes, kind: str = JSON_TYPE, **more: str) -> Hostile:
    """Sign anything."""
    return Hostile(body, {"Content-Type": kind, **proof(body), **more})


def told(value: Any) -> Hostile:
    """Sign JSON."""
    return signed(json.dumps(value).encode())


def acted(payload: Any) -> Hostile:
    """Sign an interaction."""
    return signed(urlencode({"payload": json.dumps(payload)}).encode(), FORM_TYPE)


def typed(**changes: Any) -> Hostile:
    """Sign a command."""
    return signed(urlencode(command(**changes)).encode(), FORM_TYPE)


def at(moment: float) -> Hostile:
    """Sign a good body for another moment."""
    return Hostile(GOOD, {"Content-Type": JSON_TYPE, **proof(GOOD, at=moment)})


VIEW = {"id": "V1", "type": "modal", "hash": "1.a", "callback_id": "edit"}
CHALLENGE = json.dumps({"type": "url_verification", "token": "x", "challenge": "c" * 20}).encode()

FORGED = {
    "no signature": forged(X_Slack_Signature=None),
    "no timestamp": forged(X_Slack_Request_Timestamp=None),
    "neither": forged(X_Slack_Signature=None, X_Slack_Request_Timestamp=None),
    "empty signature": forged(X_Slack_Signature=""),
    "empty timestamp": forged(X_Slack_Request_Timestamp=""),
    "wrong signature": forged(X_Slack_Signature="v0=" + "0" * 64),
    "short signature": forged(X_Slack_Signature=PROOF[SIGNATURE][:-1]),
    "long signature": forged(X_Slack_Signature=PROOF[SIGNATURE] + "0"),
    "upper case signature": forged(X_Slack_Signature=PROOF[SIGNATURE].upper()),
    "signature without version": forged(X_Slack_Signature=PROOF[SIGNATURE][3:]),
    "signature of another version": forged(X_Slack_Signature="v1" + PROOF[SIGNATURE][2:]),
    "signature that is not ASCII": forged(X_Slack_Signature="v0=é" + "0" * 63),
    "timestamp no number": forged(X_Slack_Request_Timestamp="yesterday"),
    "timestamp a float": forged(X_Slack_Request_Timestamp=PROOF[STAMP] + ".0"),
    "timestamp negative": forged(X_Slack_Request_Timestamp="-" + PROOF[STAMP]),
    "timestamp in other digits": forged(X_Slack_Request_Timestamp="१७९४६५००००"),
    "timestamp of 5,000 digits": forged(X_Slack_Request_Timestamp="1" * 5000),
    "timestamp changed": forged(X_Slack_Request_Timestamp=str(int(PROOF[STAMP]) - 1)),
    "signed with another secret": Hostile(GOOD, {"Content-Type": JSON_TYPE, **proof(GOOD, secret="f" * 32)}),
    "signed with an empty secret": Hostile(GOOD, {"Content-Type": JSON_TYPE, **proof(GOOD, secret="")}),
    "replayed after five minutes": at(time.time() - 330),
    "replayed after a day": at(time.time() - 86_400),
    "from the future": at(time.time() + 600),
    "changed body": forged(GOOD.replace(b"Lunch", b"Dinner")),
    "changed sender": forged(GOOD.replace(PERSON.encode(), b"U0OTHER001")),
    "truncated body": forged(GOOD[:-20]),
    "empty body": forged(b""),
    "body with a blank more": forged(GOOD + b" "),
    "command forged": Hostile(urlencode(command()).encode(), {"Content-Type": FORM_TYPE, **PROOF}),
    "press forged": Hostile(urlencode({"payload": json.dumps(press())}).encode(), {"Content-Type": FORM_TYPE, **PROOF}),
    "challenge unsigned": Hostile(CHALLENGE, {"Content-Type": JSON_TYPE}),
    "challenge forged": Hostile(CHALLENGE, {"Content-Type": JSON_TYPE, **PROOF}),
    "ssl_check unsigned": Hostile(b"ssl_check=1&token=x", {"Content-Type": FORM_TYPE}),
    "token of the old way alone": Hostile(GOOD, {"Content-Type": JSON_TYPE, "Authorization": "verification"}),
}

MALFORMED = {
    "no JSON": signed(b"hello"),
    "half JSON": signed(GOOD[: len(GOOD) // 2]),
    "nothing at all": signed(b""),
    "JSON list": told([envelope()]),
    "JSON string": told("event_callback"),
    "JSON null": told(None),
    "JSON number of 5,000 digits": signed(b'{"type": ' + b"1" * 5000 + b"}"),
    "JSON with NaN": signed(GOOD.replace(b"1794650000", b"NaN")),
    "JSON bomb of lists": signed(b"[" * 100_000),
    "JSON bomb of objects": signed(b'{"a":' * 40_000 + b"1" + b"}" * 40_000),
    "not UTF-8": signed(GOOD.replace(b"Lunch", b"\xff\xfe")),
    "UTF-16": signed(GOOD.decode().encode("utf-16")),
    "UTF-16 said": signed(GOOD, f"{JSON_TYPE}; charset=utf-16"),
    "no content type": signed(GOOD, ""),
    "text": signed(GOOD, "text/plain"),
    "multipart": signed(b"--x\r\n\r\nhi\r\n--x--", "multipart/form-data; boundary=x"),
    "JSON said to be a form": signed(GOOD, FORM_TYPE),
    "form said to be JSON": signed(urlencode(command()).encode()),
    "compressed": signed(b"x\x9c\x03\x00", **{"Content-Encoding": "deflate"}),
    "larger than 256 KiB": told(envelope(message(text="x" * 300_000))),
    "no type": told(envelope(type=None)),
    "type no string": told(envelope(type=7)),
    "type with a line end": told(envelope(type="event_callback\n")),
    "no event": told(envelope(event={})),
    "event a string": told(envelope() | {"event": "message"}),
    "event a list": told(envelope() | {"event": [message()]}),
    "no event_id": told(envelope(event_id=None)),
    "odd event_id": told(envelope(event_id="Ev\x00")),
    "no team": told(envelope(team_id=None)),
    "odd team": told(envelope(team_id="T'; drop table teams")),
    "no app": told(envelope(api_app_id=None)),
    "authorizations a string": told(envelope(authorizations="all")),
    "authorizations of strings": told(envelope(authorizations=["all"])),
    "event without type": told(envelope(message(type=None))),
    "message without ts": told(envelope(message(ts=None))),
    "message with an odd ts": told(envelope(message(ts="now"))),
    "message with a number as ts": told(envelope(message(ts=1794650000.0001))),
    "message without channel": told(envelope(message(channel=None))),
    "message with an odd channel": told(envelope(message(channel="../etc"))),
    "message without user": told(envelope(message(user=None))),
    "message with an odd user": told(envelope(message(user="Ada"))),
    "message with an odd thread": told(envelope(message(thread_ts="root"))),
    "message with a text that is none": told(envelope(message(text={"a": 1}))),
    "message with files that are none": told(envelope(message(files="all"))),
    "message with a file that is none": told(envelope(message(files=["F1"]))),
    "home without user": told(envelope({"type": "app_home_opened", "tab": "home"})),
    "challenge that is none": told({"type": "url_verification", "challenge": {"a": 1}}),
    "challenge with a line end": told({"type": "url_verification", "challenge": "a\r\nSet-Cookie: b"}),
    "payload that is no JSON": signed(b"payload=hello", FORM_TYPE),
    "payload empty": signed(b"payload=", FORM_TYPE),
    "payload in a payload": acted({"payload": json.dumps(press())}),
    "payload encoded twice": signed(urlencode({"payload": urlencode({"payload": "{}"})}).encode(), FORM_TYPE),
    "payload a list": acted([press()]),
    "payload twice": signed(b"payload=%7B%7D&payload=%7B%7D", FORM_TYPE),
    "payload beside a command": signed(urlencode(command() | {"payload": json.dumps(press())}).encode(), FORM_TYPE),
    "payload bomb": signed(b"payload=" + b"%5B" * 50_000, FORM_TYPE),
    "press without user": acted(press(user=None)),
    "press with a user that is none": acted(press(user="U1")),
    "press without team": acted(press(team=None, user={"id": PERSON})),
    "press without actions": acted(press(actions=[])),
    "press with actions that are none": acted(press(actions=["approve"])),
    "press without action_ts": acted(press(actions=[{"action_id": "approve"}])),
    "press without container": acted(press(container=None)),
    "press of an odd message": acted(press(container={"message_ts": "x", "channel_id": "D0DIRECT01"})),
    "view without hash": acted(submission(view=VIEW | {"hash": None})),
    "view without type": acted(submission(view=VIEW | {"type": None})),
    "view without callback_id": acted(submission(view={"id": "V1", "type": "modal", "hash": "1.a"})),
    "view with values that are none": acted(submission(view=VIEW | {"state": {"values": {"a": "b"}}})),
    "view that is none": acted(submission(view="V1")),
    "command without user": typed(user_id=None),
    "command without trigger": typed(trigger_id=None),
    "command without channel": typed(channel_id=None),
    "command with an odd team": typed(team_id="team"),
    "command twice": signed(urlencode([*command().items(), ("command", "/other")]).encode(), FORM_TYPE),
    "user twice": signed(urlencode([*command().items(), ("user_id", "U0OTHER001")]).encode(), FORM_TYPE),
    "form with bytes that are no UTF-8": signed(urlencode(command()).encode() + b"&x=%ff%fe", FORM_TYPE),
    "a thousand fields": signed("&".join(f"a{number}=1" for number in range(1000)).encode(), FORM_TYPE),
    "GET": Hostile(b"", PROOF, method="GET"),
    "PUT": Hostile(GOOD, {"Content-Type": JSON_TYPE, **PROOF}, method="PUT"),
    "another path": Hostile(GOOD, {"Content-Type": JSON_TYPE, **PROOF}, path="/webhooks/slack/"),
}

_HEAD = (
    b"POST /webhooks/slack HTTP/1.1\r\nHost: valet.example.com\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\n"
)
_STAMP = f"{STAMP}: {PROOF[STAMP]}\r\n".encode()
_SIGNED = _HEAD + _STAMP + f"{SIGNATURE}: {PROOF[SIGNATURE]}\r\n".encode()
_LENGTH = f"Content-Length: {len(GOOD)}\r\n\r\n".encode()

RAW = {
    "signature twice": _SIGNED + f"{SIGNATURE}: {PROOF[SIGNATURE]}\r\n".encode() + _LENGTH + GOOD,
    "good signature, then a bad one": _SIGNED + f"{SIGNATURE}: v0=00\r\n".encode() + _LENGTH + GOOD,
    "timestamp twice": _SIGNED + _STAMP + _LENGTH + GOOD,
    "raw bytes in the signature": _HEAD + _STAMP + SIGNATURE.encode() + b": v0=\xff\xfe\r\n" + _LENGTH + GOOD,
    "raw bytes in the timestamp": _SIGNED.replace(_STAMP, STAMP.encode() + b": \xff\xfe\r\n") + _LENGTH + GOOD,
    "chunked garbage": _SIGNED + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nnonsense\r\n",
    "two lengths": _SIGNED + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "charset of no kind": _SIGNED.replace(b"json", b"json; charset=\xff") + _LENGTH + GOOD,
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n",
}


def test_promise_12_the_list_of_hostile_requests_is_long_enough() -> None:
    assert len(FORGED) + len(MALFORMED) + len(RAW) >= 100


@pytest.mark.parametrize("name", FORGED)
async def test_promise_12_forged_and_late_requests_end_in_403(
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


async def test_the_good_request_that_was_spoilt_is_good(gateway: Gateway) -> None:
    assert (await gateway.send(GOOD, headers={"Content-Type": JSON_TYPE, **PROOF})).status == 200
    assert gateway.sink.calls == 1


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
    for private in (SAID, PERSON, SECRET, BOT_TOKEN, PROOF[SIGNATURE]):
        assert private not in said
