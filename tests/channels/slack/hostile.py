"""Requests that are not Slack's, or not what Slack sends."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import urlencode

from tests.channels import hostile
from tests.channels.hostile import HostileCases
from tests.channels.memory_sink import MemorySink
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
    make_channel,
    message,
    press,
    proof,
    serve_channel,
    submission,
)

SIGNATURE, STAMP = "X-Slack-Signature", "X-Slack-Request-Timestamp"
Hostile = partial(hostile.Hostile, path=PATH)
NOW = time.time()
GOOD = json.dumps(envelope()).encode()
PROOF = proof(GOOD, at=NOW)


def forged(body: bytes = GOOD, **headers: str | None) -> hostile.Hostile:
    """Take a good request and replace or remove headers."""
    changed = {"Content-Type": JSON_TYPE, **PROOF} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Hostile(body, {name: value for name, value in changed.items() if value is not None})


def signed(body: bytes, kind: str = JSON_TYPE, **more: str) -> hostile.Hostile:
    """Sign anything."""
    return Hostile(body, {"Content-Type": kind, **proof(body, at=NOW), **more})


def told(value: Any) -> hostile.Hostile:
    """Sign JSON."""
    return signed(json.dumps(value).encode())


def acted(payload: Any) -> hostile.Hostile:
    """Sign an interaction."""
    return signed(urlencode({"payload": json.dumps(payload)}).encode(), FORM_TYPE)


def typed(**changes: Any) -> hostile.Hostile:
    """Sign a command."""
    return signed(urlencode(command(**changes)).encode(), FORM_TYPE)


def at(moment: float) -> hostile.Hostile:
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
    "signed with another secret": Hostile(GOOD, {"Content-Type": JSON_TYPE, **proof(GOOD, at=NOW, secret="f" * 32)}),
    "signed with an empty secret": Hostile(GOOD, {"Content-Type": JSON_TYPE, **proof(GOOD, at=NOW, secret="")}),
    "replayed after five minutes": at(NOW - 330),
    "replayed after a day": at(NOW - 86_400),
    "from the future": at(NOW + 600),
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
    "JSON said to be a form": signed(GOOD, FORM_TYPE),
    "form said to be JSON": signed(urlencode(command()).encode()),
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
}


@asynccontextmanager
async def serve() -> AsyncIterator[Gateway]:
    """Serve the channel, with a sink that counts."""
    sink = MemorySink()
    async with serve_channel(make_channel(sink, now=lambda: NOW), sink) as served:
        yield served


CASES = HostileCases(
    serve=serve,
    good=Hostile(GOOD, {"Content-Type": JSON_TYPE, **PROOF}),
    proof=SIGNATURE,
    forged=FORGED,
    malformed=MALFORMED,
    raw={},
    private=(SAID, PERSON, SECRET, BOT_TOKEN, PROOF[SIGNATURE]),
)
_HEAD = CASES.head()
_STAMP = f"{STAMP}: {PROOF[STAMP]}\r\n".encode()
CASES.raw.update(
    {
        "timestamp twice": CASES.whole(_HEAD + _STAMP),
        "raw bytes in the timestamp": CASES.whole(_HEAD.replace(_STAMP, STAMP.encode() + b": \xff\xfe\r\n")),
        "charset of no kind": CASES.whole(_HEAD.replace(b"json", b"json; charset=\xff")),
    }
)
