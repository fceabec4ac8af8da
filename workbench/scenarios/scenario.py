"""A conversation as a file: its contents, and its errors. docs/testing.md describes the format."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from core.json_types import JsonObject, object_in
from workbench.scenarios.step_checks import read_step
from workbench.scenarios.steps import CHANNELS as CHANNELS
from workbench.scenarios.steps import ScenarioError as ScenarioError
from workbench.scenarios.steps import Step as Step
from workbench.scenarios.steps import channel_in, texts_in
from workbench.scenarios.steps import read_span as read_span

WITHIN = 20.0
"""Seconds of the machine's time that an expected message may take."""
_KNOWN = frozenset(
    (
        "title",
        "about",
        "channel",
        "channels",
        "person",
        "model",
        "plugins",
        "start",
        "settings",
        "web",
        "calendar",
        "step",
    )
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A conversation to play. `model` is `demo`, or `scripted` if steps hold its answers.

    `channels` are those that it can be played on, its own first. `web` has the answers of a server, by path.
    """

    title: str
    steps: tuple[Step, ...]
    channel: str = "sms"
    person: str = "ada"
    model: Literal["demo", "scripted"] = "demo"
    plugins: tuple[str, ...] = ("agents",)
    start: datetime | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None
    about: str = ""
    channels: tuple[str, ...] = ()
    web: Mapping[str, JsonObject] = field(default_factory=dict)
    calendar: bool = False
    """Whether the person has connected a calendar, which is empty."""


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file, TOML or JSON by its name; raise `ScenarioError` that names the error and its place."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioError(f"The scenario {path.name} cannot be read: {error.strerror}.") from error
    return read_text(text, path)


def read_text(text: str, path: Path) -> Scenario:
    """Read a scenario from the text of its file; raise `ScenarioError` that names the error and its place."""
    try:
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise ScenarioError(f"The scenario {path.name} cannot be read: {error}.") from error
    if not isinstance(values, dict):
        raise ScenarioError(f"The scenario {path.name} must be an object with a list of steps.")
    return parse_scenario(values, path)


def parse_scenario(values: Mapping[str, Any], path: Path | None = None) -> Scenario:
    """Check a scenario's values, as a file holds them; raise `ScenarioError`."""
    if strange := sorted(values.keys() - _KNOWN):
        raise ScenarioError(f"A scenario has no {strange[0]!r}; it has {', '.join(sorted(_KNOWN))}.")
    written = values.get("step", [])
    if not isinstance(written, list) or not written:
        raise ScenarioError("A scenario needs steps: [[step]] in TOML, a list `step` in JSON.")
    steps = tuple(read_step(number, step) for number, step in enumerate(written, 1))
    scripted = any(step.scripted for step in steps)
    model = values.get("model", "scripted" if scripted else "demo")
    if model not in ("demo", "scripted") or (scripted and model == "demo"):
        raise ScenarioError("`model` is demo, or scripted where steps say what the model answers.")
    channels = _channels(values)
    return Scenario(
        title=str(values.get("title") or (path.name.partition(".")[0] if path else "")),
        steps=steps,
        channel=channels[0],
        person=str(values.get("person", "ada")),
        model=model,
        plugins=texts_in(values.get("plugins", ["agents"]), "`plugins`"),
        start=_moment(values.get("start")),
        settings={str(name): str(value) for name, value in dict(values.get("settings", {})).items()},
        path=path,
        about=str(values.get("about", "")),
        channels=channels,
        web=_web(values.get("web", {})),
        calendar=_truth(values.get("calendar", False), "`calendar`"),
    )


def _channels(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the channels that it can be played on, its own first."""
    named = [channel_in(name, "`channels`") for name in texts_in(values.get("channels", []), "`channels`")]
    own = channel_in(values.get("channel", named[0] if named else "sms"), "`channel`")
    return (own, *(name for name in named if name != own))


def _web(value: object) -> Mapping[str, JsonObject]:
    paths = value if isinstance(value, dict) else {"": value}
    if not all(str(path).startswith("/") and isinstance(answer, dict) for path, answer in paths.items()):
        raise ScenarioError('`web` is a table of answers by path, such as "/v1/search" = { results = [] }.')
    return {str(path): object_in(json.dumps(answer, default=str)) for path, answer in paths.items()}


def _truth(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise ScenarioError(f"{what} is true or false.")
    return value


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise ScenarioError("`start` is a moment such as 2027-01-04T09:00:00Z.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
