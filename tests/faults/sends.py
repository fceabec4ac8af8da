"""What the providers' journal says: what arrived at the gateway, and what left it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.json_types import Json, JsonObject
from tests.faults.journals import read
from tests.faults.script import TOKEN

_SENDS = {
    "twilio.messages.create": ("sms", "To"),
    "slack.chat.postMessage": ("slack", "channel"),
    "telegram.sendMessage": ("telegram", "chat_id"),
}
_UPLOADS = ("twilio.messages.create", "slack.files.completeUploadExternal", "telegram.sendDocument")
_FETCHES = {"sms": "twilio.media.fetch", "slack": "slack.files", "telegram": "telegram.getFile"}
RATE_LIMIT_SECONDS = 2.0
"""The Retry-After of every rate limit that a run asks for: the journal does not repeat a fault's headers."""
_FINAL = ("21610", "bot was blocked", "user is deactivated")


@dataclass(frozen=True, slots=True)
class Send:
    """One call that would show a person something. `status` is what the gateway was told, 0: nothing.

    `accepted`: the provider took it, whatever it told; `final`: it said that nothing may be sent any more.
    """

    at: float
    channel: str
    peer: str
    tokens: tuple[str, ...]
    text: str
    status: int
    accepted: bool
    retry_after: float
    final: bool


@dataclass(frozen=True, slots=True)
class Arrival:
    """One delivery of a person's text to the gateway."""

    at: float
    channel: str
    tokens: tuple[str, ...]
    status: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Return:
    """A person lets us write to them again, after a stop."""

    at: float
    channel: str
    peer: str


def sends(path: Path) -> list[Send]:
    """Return every such call, in the order in which the provider had it: one that hung is journalled when it ended."""
    calls = [
        call
        for call in read(path)
        if call["direction"] == "out" and str(call["endpoint"]) in _SENDS and "MediaUrl" not in str(call["request"])
    ]
    return [_send(call) for call in sorted(calls, key=lambda call: float(str(call["at"])))]


def arrivals(path: Path) -> list[Arrival]:
    """Return every delivery of a text."""
    return list(_arrivals(path))


def returns(path: Path) -> list[Return]:
    """Return every START by SMS, and every unblocking on Telegram."""
    return [found for call in read(path) if call["direction"] == "in" and (found := _return(call))]


def downloads(path: Path, channel: str, file: str) -> int:
    """Return how often a person's file was asked for, by the last part of its address."""
    return sum(
        call["endpoint"] == _FETCHES[channel] and file in str(_dict(call["request"]).get("url")) for call in read(path)
    )


def uploads(path: Path, token: str) -> int:
    """Return how often a person was shown the file of a token."""
    shown = [call for call in read(path) if call["direction"] == "out" and str(call["endpoint"]) in _UPLOADS]
    files = [
        call for call in shown if call["endpoint"] != "twilio.messages.create" or "MediaUrl" in str(call["request"])
    ]
    return sum(f"{token}.csv" in str(call["request"]) and _took(_would(call)) for call in files)


def numbers(path: Path) -> dict[str, str]:
    """Return for each text by SMS its provider's number for it, and its token."""
    tokens: dict[str, str] = {}
    for call in read(path):
        body = _dict(_dict(call["request"]).get("body"))
        token = TOKEN.search(str(body.get("Body")))
        if call["direction"] == "in" and token and "MessageSid" in body:
            tokens[str(body["MessageSid"])] = token[0]
    return tokens


def _arrivals(path: Path) -> Iterator[Arrival]:
    for call in read(path):
        if call["direction"] != "in":
            continue
        tokens = tuple(dict.fromkeys(TOKEN.findall(json.dumps(_dict(call["request"]).get("body")))))
        # Status callbacks and the like hold no text of a person; what we said is not theirs either.
        if tokens and "status" not in str(_dict(call["request"]).get("url")):
            provider = "sms" if call["provider"] == "twilio" else str(call["provider"])
            took = float(str(call["duration_ms"]))
            yield Arrival(float(str(call["at"])), provider, tokens, int(str(call["status"])), took)


def _send(call: JsonObject) -> Send:
    channel, peer = _SENDS[str(call["endpoint"])]
    body, would = _dict(_dict(call["request"]).get("body")), _would(call)
    shown = json.dumps(_dict(call["answer"]))
    return Send(
        at=float(str(call["at"])) + float(str(call["duration_ms"])) / 1000,
        channel=channel,
        peer=str(body.get(peer, "")),
        tokens=tuple(dict.fromkeys(TOKEN.findall(json.dumps(body)))),
        text=str(body.get("Body") or body.get("markdown_text") or body.get("text") or ""),
        status=int(str(call["status"])),
        accepted=_took(would),
        retry_after=_retry_after(call),
        # A message's id may hold the number of any error.
        final=not _took(would) and any(word in shown for word in _FINAL),
    )


def _return(call: JsonObject) -> Return | None:
    at, body = float(str(call["at"])), _dict(_dict(call["request"]).get("body"))
    if body.get("Body") == "START":
        return Return(at, "sms", str(body.get("From")))
    change = _dict(body.get("my_chat_member"))
    if _dict(change.get("new_chat_member")).get("status") == "member":
        return Return(at, "telegram", str(_dict(change.get("chat")).get("id")))
    return None


def _would(call: JsonObject) -> JsonObject:
    answer = _dict(call["answer"])
    return _dict(answer.get("would_have_answered")) if "fault" in answer else answer


def _took(answer: JsonObject) -> bool:
    status = answer.get("status")
    body = _dict(answer.get("body"))
    return isinstance(status, int) and 200 <= status < 300 and body.get("ok", True) is not False


def _retry_after(call: JsonObject) -> float:
    answer = _dict(call["answer"])
    if answer.get("fault") == "rate_limit":
        return RATE_LIMIT_SECONDS
    for name, value in _dict(answer.get("headers")).items():
        if call["status"] == 429 and name.lower() == "retry-after":
            return float(str(value))
    return 0.0


def _dict(value: Json | object) -> JsonObject:
    return value if isinstance(value, dict) else {}
