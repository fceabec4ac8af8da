"""When a condition fires: the result of a look, compared with earlier looks. Pure."""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import cast
from zoneinfo import ZoneInfo

from abilities.tasks.kinds.bounds import (
    MAX_TEXT,
    check_count,
    check_moment,
    check_number,
    check_object,
    check_size,
    check_text,
)
from abilities.tasks.kinds.expressions import check_expression, check_numbers, evaluate
from abilities.tasks.kinds.json_paths import check_bounded, check_path, find
from abilities.tasks.kinds.schedule import TriggerError, wall_moment
from abilities.tasks.kinds.step_limit import Steps
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, gettext_noop

NAMES = frozenset({"value", "previous", "result", "told"})
"""The names in an expression: `told` is the value in the last message to the person."""
SHORTEST_MINUTES, MAX_MINUTES = 1.0, 31 * 24 * 60.0
MAX_GAP_MINUTES = 366 * 24 * 60.0
MAX_BACKOFF = timedelta(days=1)
ONE_OF_TWO = gettext_noop("A condition looks either at a tool or at a web address.")
_OFTEN = gettext_noop("A condition is checked at most once a minute, and at least every 31 days.")
_GAP = gettext_noop("The gap between two messages is at most a year, in minutes.")
ERRORS_TOLD = 5
"""Consecutive failed looks after which the person gets a single message."""
_MAX_SEEN = 30
"""Looks that are remembered."""
_MAX_VALUE = 4000
"""Characters of a value, as JSON."""


class Mode(StrEnum):
    """Which looks that find the condition true fire."""

    EDGE = "edge"
    """The looks at which it becomes true."""
    LEVEL = "level"
    """All of them, with the gap between them."""


@dataclass(frozen=True, slots=True)
class ConditionTrigger:
    """Looks at a tool's result or a web address periodically, and fires when `expression` is true.

    `tool` is a tool of effect `read`, called with `arguments`. `path` is a JSONPath into the result that gives
    `value`; without it `value` is the whole result. After it fired, an edge fires again when the expression was false
    in between, or, with `reset`, when that was true in between (hysteresis), and after `min_gap_minutes`.
    """

    expression: str
    url: str | None = None
    tool: str | None = None
    arguments: JsonObject = field(default_factory=dict)
    path: str | None = None
    every_minutes: float = 15
    mode: Mode = Mode.EDGE
    reset: str = ""
    min_gap_minutes: float = 0
    until: datetime | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        for name in ("expression", "reset"):
            check_text(name, getattr(self, name))
        for name in ("url", "tool", "path"):
            if (text := getattr(self, name)) is not None:
                check_text(name, text)
        check_object("arguments", self.arguments)
        if (self.url is None) is (self.tool is None) or "" in (self.url, self.tool):
            raise TriggerError(gettext(ONE_OF_TWO))
        if self.url is not None and not self.url.startswith(("https://", "http://")):
            raise TriggerError(gettext("The address must begin with https://."))
        for text in (self.expression, self.reset):
            if text or text is self.expression:
                check_expression(text, NAMES)
        if self.path == "":
            raise TriggerError(gettext("The path is empty: leave it out to compare the whole result."))
        if self.path is not None:
            check_path(self.path)
        check_number(self.every_minutes, SHORTEST_MINUTES, MAX_MINUTES, _OFTEN)
        check_number(self.min_gap_minutes, 0, MAX_GAP_MINUTES, _GAP)
        check_moment("until", self.until)
        check_count(self.count)
        if not isinstance(self.mode, Mode):
            raise TriggerError(gettext("A condition fires by one of: {modes}.", modes=", ".join(Mode)))

    def check_bounded(self) -> None:
        """Refuse a trigger without bounded work. Older rows may have none: their looks take counted steps."""
        check_size("arguments", self.arguments)
        for name in ("url", "tool"):
            if (text := getattr(self, name)) is not None:
                check_text(name, text, MAX_TEXT)
        for text in (self.expression, self.reset):
            if text:
                check_numbers(text)
        if self.path is not None:
            check_bounded(self.path)

    def value_of(self, result: Json, steps: Steps) -> Json:
        """Return the part of a result to compare; raises `TriggerError` if the path finds nothing."""
        if self.path is None:
            return result
        for value in find(self.path, result, steps):
            return value
        raise self.nothing_found()

    def nothing_found(self) -> TriggerError:
        """Return why there is nothing to compare."""
        return TriggerError(gettext("{path} finds nothing in the result.", path=self.path))


