"""Triggers as the database keeps them."""

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import cast

from core.json_types import Json, JsonObject
from core.triggers.kinds.condition import ConditionTrigger, Mode
from core.triggers.kinds.event import EventTrigger
from core.triggers.kinds.schedule import Missed, ScheduleTrigger, TriggerError

type Trigger = ScheduleTrigger | EventTrigger | ConditionTrigger


@dataclass(frozen=True, slots=True)
class UnreadableTrigger:
    """A trigger that an older version kept and this one refuses: never due, but listed, explained and deleted."""

    kept: JsonObject
    why: str


type KeptTrigger = Trigger | UnreadableTrigger


class Kind(StrEnum):
    """The three kinds of trigger."""

    SCHEDULE = "schedule"
    EVENT = "event"
    CONDITION = "condition"


_KINDS: dict[Kind, type[ScheduleTrigger] | type[EventTrigger] | type[ConditionTrigger]] = {
    Kind.SCHEDULE: ScheduleTrigger,
    Kind.EVENT: EventTrigger,
    Kind.CONDITION: ConditionTrigger,
}
_MOMENTS = ("at", "start", "until")
_WHOLE = ("count", "jitter_seconds")
"""Whole numbers, which a model may write with a point."""


def kind_of(trigger: Trigger) -> Kind:
    """Tell a trigger's kind."""
    return next(kind for kind, of in _KINDS.items() if isinstance(trigger, of))


def trigger_to_json(trigger: KeptTrigger) -> JsonObject:
    """Write a trigger down; what is empty is left out."""
    if isinstance(trigger, UnreadableTrigger):
        return trigger.kept
    plain = {name: _written(value) for name, value in asdict(trigger).items()}
    return {name: value for name, value in plain.items() if value not in (None, "", {})}


def trigger_from_json(kind: str, kept: JsonObject) -> Trigger:
    """Read what `trigger_to_json` wrote; raises `TriggerError` where it makes no sense."""
    if kind not in tuple(Kind):
        raise TriggerError(f"A trigger is of the kind {', '.join(Kind)}, and not {kind!r}.")
    of = _KINDS[Kind(kind)]
    names = {one.name for one in fields(of)}
    try:
        values = {name: _read(name, value) for name, value in kept.items() if name in names}
        return of(**values)  # type: ignore[arg-type]
    except TriggerError:
        raise
    except (TypeError, ValueError) as error:
        raise TriggerError("This trigger lacks something, or a value of it cannot be read.") from error


def kept_trigger(kind: str, kept: JsonObject) -> KeptTrigger:
    """Read what a row holds; never raises, since one row that cannot be read must not hide the others."""
    try:
        return trigger_from_json(kind, kept)
    except Exception as error:
        return UnreadableTrigger(kept, str(error) if isinstance(error, TriggerError) else type(error).__name__)


def _written(value: object) -> Json:
    return value.isoformat() if isinstance(value, datetime) else cast(Json, value)


def _read(name: str, value: Json) -> object:
    if name in _MOMENTS and isinstance(value, str):
        return datetime.fromisoformat(value)
    if name == "missed":
        return Missed(str(value))
    if name in _WHOLE and isinstance(value, float) and value.is_integer():
        return int(value)
    return Mode(str(value)) if name == "mode" else value
