"""Triggers as the database keeps them."""

from dataclasses import asdict, fields
from datetime import datetime
from enum import StrEnum
from typing import cast

from core.json_types import Json, JsonObject
from core.triggers.condition import ConditionTrigger, Mode
from core.triggers.event import EventTrigger
from core.triggers.schedule import Missed, ScheduleTrigger, TriggerError

type Trigger = ScheduleTrigger | EventTrigger | ConditionTrigger


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


def kind_of(trigger: Trigger) -> Kind:
    """Tell a trigger's kind."""
    return next(kind for kind, of in _KINDS.items() if isinstance(trigger, of))


def trigger_to_json(trigger: Trigger) -> JsonObject:
    """Write a trigger down; what is empty is left out."""
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


def _written(value: object) -> Json:
    return value.isoformat() if isinstance(value, datetime) else cast(Json, value)


def _read(name: str, value: Json) -> object:
    if name in _MOMENTS and isinstance(value, str):
        return datetime.fromisoformat(value)
    if name == "missed":
        return Missed(str(value))
    return Mode(str(value)) if name == "mode" else value
