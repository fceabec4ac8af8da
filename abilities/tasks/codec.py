"""The stored form of triggers."""

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import cast

from abilities.tasks.kinds.condition import ConditionTrigger, Mode
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import Missed, ScheduleTrigger, TriggerError
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext

type Trigger = ScheduleTrigger | EventTrigger | ConditionTrigger


@dataclass(frozen=True, slots=True)
class UnreadableTrigger:
    """A trigger that an older version stored and this version refuses: never due, but it can be listed and deleted."""

    kind: str
    stored: JsonObject

    @property
    def why(self) -> str:
        """Return why it is refused, in a sentence of the person's language, or the name of an unforeseen error."""
        try:
            trigger_from_json(self.kind, self.stored)
        except TriggerError as error:
            return str(error)
        except Exception as error:
            return type(error).__name__
        return ""


type StoredTrigger = Trigger | UnreadableTrigger


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
_OPTIONAL_TEXTS = ("timezone", "url", "tool", "path")
"""Texts that callers may leave empty instead of leaving them out."""
_INTEGERS = ("count", "jitter_seconds", "days_before", "every")
"""Integers, which a model may write with a decimal point."""


def kind_of(trigger: Trigger) -> Kind:
    return next(kind for kind, trigger_type in _KINDS.items() if isinstance(trigger, trigger_type))


def trigger_to_json(trigger: StoredTrigger) -> JsonObject:
    """Return the stored form of a trigger, without empty fields."""
    if isinstance(trigger, UnreadableTrigger):
        return trigger.stored
    plain = {name: _written(value) for name, value in asdict(trigger).items()}
    return {name: value for name, value in plain.items() if value not in (None, "", {})}


def trigger_from_json(kind: str, stored: JsonObject) -> Trigger:
    """Parse the stored form; raises `TriggerError` if it makes no sense."""
    if kind not in tuple(Kind):
        sentence = gettext("There is no kind of trigger “{kind}”.", kind=kind)
        raise TriggerError(sentence, note=f"The kinds are {', '.join(Kind)}.")
    trigger_type = _KINDS[Kind(kind)]
    names = {field.name for field in fields(trigger_type)}
    try:
        values = {name: _read(name, value) for name, value in stored.items() if name in names}
        return trigger_type(**values)  # type: ignore[arg-type]
    except TriggerError:
        raise
    except (TypeError, ValueError) as error:
        raise TriggerError(gettext("The trigger is incomplete, or one of its values cannot be read.")) from error


def stored_trigger(kind: str, stored: JsonObject) -> StoredTrigger:
    """Parse a row's trigger. It never raises: a row that cannot be parsed must not hide the others."""
    try:
        return trigger_from_json(kind, stored)
    except Exception:
        return UnreadableTrigger(kind, stored)


def _written(value: object) -> Json:
    return value.isoformat() if isinstance(value, datetime) else cast(Json, value)


def _read(name: str, value: Json) -> object:
    if name in _MOMENTS and isinstance(value, str):
        return datetime.fromisoformat(value)
    if name in _OPTIONAL_TEXTS and value == "":
        return None
    if name == "missed":
        return Missed(str(value))
    if name in _INTEGERS and isinstance(value, float) and value.is_integer():
        return int(value)
    return Mode(str(value)) if name == "mode" else value
