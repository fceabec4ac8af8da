"""The occurrences of events in a span of time, from objects as a server stores them."""

from collections.abc import Sequence
from datetime import datetime
from time import process_time
from typing import Any
from zoneinfo import ZoneInfo

import recurring_ical_events
from icalendar import Calendar

from abilities.calendar.ical.components import (
    TooMuch,
    Unreadable,
    come_once,
    described,
    limited,
    master_of,
    readable,
    rule_of,
)

_FREQUENT = ("FREQ=YEARLY", "FREQ=MONTHLY", "FREQ=WEEKLY", "FREQ=DAILY", "RDATE", "FREQ=HOURLY")
SECONDS = 1.0
"""Of CPU for one object."""
SECONDS_OF_ALL = 8.0
MAX_FOUND = 10_000
"""Occurrences of all objects: nobody reads more, and they have to fit into one answer."""
MAX_OCCURRENCES = 400
"""Of one object; hourly for two weeks."""


def expand(objects: Sequence[str], start: datetime, end: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """Return the occurrences between two moments, each with the number of its object, and what cannot be read.

    Of an event whose recurrence alone cannot be read, only the first is found; its number stands in `once`.

    What comes often is read last: where all of it is too much, that is left out, and not what else is in the calendar.
    """
    found: list[dict[str, Any]] = []
    unread: dict[str, str] = {}
    once: list[int] = []
    begun = process_time()
    for number, text in sorted(enumerate(objects), key=lambda one: _how_often(one[1])):
        try:
            if process_time() - begun >= SECONDS_OF_ALL:
                raise TooMuch
            with limited(SECONDS):
                seen, comes_once = _of(text, start, end, zone)
            here = [one | {"number": number} for one in seen]
            if len(found) + len(here) > MAX_FOUND:
                raise TooMuch
            found += here
            once += [number] if comes_once else []
        except TooMuch:
            unread[str(number)] = "too_much"
        except (Unreadable, MemoryError) as error:
            unread[str(number)] = str(error) or "too_much"
    return {"found": found, "unread": unread, "once": once}


def _how_often(text: str) -> int:
    """Return how often an event comes, as far as its text shows that before it is read."""
    rules = text.upper().replace("\r\n ", "").replace("\n ", "")
    return next((rank for rank, name in enumerate(_FREQUENT, start=1) if name in rules), 0)


def _of(text: str, start: datetime, end: datetime, zone: ZoneInfo) -> tuple[list[dict[str, Any]], bool]:
    """Return what happens, and whether how often cannot be read: then the event comes once, when it says it begins."""
    calendar, once = readable(text)
    try:
        happens = recurring_ical_events.of(calendar).between(start, end)
    except Exception:
        once = True
        come_once(calendar)
        happens = _once(calendar, start, end)
    if len(happens) > MAX_OCCURRENCES:
        raise Unreadable("often")
    try:
        rule = rule_of(master_of(calendar))
    except Unreadable:
        rule = ""  # exceptions alone: an invitation to one occurrence of a series
    return [_seen(one, zone, rule) for one in happens], once


def _once(calendar: Calendar, start: datetime, end: datetime) -> list[Any]:
    try:
        return list(recurring_ical_events.of(calendar).between(start, end))
    except Exception as error:
        raise Unreadable("broken") from error


def _seen(event: Any, zone: ZoneInfo, rule: str) -> dict[str, Any]:
    # The library names the occurrence of every event; that of a single one names nothing.
    seen = described(event, zone, rule)
    return seen if rule else seen | {"recurrence": ""}
