"""On which days a briefing comes: in words, as cron has them, and as a set. Pure."""

import re

from onevalet import ToolRetry, gettext

_NAMED = {
    **dict.fromkeys(("every day", "daily", "all days", "each day"), "*"),
    **dict.fromkeys(("weekday", "weekdays", "every weekday", "workdays"), "1-5"),
    **dict.fromkeys(("weekend", "weekends", "every weekend"), "0,6"),
}
_WEEK = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_BETWEEN = re.compile(r"[\s,;/&]+(?:and\s+)?")


def read_days(text: str) -> str:
    """Return cron's field for the days in a text; raise `ToolRetry` if it names none."""
    words = text.strip().casefold()
    if words in _NAMED:
        return _NAMED[words]
    names = [name for name in _BETWEEN.split(words) if name]
    days = {day for name in names for day in _span(name, text)}
    if not days:
        raise _unknown(text)
    return "*" if len(days) == len(_WEEK) else ",".join(map(str, sorted(days)))


def days_of(field: str) -> frozenset[int]:
    """Return the days of cron's field, Sunday is 0; all of them for a field that is not ours."""
    days: set[int] = set()
    for part in field.split(","):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            return frozenset(range(7))
        days |= {day % 7 for day in range(int(first), int(last or first) + 1)}
    return frozenset(days)


def _span(name: str, text: str) -> set[int]:
    """Return the days of "mon" or "mon-fri"."""
    first, _, last = name.partition("-")
    ends = [_WEEK.index(day[:3]) if day[:3] in _WEEK else -1 for day in (first, last or first)]
    if -1 in ends:
        raise _unknown(text)
    start, end = ends
    return {day % 7 for day in range(start, (end if end >= start else end + 7) + 1)}


def _unknown(text: str) -> ToolRetry:
    return ToolRetry(gettext("I cannot tell which days “{text}” are.", text=text), note="Name them as mon,thu.")
