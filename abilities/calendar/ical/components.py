"""Components of iCalendar: parsed within bounds, described as JSON, and their times."""

import re
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar, Component, Event, Timezone
from icalendar.prop import vBroken, vDDDTypes, vRecur

from abilities.calendar.types import MAX_TEXT, MAX_TITLE
from core.children.child_job import Unreadable
from core.language.unseen import without_unseen

PRODUCT = "-//OneValet//Calendar//EN"
MAX_OBJECT = 512 * 1024
"""Characters of a stored event; a larger event holds files, or is an attack."""
MAX_GUESTS = 100
KEY = "X-ONEVALET-KEY"
"""Names the call of ours that wrote a component last: a repeat of the call finds that it is done."""
REPEATING = frozenset({"RRULE", "RDATE", "EXDATE", "EXRULE"})
"""The properties that say how often an event comes."""
_NO_EVENT = re.compile(
    r"^BEGIN:(VALARM|VTODO|VJOURNAL|VFREEBUSY|VAVAILABILITY)[ \t]*\r?\n.*?^END:\1[ \t]*(?:\r?\n|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_OFTEN = ("SECONDLY", "MINUTELY")


class TooMuch(BaseException):
    """An event takes too long. No library's `except Exception` catches it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooMuch` once the block has used this CPU time, in seconds; for the main thread only."""

    def stop(number: int, frame: object) -> None:
        raise TooMuch

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def parsed(text: str) -> Calendar:
    """Return a calendar object unchanged, to be written again. Raises `Unreadable`, also for a broken recurrence."""
    calendar = objects_in(text)
    if any(
        _is_broken(value) for event in events_of(calendar) for name in REPEATING for value in values_in(event, name)
    ):
        raise Unreadable("broken")
    check_often(events_of(calendar))
    return calendar


def readable(text: str) -> tuple[Calendar, bool]:
    """Return a calendar object, and whether its recurrence cannot be read.

    Unreadable properties are left out, and an event with an unreadable recurrence occurs once. Raises `Unreadable`.
    """
    calendar = legible_in(text)
    lost = [leave_out_broken(event) for event in events_of(calendar)]
    once = any(names & REPEATING for names in lost)
    if once:
        come_once(calendar)
    check_often(events_of(calendar))
    return calendar, once


def objects_in(text: str) -> Calendar:
    """Return all objects of a text as a single object. Raises `Unreadable`."""
    if len(text) > MAX_OBJECT:
        raise Unreadable("large")
    try:
        calendars = Calendar.from_ical(text.removeprefix("\ufeff"), multiple=True)
    except Exception as error:  # any error of the library on an object that is made to break it
        raise Unreadable("broken") from error
    if not calendars or not all(isinstance(calendar, Calendar) for calendar in calendars):
        raise Unreadable("broken")
    for further in calendars[1:]:
        calendars[0].subcomponents += further.subcomponents
    return calendars[0]


def legible_in(text: str) -> Calendar:
    """Return all objects of a text as a single object, without the parts other than events if these make it unreadable.

    The library reads an event whose property is broken, but no alarm and no task. Definitions of zones stay: without
    them, an event would be shown at another time. Raises `Unreadable`.
    """
    try:
        return objects_in(text)
    except Unreadable:
        return objects_in(_NO_EVENT.sub("", text))


def check_often(events: Iterable[Event]) -> None:
    """Raise `Unreadable` for an event that comes each second or minute."""
    for event in events:
        for rule in _list(event.get("RRULE")):
            if any(str(often).upper() in _OFTEN for often in rule.get("FREQ", ())):
                raise Unreadable("often")


def come_once(calendar: Calendar) -> None:
    """Remove the recurrence from an object's events."""
    for event in events_of(calendar):
        for name in REPEATING:
            event.pop(name, None)


def leave_out_broken(event: Event) -> set[str]:
    """Remove the unreadable properties of an event, and return their names."""
    lost = set()
    for name in [*event]:
        values = _list(event[name])
        kept = [value for value in values if not _is_broken(value)]
        if len(kept) == len(values):
            continue
        lost.add(name.upper())
        if kept:
            event[name] = kept if len(kept) > 1 else kept[0]
        else:
            del event[name]
    return lost


def _is_broken(value: object) -> bool:
    return isinstance(value, vBroken) or (isinstance(value, vRecur) and "FREQ" not in value)


def events_of(calendar: Calendar) -> list[Event]:
    """Return the events of an object, without its other components."""
    return [event for event in calendar.subcomponents if isinstance(event, Event)]


def master_of(calendar: Calendar) -> Event:
    """Return the event that the exceptions of a series belong to. Raises `Unreadable`."""
    masters = [event for event in events_of(calendar) if "RECURRENCE-ID" not in event]
    if len(masters) != 1:
        raise Unreadable("broken")
    return masters[0]


def exception_at(calendar: Calendar, recurrence: str) -> Event | None:
    """Return the exception of a series for an occurrence."""
    return next((event for event in events_of(calendar) if recurrence_of(event) == recurrence), None)


def described(event: Event, zone: ZoneInfo, rule: str) -> dict[str, Any]:
    """Return an event as `abilities.calendar.types.Occurrence` reads it. Raises `Unreadable`."""
    try:
        start, end = event.start, event.end
    except Exception as error:
        raise Unreadable("broken") from error
    busy = str(event.get("TRANSP", "" if is_day(start) else "OPAQUE")).upper() == "OPAQUE"
    status = plain(event.get("STATUS", ""), 20).lower()
    return {
        "uid": str(event.get("UID", ""))[:1000],
        "start": in_utc(start, zone),
        "end": in_utc(max_of(start, end, zone), zone),
        "zone": zone_of(event),
        "title": plain(event.get("SUMMARY", ""), MAX_TITLE),
        "location": plain(event.get("LOCATION", ""), MAX_TITLE),
        "text": plain(event.get("DESCRIPTION", ""), MAX_TEXT, lines=True),
        "cancelled": status == "cancelled",
        "tentative": status == "tentative",
        "busy": busy and status != "cancelled",
        "organizer": _guest(event["ORGANIZER"]) if "ORGANIZER" in event else None,
        "guests": [_guest(guest) for guest in _list(event.get("ATTENDEE"))[:MAX_GUESTS]],
        "rule": rule,
        "recurrence": recurrence_of(event) if rule or "RECURRENCE-ID" in event else "",
        "key": plain(event.get(KEY, ""), 100),
    }


def rule_of(event: Event) -> str:
    """Return the rule of a series as text; RDATE for a series that only lists its days; empty for a single event."""
    rules = _list(event.get("RRULE"))
    if rules:
        return str(rules[0].to_ical().decode())[:500]
    return "RDATE" if "RDATE" in event else ""


def recurrence_of(event: Event) -> str:
    """Return the occurrence of its series that an event replaces; empty if it replaces none."""
    return stamp(event["RECURRENCE-ID"]) if "RECURRENCE-ID" in event else ""


def stamp(value: Any) -> str:
    """Return a time as text by which the same occurrence is found again: UTC, a wall time, or a day."""
    at = getattr(value, "dt", value)
    if isinstance(at, datetime):
        return at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ") if at.tzinfo else at.strftime("%Y%m%dT%H%M%S")
    return str(at.strftime("%Y%m%d"))


def value_of(event: Event, name: str) -> Any:
    """Return a property as the library has it: which type it is says only its name."""
    return event[name]


def copy_zones(source: Calendar, target: Calendar) -> None:
    """Copy the definitions of the zones in which an object's events lie from another object."""
    used = {str(value_of(event, "DTSTART").params.get("TZID", "")) for event in events_of(target) if "DTSTART" in event}
    for zones in source.subcomponents:
        if isinstance(zones, Timezone) and str(zones.get("TZID", "")) in used:
            target.add_component(zones)


def begins_of(event: Event) -> vDDDTypes:
    """Return the start of an event, with its zone. Raises `Unreadable`."""
    start = event.get("DTSTART")
    if not isinstance(start, vDDDTypes):
        raise Unreadable("broken")
    return start


def zone_of(event: Event) -> str:
    """Return the IANA name of an event's zone; empty for UTC, for no zone, and for a zone defined in the file."""
    start = event.get("DTSTART")
    zone = getattr(getattr(start, "dt", None), "tzinfo", None)
    return zone.key if isinstance(zone, ZoneInfo) and zone.key != "UTC" else ""


def wall(at: Any) -> Any:
    """Return the wall time in its own zone."""
    return at.replace(tzinfo=None) if isinstance(at, datetime) else at


def like(value: vDDDTypes, at: datetime | date) -> vDDDTypes:
    """Return a time as the clock of another time's zone shows it, in the form of that time."""
    zone = value.dt.tzinfo if isinstance(value.dt, datetime) else None
    if not isinstance(at, datetime) or zone is None:
        return vDDDTypes(at)
    if zone_is_utc(value):
        return vDDDTypes(at.replace(tzinfo=UTC))
    made = vDDDTypes(at.replace(tzinfo=zone))
    if name := value.params.get("TZID"):
        made.params["TZID"] = name  # as its own VTIMEZONE calls it
    return made


def zone_is_utc(value: vDDDTypes) -> bool:
    return isinstance(value.dt, datetime) and value.dt.tzinfo is not None and "TZID" not in value.params


def times_in(event: Event, name: str) -> list[datetime | date]:
    """Return the times of EXDATE or RDATE, without those that are spans."""
    found = [item.dt for values in _list(event.get(name)) for item in values.dts]
    return [at for at in found if isinstance(at, date)]


def max_of(start: datetime | date, end: datetime | date, zone: ZoneInfo) -> datetime | date:
    """Return the end of an event, or its start if the end would be earlier."""
    if is_day(start) or is_day(end):
        return end if is_day(start) and is_day(end) and end > start else start + timedelta(days=is_day(start))
    return end if _moment(end, zone) > _moment(start, zone) else start


def plain(value: object, most: int, *, lines: bool = False) -> str:
    """Return a text without invisible characters; on a single line unless `lines`."""
    text = without_unseen(str(value)[: most * 4])
    text = text.strip() if lines else " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def guests_of(event: Event) -> dict[str, Any]:
    """Return those who are invited, as the library has them, by their addresses."""
    return {str(guest).lower().removeprefix("mailto:"): guest for guest in _list(event.get("ATTENDEE"))}


def _guest(value: Any) -> Mapping[str, str]:
    params = getattr(value, "params", {})
    address = plain(value, 254).lower().removeprefix("mailto:")
    return {
        "address": address,
        "name": plain(params.get("CN", ""), 100),
        "answer": plain(params.get("PARTSTAT", ""), 20).lower(),
    }


def in_utc(at: datetime | date, zone: ZoneInfo) -> str:
    """Return a time as text: a moment in UTC, or a day."""
    return _moment(at, zone).astimezone(UTC).isoformat() if isinstance(at, datetime) else at.isoformat()


def _moment(at: Any, zone: ZoneInfo) -> datetime:
    moment: datetime = at if at.tzinfo else at.replace(tzinfo=zone)
    return moment


def is_day(at: object) -> bool:
    """Return whether a time is a whole day."""
    return not isinstance(at, datetime)


def values_in(event: Event, name: str) -> list[Any]:
    """Return all values of a property, which may occur once, several times or never."""
    return _list(event.get(name))


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def as_text(calendar: Component) -> str:
    """Return the stored form of an object."""
    return str(calendar.to_ical().decode())
