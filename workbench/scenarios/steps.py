"""A step of a scenario: its values, and its errors. docs/testing.md describes the format."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, get_args

from core.errors import ConfigError
from core.json_types import JsonObject, object_in

CHANNELS = ("sms", "slack", "telegram")
MAIL = "mail"
"""The channel of sent mail: only `expect` and `silence` may name it."""
SURFACES = ("home", "form")
"""Places besides the chat at which a person may press and read in Slack."""
GROUP = "group"
"""The simulated group, in which people write and read: Telegram's, or Slack's channel."""

type Verb = Literal[
    "send",
    "file",
    "fill",
    "press",
    "choose",
    "edit",
    "delete",
    "open",
    "close",
    "react",
    "location",
    "move",
    "unshare",
    "contact",
    "sticker",
    "block",
    "phone",
    "callbacks",
    "redeliver",
    "expect",
    "silence",
    "answer",
    "call",
    "calls",
    "advance",
    "wait",
    "event",
    "join",
    "admit",
    "fault",
    "break",
]
ONLY_ON: Mapping[str, tuple[str, ...]] = {
    "fill": ("slack",),
    "choose": ("slack",),
    "edit": ("slack", "telegram"),
    "delete": ("slack",),
    "open": ("slack",),
    "close": ("slack",),
    "location": ("telegram",),
    "move": ("telegram",),
    "unshare": ("telegram",),
    "contact": ("telegram",),
    "sticker": ("telegram",),
    "block": ("telegram",),
    "phone": ("sms",),
    "callbacks": ("sms",),
    "redeliver": ("sms", "telegram"),
}
"""Acts that only these channels offer."""

_PLACE = frozenset({"channel", "person"})
_ACT = _PLACE | {"pause"}
_OPTIONS: Mapping[str, frozenset[str]] = {
    "send": _ACT | {"reply_to", "on", "mention"},
    "file": _ACT | {"text", "content", "base64", "type", "voice", "says", "reply_to"},
    "fill": _ACT,
    "press": _ACT | {"on", "message"},
    "choose": _ACT | {"on", "message", "menu"},
    "edit": _ACT | {"message"},
    "delete": _ACT,
    "open": _ACT,
    "close": _ACT,
    "react": _ACT | {"message", "taken_back"},
    "location": _ACT,
    "move": _ACT,
    "unshare": _ACT,
    "contact": _ACT,
    "sticker": _ACT,
    "block": _ACT,
    "phone": _ACT,
    "callbacks": _ACT,
    "redeliver": _ACT,
    "expect": _PLACE | {"buttons", "within", "on", "reply_to"},
    "silence": _PLACE,
    "answer": frozenset(),
    "call": frozenset({"with", "beside"}),
    "calls": frozenset({"beside"}),
    "advance": frozenset({"pause"}),
    "wait": frozenset({"pause", "within"}),
    "event": frozenset({"source", "with", "pause"}),
    "join": frozenset({"pause"}),
    "admit": frozenset({"role", "channel", "pause"}),
    "fault": frozenset({"kind", "times", "share", "seconds", "status", "location", "pause"}),
    "break": frozenset({"pause"}),
}
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


class ScenarioError(ConfigError):
    """A scenario is invalid, or a step of it differs; the message names the step of the file."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step: a verb, its value, and the options of that verb. `number` counts from 1."""

    number: int
    verb: Verb
    value: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"step {self.number} ({self.verb} = {json.dumps(self.value, ensure_ascii=False, default=str)})"

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of an expected message."""
        return as_texts(self.value)

    def option_texts(self, name: str) -> tuple[str, ...]:
        """Return the words by which an option names a message; none if the option is absent."""
        return as_texts(self.options.get(name, ()))

    @property
    def span(self) -> timedelta:
        """Return the time by which the clock is moved."""
        return read_span(self.value)

    @property
    def pause(self) -> float:
        """Return the seconds before it at its recording."""
        return float(self.options.get("pause", 0))

    @property
    def scripted(self) -> bool:
        """Return whether it is an answer of the model."""
        return self.verb in ("answer", "call", "calls")

    @property
    def calls(self) -> list[tuple[str, JsonObject]]:
        """Return the names and arguments of the calls that the model asks for."""
        if self.verb == "call":
            return [(self.value, _as_json(self.options.get("with", {})))]
        return [(one["name"], _as_json(one.get("with", {}))) for one in self.value]

    @property
    def data(self) -> bytes:
        """Return the content of a file."""
        if "base64" in self.options:
            return base64.b64decode(str(self.options["base64"]), validate=True)
        return str(self.options.get("content", "")).encode()


def parse_step(number: int, values: object) -> Step:
    """Return a step from its table, its values unchecked; raise `ScenarioError`, which names its number."""
    if not isinstance(values, dict):
        raise ScenarioError(f"Step {number} is no table.")
    verbs = [verb for verb in get_args(Verb.__value__) if verb in values]
    if len(verbs) != 1:
        raise ScenarioError(f"Step {number} must have exactly one of {', '.join(get_args(Verb.__value__))}.")
    verb: Verb = verbs[0]
    options = {name: value for name, value in values.items() if name != verb}
    if strange := sorted(options.keys() - _OPTIONS[verb]):
        raise ScenarioError(f"Step {number}: {verb} has no {strange[0]!r}.")
    return Step(number, verb, values[verb], options)


def read_span(text: object) -> timedelta:
    """Read a span such as `9h 30m`, `2d` or `45s`; raise `ScenarioError` for anything else."""
    parts = re.fullmatch(r"(\s*\d+\s*[dhms])+\s*", text) if isinstance(text, str) else None
    if parts is None or not isinstance(text, str):
        raise ScenarioError(f"{text!r} is no span: write days, hours, minutes and seconds, such as 1d 2h 30m 5s.")
    found = re.findall(r"(\d+)\s*([dhms])", text)
    return sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in found), timedelta())


def write_span(span: timedelta) -> str:
    """Write a span as `read_span` reads it, in whole seconds."""
    left, parts = max(round(span.total_seconds()), 0), []
    for unit, seconds in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, left = divmod(left, seconds)
        parts += [f"{count}{unit}"] if count else []
    return " ".join(parts) or "0s"


def channel_in(value: object, what: str) -> str:
    """Return a channel's name; raise `ScenarioError`."""
    if value not in CHANNELS:
        raise ScenarioError(f"{what} must be one of {', '.join(CHANNELS)}.")
    return str(value)


def texts_in(value: object, what: str) -> tuple[str, ...]:
    """Return a list of texts; raise `ScenarioError`."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ScenarioError(f"{what} is a list of texts.")
    return tuple(value)


def as_texts(value: Any) -> tuple[str, ...]:
    """Return a text or a list of texts as a tuple."""
    return (value,) if isinstance(value, str) else tuple(value)


def _as_json(values: object) -> JsonObject:
    """Return arguments as JSON; dates and times become strings."""
    return object_in(json.dumps(values, default=str))
