"""One step of a scenario: what it may say, and what is wrong with it. docs/testing.md tells the format."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, get_args

from core.errors import ConfigError
from core.json_types import JsonObject, object_in
from core.people.access_policy import PersonRole

CHANNELS = ("sms", "slack", "telegram")
MAIL = "mail"
"""Where what was mailed is read: only `expect` and `silence` may name it."""
BREAKS = ("worker", "web", "postgres", "redis", "model fails", "model hangs", "model works")
"""What a `break` breaks; the last one puts the model right again."""

type Verb = Literal[
    "send",
    "file",
    "fill",
    "press",
    "expect",
    "silence",
    "answer",
    "call",
    "calls",
    "advance",
    "event",
    "admit",
    "fault",
    "break",
]

_PLACE = frozenset({"channel", "person"})
_ACT = _PLACE | {"pause"}
_OPTIONS: Mapping[str, frozenset[str]] = {
    "send": _ACT,
    "file": _ACT | {"text", "content", "base64", "type"},
    "fill": _ACT,
    "press": _ACT,
    "expect": _PLACE | {"buttons", "within"},
    "silence": _PLACE,
    "answer": frozenset(),
    "call": frozenset({"with", "beside"}),
    "calls": frozenset({"beside"}),
    "advance": frozenset({"pause"}),
    "event": frozenset({"source", "with", "pause"}),
    "admit": frozenset({"role", "pause"}),
    "fault": frozenset({"kind", "times", "share", "seconds", "status", "location", "pause"}),
    "break": frozenset({"pause"}),
}
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


class ScenarioError(ConfigError):
    """A scenario that cannot be read, or that went otherwise; the message names the file's step."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a verb, its value, and the options of that verb. `number` counts from 1."""

    number: int
    verb: Verb
    value: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"step {self.number} ({self.verb} = {json.dumps(self.value, ensure_ascii=False, default=str)})"

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what an expected message contains."""
        return (self.value,) if isinstance(self.value, str) else tuple(self.value)

    @property
    def span(self) -> timedelta:
        """Return how far the clock is moved."""
        return read_span(self.value)

    @property
    def pause(self) -> float:
        """Return how many seconds passed before it when it was recorded."""
        return float(self.options.get("pause", 0))

    @property
    def scripted(self) -> bool:
        """Tell whether it is an answer of the model."""
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


def read_step(number: int, values: object) -> Step:
    """Return a step from its table; raise `ScenarioError`, which names its number."""
    if not isinstance(values, dict):
        raise ScenarioError(f"Step {number} is no table.")
    verbs = [verb for verb in get_args(Verb.__value__) if verb in values]
    if len(verbs) != 1:
        raise ScenarioError(f"Step {number} must have exactly one of {', '.join(get_args(Verb.__value__))}.")
    verb: Verb = verbs[0]
    options = {name: value for name, value in values.items() if name != verb}
    if strange := sorted(options.keys() - _OPTIONS[verb]):
        raise ScenarioError(f"Step {number}: {verb} has no {strange[0]!r}.")
    step = Step(number, verb, values[verb], options)
    try:
        _check(step)
    except ScenarioError as error:
        raise ScenarioError(f"Step {number}: {error}") from None
    return step


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


def _check(step: Step) -> None:
    _check_options(step)
    match step.verb:
        case "advance":
            step.span  # noqa: B018 - it raises where it is none
        case "silence":
            _needs_seconds(step.value, "`silence`")
        case "expect":
            texts_in([step.value] if isinstance(step.value, str) else step.value, "`expect`")
            texts_in(step.options.get("buttons", []), "`buttons`")
        case "calls":
            _check_calls(step.value)
        case "fill":
            _needs_table(step.value, "`fill`")
        case "answer":
            if not isinstance(step.value, str):
                raise ScenarioError("`answer` is a text.")
        case _:
            _needs_text(step)
            _check_more(step)


def _check_more(step: Step) -> None:
    """Check what a step with a text has besides."""
    match step.verb:
        case "call" | "event":
            _needs_table(step.options.get("with", {}), "`with`")
        case "file":
            _check_content(step)
        case "admit":
            _needs_role(step.options.get("role", PersonRole.MEMBER))
        case "break":
            if step.value not in BREAKS:
                raise ScenarioError(f"`break` must be one of {', '.join(BREAKS)}.")


def _check_options(step: Step) -> None:
    reads_mail = step.verb in ("expect", "silence") and step.options.get("channel") == MAIL
    if "channel" in step.options and not reads_mail:
        channel_in(step.options["channel"], "`channel`")
    if "pause" in step.options and step.options["pause"] != 0:
        _needs_seconds(step.options["pause"], "`pause`")
    if "within" in step.options:
        _needs_seconds(step.options["within"], "`within`")


def _check_calls(value: object) -> None:
    if not isinstance(value, list) or not value:
        raise ScenarioError("`calls` is a list of tables, each with a `name` and perhaps `with`.")
    for one in value:
        if not isinstance(one, dict) or not isinstance(one.get("name"), str) or one.keys() - {"name", "with"}:
            raise ScenarioError("`calls` is a list of tables, each with a `name` and perhaps `with`.")
        _needs_table(one.get("with", {}), "`with`")


def _check_content(step: Step) -> None:
    if ("content" in step.options) == ("base64" in step.options):
        raise ScenarioError("a file has either `content`, which is a text, or `base64`.")
    try:
        step.data  # noqa: B018 - it raises where it is none
    except (ValueError, binascii.Error):
        raise ScenarioError("`base64` cannot be decoded.") from None


def _needs_text(step: Step) -> None:
    if not isinstance(step.value, str) or not step.value:
        raise ScenarioError(f"`{step.verb}` is a text.")


def _needs_table(value: object, what: str) -> None:
    if not isinstance(value, dict):
        raise ScenarioError(f"{what} is a table.")


def _needs_role(value: object) -> None:
    if value not in set(PersonRole):
        raise ScenarioError(f"`role` is one of {', '.join(PersonRole)}.")


def _needs_seconds(value: object, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ScenarioError(f"{what} is a number of seconds.")


def _as_json(values: object) -> JsonObject:
    """Return arguments as JSON; days and times are written as texts."""
    return object_in(json.dumps(values, default=str))