@dataclass(frozen=True, slots=True)
class Watch:
    """The state between looks. `armed`: the next look that finds it true fires.

    `seen` are the last looks as JSON: at, value, true, told, or error.
    """

    value: Json = None
    looked: bool = False
    told: Json = None
    told_at: datetime | None = None
    armed: bool = True
    errors: int = 0
    seen: tuple[JsonObject, ...] = ()

    def to_json(self) -> JsonObject:
        told_at = self.told_at.isoformat() if self.told_at else None
        return asdict(self) | {"told_at": told_at, "seen": list(self.seen)}

    @classmethod
    def from_json(cls, stored: JsonObject) -> "Watch":
        """Parse the stored form; `{}` before the first look."""
        told_at = stored.get("told_at")
        return cls(
            value=stored.get("value"),
            looked=bool(stored.get("looked")),
            told=stored.get("told"),
            told_at=datetime.fromisoformat(str(told_at)) if told_at else None,
            armed=bool(stored.get("armed", True)),
            errors=int(cast(int, stored.get("errors", 0))),
            seen=tuple(cast("list[JsonObject]", stored.get("seen") or [])),
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """The outcome of a look: whether it fires, the values before and now, and why it does not fire."""

    watch: Watch
    fires: bool = False
    old: Json = None
    new: Json = None
    reason: str = ""


def judge(trigger: ConditionTrigger, watch: Watch, result: Json, now: datetime, steps: Steps | None = None) -> Judged:
    """Judge the result of a look. It never raises: a result that cannot be judged is a failed look."""
    steps = steps or Steps()
    try:
        value = _bounded(trigger.value_of(result, steps))
    except TriggerError as error:
        return failed(watch, str(error), now)
    try:
        # Before the first look there is no other value: `value < previous` is not true yet, rather than an error.
        previous = watch.value if watch.looked else value
        names = {"value": value, "previous": previous, "result": result, "told": watch.told}
        true = evaluate(trigger.expression, names, steps)
        rearmed = not true if not trigger.reset else evaluate(trigger.reset, names, steps)
    except TriggerError as error:
        # A number that is gone is often still there as null, with which nothing can be compared.
        return failed(watch, str(trigger.nothing_found() if value is None and trigger.path else error), now)
    armed = watch.armed or rearmed or trigger.mode is Mode.LEVEL
    early = watch.told_at is not None and now < watch.told_at + timedelta(minutes=trigger.min_gap_minutes)
    fires = true and armed and not early
    reason = "" if fires else _why_not(true=true, armed=armed)
    seen: JsonObject = {"at": now.isoformat(), "value": value, "true": true, "told": fires}
    after = replace(
        watch, value=value, looked=True, errors=0, armed=armed and not fires, seen=(*watch.seen, seen)[-_MAX_SEEN:]
    )
    if fires:
        after = replace(after, told=value, told_at=now)
    return Judged(after, fires, old=watch.value, new=value, reason=reason)


def _why_not(*, true: bool, armed: bool) -> str:
    if not true:
        return gettext("not true")
    return gettext("too soon after the last") if armed else gettext("told already")


def failed(watch: Watch, why: str, now: datetime) -> Judged:
    seen: JsonObject = {"at": now.isoformat(), "error": why[:300]}
    return Judged(replace(watch, errors=watch.errors + 1, seen=(*watch.seen, seen)[-_MAX_SEEN:]), reason=why)


def next_look(trigger: ConditionTrigger, watch: Watch, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the next look, later and later while looks fail; None when none is due before `until`, a wall time."""
    span = timedelta(minutes=trigger.every_minutes)
    if watch.errors:
        span = min(span * 2 ** min(watch.errors - 1, 12), max(MAX_BACKOFF, span))
    due = now + span
    return None if trigger.until is not None and due > wall_moment(trigger.until, zone) else due


def tells_all(trigger: ConditionTrigger, value: Json) -> bool:
    """Return whether it fires by nothing but a yes or no: that it fires then says all about the value."""
    return isinstance(value, bool) and trigger.expression in ("value", "not value")


def _bounded(value: Json) -> Json:
    if len(json.dumps(value, ensure_ascii=False)) > _MAX_VALUE:
        raise TriggerError(gettext("The result is too long to compare: name a part of it with a path."))
    return value
