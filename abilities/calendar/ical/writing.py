"""Events written: made, changed, cancelled and answered, as objects that a server stores.

Each function takes its arguments as JSON and returns the object's `text`, and in `more` a second object if a series is
split in two. A repeat of the same call, recognized by its `key`, makes the same texts.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from icalendar import Calendar, Event
from icalendar.prop import vCalAddress, vRecur, vText

from abilities.calendar.ical.components import (
    KEY,
    PRODUCT,
    as_text,
    begins_of,
    events_of,
    exception_at,
    master_of,
    parsed,
    plain,
    rule_of,
    stamp,
    value_of,
)
from abilities.calendar.ical.series import exception_made, moved, parted, read_time, set_times, without
from abilities.calendar.types import MAX_TEXT, MAX_TITLE, SeriesScope
from core.children.child_job import Unreadable

_WORDS = {"title": ("SUMMARY", MAX_TITLE), "location": ("LOCATION", MAX_TITLE), "text": ("DESCRIPTION", MAX_TEXT)}


def made(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new event."""
    given = asked["event"]
    event = Event()
    event.add("UID", asked["uid"])
    set_times(event, read_time(given["start"], given["zone"]), read_time(given["end"], given["zone"]))
    for name in _WORDS:
        _set_words(event, name, given[name])
    if given["rule"]:
        event.add("RRULE", vRecur.from_ical(given["rule"]))
    _invite(event, given["guests"], given["organizer"])
    _touch(event, asked)
    return {"text": _written(Calendar(), event)}


def changed(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with an occurrence, those from it on, or all changed."""
    calendar, scope, recurrence = parsed(asked["text"]), SeriesScope(asked["scope"]), asked["recurrence"]
    change = asked["change"]
    if scope is SeriesScope.FOLLOWING and not _is_first(calendar, recurrence):
        before, after = parted(calendar, recurrence, asked["new_uid"])
        _change_all(after, recurrence, change, asked)
        _touch(master_of(before), asked)
        return {"text": as_text(before), "more": _complete(after)}
    if scope is SeriesScope.THIS and recurrence and rule_of(_master_or_any(calendar)):
        event = exception_made(calendar, recurrence)
        _change_one(event, change)
        _touch(event, asked)
    else:
        _change_all(calendar, recurrence, change, asked)
    return {"text": _complete(calendar)}


def cancelled(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a series without an occurrence, or without it and all later ones."""
    calendar, recurrence = parsed(asked["text"]), asked["recurrence"]
    if SeriesScope(asked["scope"]) is SeriesScope.FOLLOWING:
        calendar, _ = parted(calendar, recurrence, asked["new_uid"])
    else:
        without(calendar, recurrence)
    _touch(master_of(calendar), asked)
    return {"text": as_text(calendar)}


def answered(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return an invitation with the person's answer, to an occurrence or to all."""
    calendar, recurrence = parsed(asked["text"]), asked["recurrence"]
    if SeriesScope(asked["scope"]) is SeriesScope.THIS and recurrence:
        events = [exception_at(calendar, recurrence) or exception_made(calendar, recurrence)]
    else:
        events = events_of(calendar)
    found = 0
    for event in events:
        for guest in _guests(event):
            if str(guest).lower().removeprefix("mailto:") in asked["own"]:
                guest.params["PARTSTAT"] = asked["answer"]
                guest.params.pop("RSVP", None)
                found += 1
        event[KEY] = vText(asked["key"])
    if not found:
        raise Unreadable("no_guest")
    return {"text": as_text(calendar)}


def _change_all(calendar: Calendar, recurrence: str, change: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Change a whole object; a new time is that of the named occurrence, and moves the others by the same amount."""
    master = _master_or_any(calendar)
    old = {name: str(master.get(name, "")) for name, _ in _WORDS.values()}
    if change["start"] or change["end"]:
        moved(calendar, recurrence, change)
    _change_one(master, {**change, "start": None, "end": None})
    _touch(master, asked)
    for event in events_of(calendar):
        if event is not master:
            # An exception keeps values of its own.
            same = {key: change[key] for key, (name, _) in _WORDS.items() if str(event.get(name, "")) == old[name]}
            rest = {"invite": change["invite"], "uninvite": change["uninvite"], "organizer": change["organizer"]}
            _change_one(event, dict.fromkeys(_WORDS) | same | rest | {"start": None, "end": None})
            _touch(event, asked)


def _change_one(event: Event, change: Mapping[str, Any]) -> None:
    for name in _WORDS:
        if change[name] is not None:
            _set_words(event, name, change[name])
    if change["start"] or change["end"]:
        zone = change["zone"]
        start, end = (read_time(change[name], zone) if change[name] else None for name in ("start", "end"))
        set_times(event, start, end)
    kept = [guest for guest in _guests(event) if _address(guest) not in change["uninvite"]]
    if len(kept) != len(_guests(event)):
        event["ATTENDEE"] = kept
        if not kept:
            del event["ATTENDEE"]
    if change["invite"]:
        _invite(event, change["invite"], change["organizer"])


def _set_words(event: Event, name: str, value: str) -> None:
    key, most = _WORDS[name]
    event.pop(key, None)
    if text := plain(value, most, lines=name == "text"):
        event.add(key, text)


def _invite(event: Event, addresses: list[str], organizer: str) -> None:
    known = {_address(guest) for guest in _guests(event)}
    if addresses and "ORGANIZER" not in event:
        event.add("ORGANIZER", vCalAddress(f"mailto:{organizer}"))
    for address in addresses:
        if address.lower() not in known:
            guest = vCalAddress(f"mailto:{address}")
            guest.params["PARTSTAT"] = "NEEDS-ACTION"
            guest.params["RSVP"] = "TRUE"
            event.add("ATTENDEE", guest, encode=False)


def _guests(event: Event) -> list[vCalAddress]:
    value = event.get("ATTENDEE", [])
    return list(value) if isinstance(value, list) else [value]


def _address(guest: vCalAddress) -> str:
    return str(guest).lower().removeprefix("mailto:")


def _touch(event: Event, asked: Mapping[str, Any]) -> None:
    """Mark a component as written now by this call, and raise its SEQUENCE."""
    now = datetime.fromisoformat(asked["now"])
    for name in ("DTSTAMP", "LAST-MODIFIED", KEY):
        event.pop(name, None)
    event.add("DTSTAMP", now)
    event.add("LAST-MODIFIED", now)
    event.add(KEY, asked["key"])
    number = int(event.pop("SEQUENCE", -1))
    event.add("SEQUENCE", number + 1)


def _master_or_any(calendar: Calendar) -> Event:
    try:
        return master_of(calendar)
    except Unreadable:
        events = events_of(calendar)
        if not events:
            raise
        return events[0]


def _is_first(calendar: Calendar, recurrence: str) -> bool:
    return not recurrence or stamp(begins_of(master_of(calendar))) == recurrence


def _written(calendar: Calendar, event: Event) -> str:
    calendar.add("PRODID", PRODUCT)
    calendar.add("VERSION", "2.0")
    calendar.add_component(event)
    return _complete(calendar)


def _complete(calendar: Calendar) -> str:
    # Years around now are enough, and the definition stays small.
    years = [value_of(event, "DTSTART").dt.year for event in events_of(calendar)]
    calendar.add_missing_timezones(date(min(years) - 1, 1, 1), date(max(years) + 10, 1, 1))
    return as_text(calendar)
