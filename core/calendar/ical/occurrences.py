"""The occurrences of events in a span of time, from objects as a server stores them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import recurring_ical_events

from core.calendar.ical.components import TooMuch, Unreadable, described, limited, master_of, parsed, rule_of

SECONDS = 1.0
"""Of CPU for one object."""
SECONDS_OF_ALL = 8.0
MAX_OCCURRENCES = 400
"""Of one object; hourly for two weeks."""


def expand(objects: Sequence[str], start: datetime, end: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """Return the occurrences between two moments, each with the number of its object, and what cannot be read."""
    found: list[dict[str, Any]] = []
    unread: dict[str, str] = {}
    spent = 0.0
    for number, text in enumerate(objects):
        try:
            if spent >= SECONDS_OF_ALL:
                raise TooMuch
            with limited(SECONDS):
                found += [one | {"number": number} for one in _of(text, start, end, zone)]
        except TooMuch:
            unread[str(number)] = "too_much"
            spent += SECONDS
        except (Unreadable, MemoryError) as error:
            unread[str(number)] = str(error) or "too_much"
    return {"found": found, "unread": unread}


def _of(text: str, start: datetime, end: datetime, zone: ZoneInfo) -> list[dict[str, Any]]:
    calendar = parsed(text)
    try:
        rule = rule_of(master_of(calendar))
    except Unreadable:
        rule = ""  # exceptions alone: an invitation to one occurrence of a series
    try:
        happens = recurring_ical_events.of(calendar).between(start, end)
    except Exception as error:
        raise Unreadable("broken") from error
    if len(happens) > MAX_OCCURRENCES:
        raise Unreadable("often")
    return [_seen(one, zone, rule) for one in happens]


def _seen(event: Any, zone: ZoneInfo, rule: str) -> dict[str, Any]:
    # The library names the occurrence of every event; that of a single one names nothing.
    seen = described(event, zone, rule)
    return seen if rule else seen | {"recurrence": ""}
