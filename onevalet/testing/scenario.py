"""A conversation as a file: what it holds, and what is wrong with it. docs/testing.md tells the format."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from core.errors import ConfigError
from core.json_types import JsonObject, object_in

SUFFIXES = (".scenario.toml", ".scenario.json")
CHANNELS = ("sms", "slack", "telegram")
WITHIN = 20.0
"""Seconds of the machine's time that an expected message may take."""

type Verb = Literal["send", "expect", "press", "answer", "call", "advance", "fault", "silence"]

_OPTIONS: Mapping[str, frozenset[str]] = {
    "send": frozenset({"channel", "person"}),
    "expect": frozenset({"channel", "person", "buttons", "within"}),
    "press": frozenset({"channel", "person"}),
    "answer": frozenset(),
    "call": frozenset({"with"}),
    "advance": frozenset(),
    "fault": frozenset({"kind", "times", "share", "seconds", "status", "location"}),
    "silence": frozenset({"channel", "person"}),
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
        return f"step {self.number} ({self.verb} = {json.dumps(self.value, ensure_ascii=False)})"

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what an expected message contains."""
        return (self.value,) if isinstance(self.value, str) else tuple(self.value)

    @property
    def span(self) -> timedelta:
        """Return how far the clock is moved."""
        return read_span(self.value)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A conversation to play. `model` is `demo`, or `scripted` where steps say what it answers."""

    title: str
    steps: tuple[Step, ...]
    channel: str = "sms"
    person: str = "ada"
    model: Literal["demo", "scripted"] = "demo"
    plugins: tuple[str, ...] = ("agents",)
    start: datetime | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file, TOML or JSON by its name; raise `ScenarioError` that says what is wrong and where."""
    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise ScenarioError(f"The scenario {path.name} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise ScenarioError(f"The scenario {path.name} cannot be read: {error}.") from error
    if not isinstance(values, dict):
        raise ScenarioError(f"The scenario {path.name} must be an object with a list of steps.")
    return parse_scenario(values, path)


def parse_scenario(values: Mapping[str, Any], path: Path | None = None) -> Scenario:
    """Check a scenario's values, as a file holds them; raise `ScenarioError`."""
    known = {"title", "channel", "person", "model", "plugins", "start", "settings", "step"}
    if strange := sorted(values.keys() - known):
        raise ScenarioError(f"A scenario has no {strange[0]!r}; it has {', '.join(sorted(known))}.")
    written = values.get("step", [])
    if not isinstance(written, list) or not written:
        raise ScenarioError("A scenario needs steps: [[step]] in TOML, a list `step` in JSON.")
    steps = tuple(_step(number, step) for number, step in enumerate(written, 1))
    scripted = any(step.verb in ("answer", "call") for step in steps)
    model = values.get("model", "scripted" if scripted else "demo")
    if model not in ("demo", "scripted") or (scripted and model == "demo"):
        raise ScenarioError("`model` is demo, or scripted where steps say what the model answers.")
    return Scenario(
        title=str(values.get("title") or (path.name.partition(".")[0] if path else "")),
        steps=steps,
        channel=_channel(values.get("channel", "sms"), "`channel`"),
        person=str(values.get("person", "ada")),
        model=model,
        plugins=_texts(values.get("plugins", ["agents"]), "`plugins`"),
        start=_moment(values.get("start")),
        settings={str(name): str(value) for name, value in dict(values.get("settings", {})).items()},
        path=path,
    )


def read_span(text: object) -> timedelta:
    """Read a span such as `9h 30m`, `2d` or `45s`; raise `ScenarioError` for anything else."""
    parts = re.fullmatch(r"(\s*\d+\s*[dhms])+\s*", text) if isinstance(text, str) else None
    if parts is None or not isinstance(text, str):
        raise ScenarioError(f"{text!r} is no span: write days, hours, minutes and seconds, such as 1d 2h 30m 5s.")
    found = re.findall(r"(\d+)\s*([dhms])", text)
    return sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in found), timedelta())


def _step(number: int, values: object) -> Step:
    if not isinstance(values, dict):
        raise ScenarioError(f"Step {number} is no table.")
    verbs = [verb for verb in get_args(Verb.__value__) if verb in values]
    if len(verbs) != 1:
        raise ScenarioError(f"Step {number} must have exactly one of {', '.join(get_args(Verb.__value__))}.")
    verb: Verb = verbs[0]
    options = {name: value for name, value in values.items() if name != verb}
    if strange := sorted(options.keys() - _OPTIONS[verb]):
        raise ScenarioError(f"Step {number}: {verb} has no {strange[0]!r}.")
    if "channel" in options:
        _channel(options["channel"], f"Step {number}: `channel`")
    step = Step(number, verb, values[verb], options)
    try:
        _check(step)
    except ScenarioError as error:
        raise ScenarioError(f"Step {number}: {error}") from None
    return step


def _check(step: Step) -> None:
    match step.verb:
        case "advance":
            step.span  # noqa: B018 - it raises where it is none
        case "silence":
            if isinstance(step.value, bool) or not isinstance(step.value, int | float) or step.value <= 0:
                raise ScenarioError("`silence` is a number of seconds.")
        case "expect":
            _texts([step.value] if isinstance(step.value, str) else step.value, "`expect`")
            _texts(step.options.get("buttons", []), "`buttons`")
        case "call":
            if not isinstance(step.options.get("with", {}), dict):
                raise ScenarioError("`with` is a table of arguments.")
            _needs_text(step)
        case _:
            _needs_text(step)


def _needs_text(step: Step) -> None:
    if not isinstance(step.value, str) or not step.value:
        raise ScenarioError(f"`{step.verb}` is a text.")


def arguments_of(step: Step) -> JsonObject:
    """Return the arguments of a `call` as JSON; days and times are written as texts."""
    return object_in(json.dumps(step.options.get("with", {}), default=str))


def _channel(value: object, what: str) -> str:
    if value not in CHANNELS:
        raise ScenarioError(f"{what} must be one of {', '.join(CHANNELS)}.")
    return str(value)


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ScenarioError(f"{what} is a list of texts.")
    return tuple(value)


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise ScenarioError("`start` is a moment such as 2027-01-04T09:00:00Z.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
