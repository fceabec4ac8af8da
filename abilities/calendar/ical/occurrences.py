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
    come_once,
    described,
    limited,
    master_of,
    readable,
    rule_of,
)
from core.children.child_job import Unreadable

_FREQUENT = ("FREQ=YEARLY", "FREQ=MONTHLY", "FREQ=WEEKLY", "FREQ=DAILY", "RDATE", "FREQ=HOURLY")
SECONDS = 1.0
"""Seconds of CPU for a single object."""
SECONDS_OF_ALL = 8.0
MAX_FOUND = 10_000
"""Occurrences of all objects: more are not read by people, and they must fit in a single answer."""
MAX_OCCURRENCES = 400
"""The most starts of an object, such as an hourly event for two weeks."""


def expand(objects: Sequence[str], start: datetime, end: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """Return the occurrences between two moments, each with the number of its object, and the unreadable objects.

    If only the recurrence of an event cannot be read, the first occurrence is returned, and its number is in `once`.

    Frequent events are read last: if there are too many, they are left out, and not the rest of the calendar.
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
    """Return the rank of an event's frequency, as far as its unparsed text shows it."""
    rules = text.upper().replace("\r\n ", "").replace("\n ", "")
    return next((rank for rank, name in enumerate(_FREQUENT, start=1) if name in rules), 0)


def _of(text: str, start: datetime, end: datetime, zone: ZoneInfo) -> tuple[list[dict[str, Any]], bool]:
    """Return the occurrences, and whether the recurrence cannot be read: then the event occurs once, at its start."""
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
        rule = ""  # exceptions alone: an invitation to a single occurrence of a series
    return [_seen(one, zone, rule) for one in happens], once


def _once(calendar: Calendar, start: datetime, end: datetime) -> list[Any]:
    try:
        return list(recurring_ical_events.of(calendar).between(start, end))
    except Exception as error:
        raise Unreadable("broken") from error


def _seen(event: Any, zone: ZoneInfo, rule: str) -> dict[str, Any]:
    # The library gives every event a recurrence; that of a single event means nothing.
    seen = described(event, zone, rule)
    return seen if rule else seen | {"recurrence": ""}
