"""An organizer's later messages: a newer state of an event, or its end (RFC 5546 2.1.5, 3.2.2 and 3.2.5)."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Alarm, Calendar, Event
from icalendar.prop import vText

from abilities.calendar.ical.components import (
    KEY,
    as_text,
    events_of,
    exception_at,
    guests_of,
    master_of,
    parsed,
    recurrence_of,
    rule_of,
    stamp,
)
from abilities.calendar.ical.files import OF_FILES, whole
from abilities.calendar.ical.series import OF_A_SERIES, exception_made, without
from core.children.child_job import Unreadable

_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


def updated(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the effect of a file's event on the stored event with its UID.

    `effect` is `there`, `older`, `foreign`, `update` or `cancel`; `before` and `after` are all parts of the event that
    would change, `text` the object to store, empty if it is to be deleted.
    """
    stored, sent, zone = parsed(asked["text"]), parsed(asked["sent"]), ZoneInfo(asked["zone"])
    organizer = _organizer(stored)
    if not organizer or organizer in asked["own"]:
        return {"effect": "there"}  # the person's own event: another person's copy changes nothing
    if organizer != _organizer(sent):
        return {"effect": "foreign"}
    events = events_of(sent)
    newer = [event for event in events if _is_newer(event, _known(stored, event), cancels=asked["cancels"])]
    if not newer:
        older = any(_sequence(event) < _sequence(_known(stored, event)) for event in events)
        return {"effect": "older" if older else "there"}
    # Each occurrence with a new exception existed by the rule of its series.
    there = [*events_of(stored), *(_known(stored, event) for event in newer if _is_new_exception(stored, event))]
    before = [whole(event, zone) for event in there]
    if asked["cancels"]:
        if all("RECURRENCE-ID" in event for event in newer):
            before = [whole(_known(stored, event), zone) for event in newer]
        return {"effect": "cancel", "before": before, "text": _without(stored, newer, asked["key"])}
    text = _with(stored, sent, newer, asked)
    after = [whole(event, zone) for event in events_of(parsed(text))]
    seen = [[_seen(one) for one in ones] for ones in (before, after)]
    before = [one for one in before if _seen(one) not in seen[1]]
    after = [one for one in after if _seen(one) not in seen[0]]
    if not before and not after:
        return {"effect": "there"}
    return {"effect": "update", "before": before, "after": after, "text": text}


def _seen(whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts of an event that a card says: all but the name of the call that wrote it."""
    return {name: value for name, value in whole.items() if name != "key"}


def _is_new_exception(stored: Calendar, event: Event) -> bool:
    return "RECURRENCE-ID" in event and exception_at(stored, recurrence_of(event)) is None


def _without(stored: Calendar, cancelled: Iterable[Event], key: str) -> str:
    if any("RECURRENCE-ID" not in event for event in cancelled):
        return ""
    for event in cancelled:
        without(stored, recurrence_of(event))
    master_of(stored)[KEY] = vText(key)
    return as_text(stored)


def _with(stored: Calendar, sent: Calendar, newer: Iterable[Event], asked: Mapping[str, Any]) -> str:
    for event in newer:
        known = _known(stored, event)
        if _times(event) == _times(known):
            _keep_answer(event, known, asked["own"])
        for name in known:
            if name not in (*OF_FILES, *OF_A_SERIES):  # categories, colours and all else that the person set
                event[name] = known[name]
        for alarm in known.walk("VALARM"):  # the person's own: those of the file were left out
            if isinstance(alarm, Alarm):
                event.add_component(alarm)
    if any("RECURRENCE-ID" not in event for event in newer):
        return as_text(sent)  # the whole of it, with all exceptions that there are (RFC 5546 3.2.2.1)
    replaced = {recurrence_of(event) for event in newer}
    stored.subcomponents[:] = [
        one
        for one in stored.subcomponents
        if not (isinstance(one, Event) and "RECURRENCE-ID" in one and recurrence_of(one) in replaced)
    ]
    for event in newer:
        stored.add_component(event)
    stored.add_missing_timezones()
    return as_text(stored)


def _is_newer(event: Event, known: Event, *, cancels: bool) -> bool:
    if cancels:
        return _sequence(event) >= _sequence(known)
    return (_sequence(event), _stamped(event)) > (_sequence(known), _stamped(known))


def _known(stored: Calendar, event: Event) -> Event:
    """Return the stored state of an event, or of an occurrence of a series."""
    recurrence = recurrence_of(event)
    if not recurrence:
        return _first(stored)
    if (exception := exception_at(stored, recurrence)) is not None:
        return exception
    try:
        return exception_made(stored.copy(recursive=True), recurrence)
    except Unreadable:
        return _first(stored)


def _first(calendar: Calendar) -> Event:
    events = events_of(calendar)
    if not events:
        raise Unreadable("empty")
    return next((event for event in events if "RECURRENCE-ID" not in event), events[0])


def _organizer(calendar: Calendar) -> str:
    return str(_first(calendar).get("ORGANIZER", "")).lower().removeprefix("mailto:")


def _sequence(event: Event) -> int:
    return int(event.get("SEQUENCE", 0))


def _stamped(event: Event) -> datetime:
    at = getattr(event.get("DTSTAMP"), "dt", None)
    if not isinstance(at, datetime):
        return _LONG_AGO
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _times(event: Event) -> tuple[str, str, str]:
    return stamp(event.start), stamp(event.end), rule_of(event)


def _keep_answer(event: Event, known: Event, own: Iterable[str]) -> None:
    """Keep the person's answer, since nothing that it depends on has changed."""
    answers = {
        address: guest.params["PARTSTAT"] for address, guest in guests_of(known).items() if "PARTSTAT" in guest.params
    }
    for address, guest in guests_of(event).items():
        if address in own and address in answers:
            guest.params["PARTSTAT"] = answers[address]
