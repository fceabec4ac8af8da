"""Requests that are not Twilio's, or not what Twilio sends: all 4xx, nothing accepted, nothing logged as ours."""

import asyncio
import logging
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest
from structlog.testing import capture_logs

from tests.channels.sms.builders import FORM, MESSAGE_SID, PERSON, SID, TOKEN, Gateway, Pairs, signature, webhook

SIGNATURE = "X-Twilio-Signature"


@dataclass(frozen=True)
class Hostile:
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    method: str = "POST"
    path: str = "/webhooks/sms"


def signed(pairs: Pairs, path: str = "/webhooks/sms", body: bytes | None = None, **headers: str) -> Hostile:
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
    "multipart": signed(GOOD, body=b"--x\r\n\r\nhi\r\n--x--", **{"Content-Type": "multipart/form-data; boundary=x"}),
    "no content type": signed(GOOD, body=BODY, **{"Content-Type": ""}),
    "UTF-16 form": signed(GOOD, body=BODY, **{"Content-Type": f"{FORM}; charset=utf-16"}),
    "compressed": signed(GOOD, body=b"x\x9c\x03\x00", **{"Content-Encoding": "deflate"}),
    "larger than 256 KiB": signed(GOOD, body=BODY + b"&P=" + b"x" * 300_000),
    "GET": Hostile(b"", {SIGNATURE: GOOD_SIGNATURE}, method="GET"),
    "PUT": Hostile(BODY, {SIGNATURE: GOOD_SIGNATURE}, method="PUT"),
    "another path": Hostile(BODY, {SIGNATURE: GOOD_SIGNATURE}, path="/webhooks/smss"),
    "status without MessageStatus": signed(STATUS_FIELDS[:2], STATUS),
    "status of another account": signed([("AccountSid", "AC0"), *STATUS_FIELDS[1:]], STATUS),
    "status with two refs": signed(STATUS_FIELDS, STATUS + "?ref=a&ref=b"),
    "status with an odd ref": signed(STATUS_FIELDS, STATUS + "?ref=%00"),
    "status with an odd code": signed([*STATUS_FIELDS, ("ErrorCode", "x" * 99)], STATUS),
}

_HEAD = (
    b"POST /webhooks/sms HTTP/1.1\r\nHost: valet.example.com\r\nConnection: close\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n"
)
_SIGNED_HEAD = _HEAD + f"X-Twilio-Signature: {GOOD_SIGNATURE}\r\n".encode()
_LENGTH = f"Content-Length: {len(BODY)}\r\n\r\n".encode()

RAW = {
    "chunked garbage": _SIGNED_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nnonsense\r\n",
    "chunk of negative size": _SIGNED_HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n",
    "length and chunks": _SIGNED_HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": _SIGNED_HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "length no number": _SIGNED_HEAD + b"Content-Length: five\r\n\r\nhello",
    "signature twice": _SIGNED_HEAD + f"X-Twilio-Signature: {GOOD_SIGNATURE}\r\n".encode() + _LENGTH + BODY,
    "good signature, then a bad one": _SIGNED_HEAD + b"X-Twilio-Signature: AAAA\r\n" + _LENGTH + BODY,
    "raw bytes in the signature": _HEAD + b"X-Twilio-Signature: \xff\xfe\xfa\r\n" + _LENGTH + BODY,
    "absolute target of another host": _SIGNED_HEAD.replace(b"/webhooks/sms", b"http://evil.example/webhooks/sms")
    + _LENGTH
    + BODY,
    "bytes that are not UTF-8 in the path": _SIGNED_HEAD.replace(b"/sms", b"/sms?\xff") + _LENGTH + BODY,
    "header of 100 kB": _SIGNED_HEAD + b"X-Long: " + b"x" * 100_000 + b"\r\n\r\n",
    "a thousand headers": _SIGNED_HEAD + b"X-Many: 1\r\n" * 1000 + b"\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n",
    "HTTP/9.9": b"POST /webhooks/sms HTTP/9.9\r\n\r\n",
}


def test_promise_12_the_list_of_hostile_requests_is_long_enough() -> None:
    assert len(FORGED) + len(MALFORMED) + len(RAW) >= 70


def test_promise_12_the_resplit_cases_do_carry_a_right_signature() -> None:
    for text, (first, value, second, rest) in {
        "Dinner on Friday?": ("Body", "", "Dinner on Friday?", ""),
        "Dinner or Drinks on Friday?": ("Body", "Dinner or ", "Drinks", " on Friday?"),
        "yes": ("Bod", "yyes", "Zed", ""),
    }.items():
        moved = [pair for pair in resplit(first, value, second, rest) if pair != ("Zed", "")]
        assert signature(moved) == signature(webhook(Body=text))


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
    for private in ("Lunch", PERSON, TOKEN, GOOD_SIGNATURE):
        assert private not in said
