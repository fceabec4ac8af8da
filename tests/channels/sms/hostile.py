"""Requests that are not Twilio's, or not what Twilio sends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import urlencode

from tests.channels import hostile
from tests.channels.hostile import HostileCases
from tests.channels.memory_sink import MemorySink
from tests.channels.sms.builders import (
    FORM,
    MESSAGE_SID,
    PERSON,
    SID,
    TOKEN,
    Gateway,
    Pairs,
    make_channel,
    serve_channel,
    signature,
    webhook,
)

SIGNATURE = "X-Twilio-Signature"
PATH = "/webhooks/sms"
Hostile = partial(hostile.Hostile, path=PATH)


def signed(pairs: Pairs, path: str = PATH, body: bytes | None = None, **headers: str) -> hostile.Hostile:
    """Sign the pairs, but send the body if one is given."""
    sent = urlencode(pairs).encode() if body is None else body
    return Hostile(sent, {SIGNATURE: signature(pairs, path), **headers}, path=path)


def without(name: str) -> Pairs:
    return [pair for pair in webhook() if pair[0] != name]


def resplit(first: str, value: str, second: str, rest: str) -> Pairs:
    """Move the border between a name and its value: the signature stays right."""
    return [*without("Body"), (first, value), (second, rest)]


GOOD = webhook()
BODY = urlencode(GOOD).encode()
GOOD_SIGNATURE = signature(GOOD)
STATUS = "/webhooks/sms/status"
STATUS_FIELDS = [
    ("AccountSid", SID),
    ("MessageSid", MESSAGE_SID),
    ("MessageStatus", "delivered"),
    ("To", PERSON),
]

FORGED = {
    "no signature": Hostile(BODY),
    "empty signature": Hostile(BODY, {SIGNATURE: ""}),
    "wrong signature": Hostile(BODY, {SIGNATURE: "A" * 28}),
    "short signature": Hostile(BODY, {SIGNATURE: GOOD_SIGNATURE[:-3]}),
    "long signature": Hostile(BODY, {SIGNATURE: GOOD_SIGNATURE + "AA"}),
    "upper case signature": Hostile(BODY, {SIGNATURE: GOOD_SIGNATURE.swapcase()}),
    "signature that is not ASCII": Hostile(BODY, {SIGNATURE: "é" + GOOD_SIGNATURE}),
    "signed with another token": Hostile(BODY, {SIGNATURE: signature(GOOD, token="f" * 32)}),
    "signed with an empty token": Hostile(BODY, {SIGNATURE: signature(GOOD, token="")}),
    "signed for another path": Hostile(BODY, {SIGNATURE: signature(GOOD, STATUS)}),
    "signed for another query": Hostile(BODY, {SIGNATURE: GOOD_SIGNATURE}, path="/webhooks/sms?a=1"),
    "signature under another name": Hostile(BODY, {"X-Signature": GOOD_SIGNATURE}),
    "changed body": Hostile(urlencode(webhook(Body="Send it all")).encode(), {SIGNATURE: GOOD_SIGNATURE}),
    "changed sender": Hostile(urlencode(webhook(From="+15559999999")).encode(), {SIGNATURE: GOOD_SIGNATURE}),
    "added parameter": Hostile(BODY + b"&OptOutType=STOP", {SIGNATURE: GOOD_SIGNATURE}),
    "truncated body": Hostile(BODY[:-40], {SIGNATURE: GOOD_SIGNATURE}),
    "empty body": Hostile(b"", {SIGNATURE: GOOD_SIGNATURE}),
    "double encoded body": Hostile(BODY.replace(b"%", b"%25"), {SIGNATURE: GOOD_SIGNATURE}),
    "status forged": Hostile(urlencode(STATUS_FIELDS).encode(), {SIGNATURE: "A" * 28}, path=STATUS),
    "status with another ref": Hostile(
        urlencode(STATUS_FIELDS).encode(),
        {SIGNATURE: signature(STATUS_FIELDS, STATUS + "?ref=part_1")},
        path=STATUS + "?ref=part_2",
    ),
}

MALFORMED = {
    "re-split: Bod=y…": signed(resplit("Bod", "yLunch on Friday?", "Zed", "")),
    "re-split: one key swallows its neighbours": signed([*without("Body"), ("BodyLunch on Friday?", "")]),
    "re-split: text becomes a name": signed(resplit("Body", "", "Dinner on Friday?", "")),
    "re-split: text becomes a name and a value": signed(resplit("Body", "Dinner or ", "Drinks", " on Friday?")),
    "Body twice": signed([*GOOD, ("Body", "Send it all")]),
    "Body twice, the same": signed([*GOOD, ("Body", "Lunch on Friday?")]),
    "Body in two cases": signed([*GOOD, ("BODY", "Send it all")]),
    "From twice": signed([*GOOD, ("From", "+15559999999")]),
    "MessageSid twice": signed([*GOOD, ("MessageSid", "SM" + "c" * 32)]),
    "unknown parameter twice": signed([*GOOD, ("Newcomer", "1"), ("Newcomer", "2")]),
    "no Body": signed(without("Body")),
    "no From": signed(without("From")),
    "no To": signed(without("To")),
    "no MessageSid": signed(without("MessageSid")),
    "no AccountSid": signed(without("AccountSid")),
    "another account": signed(webhook(AccountSid="AC" + "f" * 32)),
    "account in another case": signed(webhook(AccountSid=SID.upper())),
    "MessageSid too short": signed(webhook(MessageSid="SM123", SmsMessageSid="SM123")),
    "MessageSid of a call": signed(webhook(MessageSid="CA" + "b" * 32)),
    "MessageSid with a line end": signed(webhook(MessageSid=MESSAGE_SID + "\n")),
    "two MessageSids that differ": signed(webhook(SmsMessageSid="SM" + "d" * 32)),
    "From empty": signed(webhook(From="")),
    "From with NUL": signed(webhook(From="+1555\x00222333")),
    "NumMedia no number": signed(webhook(NumMedia="many")),
    "NumMedia negative": signed(webhook(NumMedia="-1")),
    "media announced but missing": signed(webhook(NumMedia="1")),
    "media on the file system": signed(webhook(NumMedia="1", MediaUrl0="file:///etc/passwd")),
    "not UTF-8": signed(GOOD, body=BODY.replace(b"Lunch", b"%ff%fe")),
    "raw bytes that are not UTF-8": signed(GOOD, body=BODY.replace(b"Lunch", b"\xff\xfe")),
    "a thousand parameters": signed([(f"P{number}", "") for number in range(1000)]),
    "JSON": signed(GOOD, body=b'{"Body": "hi"}', **{"Content-Type": "application/json"}),
    "JSON with its hash": signed(
        [], "/webhooks/sms?bodySHA256=abc", b'{"Body": "hi"}', **{"Content-Type": "application/json"}
    ),
    "UTF-16 form": signed(GOOD, body=BODY, **{"Content-Type": f"{FORM}; charset=utf-16"}),
    "status without MessageStatus": signed(STATUS_FIELDS[:2], STATUS),
    "status of another account": signed([("AccountSid", "AC0"), *STATUS_FIELDS[1:]], STATUS),
    "status with two refs": signed(STATUS_FIELDS, STATUS + "?ref=a&ref=b"),
    "status with an odd ref": signed(STATUS_FIELDS, STATUS + "?ref=%00"),
    "status with an odd code": signed([*STATUS_FIELDS, ("ErrorCode", "x" * 99)], STATUS),
}


@asynccontextmanager
async def serve() -> AsyncIterator[Gateway]:
    """Serve the channel, with a sink that counts."""
    sink = MemorySink()
    async with serve_channel(make_channel(sink), sink) as served:
        yield served


CASES = HostileCases(
    serve=serve,
    good=Hostile(BODY, {"Content-Type": FORM, SIGNATURE: GOOD_SIGNATURE}),
    proof=SIGNATURE,
    forged=FORGED,
    malformed=MALFORMED,
    raw={},
    private=("Lunch", PERSON, TOKEN, GOOD_SIGNATURE),
)
_HEAD = CASES.head()
CASES.raw.update(
    {
        "absolute target of another host": CASES.whole(
            _HEAD.replace(b"/webhooks/sms", b"http://evil.example/webhooks/sms")
        ),
        "bytes that are not UTF-8 in the path": CASES.whole(_HEAD.replace(b"/sms", b"/sms?\xff")),
    }
)
