"""Bounds of a trigger's fields, checked when it is created, so that no later computation can overflow."""

import json
from datetime import datetime

from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop
from core.language.times import number_in_words

FIRST_YEAR, LAST_YEAR = 1970, 2199
"""Years in which no conversion between zones can overflow a date."""
MAX_COUNT = 1_000_000
MAX_TEXT = 2000
MAX_JSON = 10_000
_MAX_DEPTH = 20


_NAMES = {
    "arguments": gettext_noop("arguments"),
    "at": gettext_noop("moment"),
    "count": gettext_noop("count"),
    "cron": gettext_noop("cron expression"),
    "expression": gettext_noop("expression"),
    "field": gettext_noop("name of a field"),
    "filter": gettext_noop("filter"),
    "path": gettext_noop("path"),
    "reset": gettext_noop("reset expression"),
    "source": gettext_noop("source"),
    "start": gettext_noop("start"),
    "timezone": gettext_noop("timezone"),
    "tool": gettext_noop("tool"),
    "type": gettext_noop("type"),
    "until": gettext_noop("end"),
    "url": gettext_noop("address"),
}
"""People's names for the fields of triggers."""


class TriggerError(ValueError):
    """A trigger that makes no sense; the message is a plain sentence in the person's language.

    `note` is for the model alone: the value that it should write instead.
    """

    def __init__(self, message: str, *, note: str = "") -> None:
        super().__init__(message)
        self.note = note


def check_moment(name: str, value: object) -> None:
    """Raise `TriggerError` unless a value is None or a moment within these years."""
    if value is None:
        return
    if not isinstance(value, datetime):
        raise _wrong(name, gettext("it must be a date and time such as 2027-01-31T15:00"))
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        within = gettext("it must lie between {first} and {last}", first=FIRST_YEAR, last=LAST_YEAR)
        raise _wrong(name, within, note="Leave it out for no limit.")


def check_number(value: object, low: float, high: float, sentence: str) -> None:
    """Raise `TriggerError` with a sentence of the catalogue unless a value is a number within inclusive bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise TriggerError(gettext(sentence))


def check_count(value: object) -> None:
    """Raise `TriggerError` unless a value is None or a valid number of runs."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_COUNT:
        most = number_in_words(MAX_COUNT)
        raise _wrong("count", gettext("it must be a whole number from 1 to {most}", most=most))


def check_text(name: str, value: object, limit: int | None = None) -> None:
    """Raise `TriggerError` unless a value is storable text of at most `limit` characters."""
    if not isinstance(value, str) or "\x00" in value:
        raise _wrong(name, gettext("it must be a text"))
    if limit is not None and len(value) > limit:
        raise _too_long(name, limit)


def check_object(name: str, value: object) -> None:
    """Raise `TriggerError` unless a value is a storable JSON object of bounded depth."""
    if not isinstance(value, dict) or _depth(value) > _MAX_DEPTH:
        deep = gettext("it must be an object of fields, at most {levels} levels deep", levels=_MAX_DEPTH)
        raise _wrong(name, deep)
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise _wrong(name, gettext("it holds a value that cannot be kept, such as NaN")) from error


def check_size(name: str, value: JsonObject) -> None:
    if len(json.dumps(value)) > MAX_JSON:
        raise _too_long(name, MAX_JSON)


def _too_long(name: str, limit: int) -> TriggerError:
    return _wrong(name, gettext("it must have at most {limit} characters", limit=number_in_words(limit)))


def _wrong(name: str, reason: str, note: str = "") -> TriggerError:
    field = gettext(_NAMES[name])
    return TriggerError(gettext("{field}: {reason}.", field=field[:1].upper() + field[1:], reason=reason), note=note)


def _depth(value: object) -> int:
    """Return the depth of a JSON value, or a depth beyond the bound."""
    depth, level = 0, [value]
    while level and depth <= _MAX_DEPTH:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
        ]
    return depth
