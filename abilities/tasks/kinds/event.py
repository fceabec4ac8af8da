"""Which events match a task. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import cast

from abilities.events.source_types import MAIL, MAIL_RECEIVED
from abilities.events.types import Event
from abilities.tasks.kinds.bounds import check_count, check_object, check_size, check_text
from abilities.tasks.kinds.json_paths import check_bounded, check_path, find
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.kinds.step_limit import CHARACTERS, FILTER_STEPS, Steps
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext

MAX_PATTERN = 200
MAX_FIELDS = 20
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "contains", "starts_with", "ends_with", "exists")


@dataclass(frozen=True, slots=True)
class EventTrigger:
    """Fires for each matching event of the tenant. `source` and `type` may have `*` and `?`.

    `filter` maps a field of the event's data, dotted (`sender.email`) or as JSONPath (`$.items[*].price`), to the
    required value, or to comparisons such as `{"gt": 100, "contains": "amazon"}`. All must hold; of several values that
    a path finds, a single match is enough. Words are compared without case by contains, starts_with and ends_with.
    """

    source: str = "*"
    type: str = "*"
    filter: JsonObject = field(default_factory=dict)
    count: int | None = None

    def __post_init__(self) -> None:
        check_text("source", self.source)
        check_text("type", self.type)
        check_object("filter", self.filter)
        if not self.source or not self.type:
            raise TriggerError(gettext("An event has a source and a type; write * for any."))
        check_count(self.count)
        for name, wanted in self.filter.items():
            check_text("field", name)
            if name.startswith("$"):
                check_path(name)
            if isinstance(wanted, dict) and (unknown := set(wanted) - set(OPERATORS)):
                sentence = gettext("There is no comparison “{name}”.", name=min(unknown))
                raise TriggerError(sentence, note=f"There are {', '.join(OPERATORS)}.")

    def check_bounded(self) -> None:
        """Refuse a filter without bounded work. Older rows may have such a filter: filters take counted steps."""
        check_text("source", self.source, MAX_PATTERN)
        check_text("type", self.type, MAX_PATTERN)
        check_size("filter", self.filter)
        if len(self.filter) > MAX_FIELDS:
            raise TriggerError(gettext("A filter has at most {number} fields.", number=MAX_FIELDS))
        for name in self.filter:
            if name.startswith("$"):
                check_bounded(name)

    def matches(self, event: Event, steps: Steps | None = None) -> bool:
        """Return whether an event matches. Raises `TriggerError` as `differs_in` does."""
        return not self.differs_in(event, steps)

    def differs_in(self, event: Event, steps: Steps | None = None) -> str:
        """Return the name of the first field in which an event differs; empty if it matches.

        Raises `TriggerError` for a filter that takes too many steps.
        """
        steps = steps or Steps(FILTER_STEPS)
        for name, pattern, text in (("source", self.source, event.source), ("type", self.type, event.type)):
            # Each `*` is tried along the whole text.
            steps.take(len(pattern) * (1 + len(text) // CHARACTERS))
            if not fnmatchcase(text, pattern):
                return name
        for name, wanted in self.filter.items():
            if not _holds(_values(name, event.data, steps), wanted, steps):
                return name
        return ""


def is_about_mail(trigger: EventTrigger) -> bool:
    """Return whether a trigger is about new mail by its own words, and not by a pattern that fits anything."""
    named = trigger.source == MAIL or trigger.type == MAIL_RECEIVED
    return named and fnmatchcase(MAIL, trigger.source) and fnmatchcase(MAIL_RECEIVED, trigger.type)


def _values(name: str, data: JsonObject, steps: Steps) -> list[Json]:
    if name.startswith("$"):
        return list(find(name, data, steps))
    steps.take(len(name))
    value: Json = data
    for part in name.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and len(part) < 10 and int(part) < len(value):
            value = value[int(part)]
        else:
            return []
    return [value]


def _holds(values: list[Json], wanted: Json, steps: Steps) -> bool:
    comparisons: Mapping[str, Json] = wanted if isinstance(wanted, dict) else {"eq": wanted}
    if "exists" in comparisons and bool(comparisons["exists"]) is not bool(values):
        return False
    rest = {name: other for name, other in comparisons.items() if name != "exists"}
    if not rest:
        return "exists" in comparisons
    if not values:
        return set(rest) == {"ne"}
    return any(all(_compared(name, value, other, steps) for name, other in rest.items()) for value in values)


def _compared(name: str, value: Json, other: Json, steps: Steps) -> bool:
    steps.walk(value)
    steps.walk(other)
    match name:
        case "eq":
            return value == other
        case "ne":
            return value != other
        case "in":
            return isinstance(other, list) and value in other
        case "contains" if isinstance(value, list):
            return other in value
        case "contains":
            return _word(other) in _word(value)
        case "starts_with":
            return _word(value).startswith(_word(other))
        case "ends_with":
            return _word(value).endswith(_word(other))
    return _ordered(name, value, other)


def _ordered(name: str, value: Json, other: Json) -> bool:
    numbers = isinstance(value, int | float) and isinstance(other, int | float)
    if not numbers and not (isinstance(value, str) and isinstance(other, str)):
        return False
    left, right = cast(float, value), cast(float, other)
    return {"gt": left > right, "gte": left >= right, "lt": left < right, "lte": left <= right}[name]


def _word(value: Json) -> str:
    return value.casefold() if isinstance(value, str) else "" if value is None else str(value).casefold()
