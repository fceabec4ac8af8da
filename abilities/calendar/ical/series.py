"""Series of events: an occurrence made an exception, a series moved, split in two, or shortened.

Times move by the wall time of the event's own zone: 09:00 stays 09:00 over a change of the clocks.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr
from icalendar import Calendar, Event
from icalendar.prop import vDDDTypes, vRecur

from abilities.calendar.ical.components import (
    begins_of,
    events_of,
    exception_at,
    is_day,
    like,
    master_of,
    recurrence_of,
    stamp,
    times_in,
    value_of,
    wall,
)
from core.children.child_job import Unreadable

type Time = Any
"""A day, or a wall time: in a series all are of the same kind, so they compare and add alike, which no type says."""

OF_A_SERIES = ("RRULE", "RDATE", "EXDATE", "EXRULE")
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_MAX_COUNTED = 20_000


def read_time(text: str, zone: str) -> Time:
    """Return a day, or a wall time with its zone."""
    if "T" not in text:
        return date.fromisoformat(text)
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone))


def set_times(event: Event, start: Time | None, end: Time | None) -> None:
    """Give an event a new time in its own zone; without an end it keeps its length."""
    old = event.get("DTSTART")
    before = (wall(event.start), wall(event.end)) if old is not None else None
    if start is None:
        assert before is not None  # noqa: S101 - only an event that is there is given an end alone
        first: Any = old
    else:
        first = vDDDTypes(start) if old is None or is_day(old.dt) != is_day(start) else like(old, _shown(start, old))
    if end is not None:
        last = vDDDTypes(end) if is_day(end) or old is None or is_day(old.dt) else like(old, _shown(end, old))
    elif before is not None and is_day(before[0]) == is_day(first.dt):
        last = like(first, wall(first.dt) + (before[1] - before[0]))
    else:
        last = like(
            first,
            wall(first.dt) + timedelta(days=1) if is_day(first.dt) else wall(first.dt) + timedelta(hours=1),
        )
    for name in ("DTSTART", "DTEND", "DURATION"):
        event.pop(name, None)
    event.add("DTSTART", first, encode=False)
    event.add("DTEND", last, encode=False)


def exception_made(calendar: Calendar, recurrence: str) -> Event:
    """Return the exception of a series for an occurrence, made from the series if there is none yet."""
    if (known := exception_at(calendar, recurrence)) is not None:
        return known
    master = master_of(calendar)
    at = time_of(master, recurrence)
    length = wall(master.end) - wall(master.start)
    event = master.copy(recursive=True)
    for name in (*OF_A_SERIES, "DTSTART", "DTEND", "DURATION"):
        event.pop(name, None)
    begins = like(begins_of(master), at)
    event.add("DTSTART", begins, encode=False)
    event.add("DTEND", like(begins_of(master), at + length), encode=False)
    event.add("RECURRENCE-ID", like(begins_of(master), at), encode=False)
    calendar.add_component(event)
    return event


def without(calendar: Calendar, recurrence: str) -> None:
    """Remove an occurrence from a series."""
    master = master_of(calendar)
    _drop(calendar, lambda event: recurrence_of(event) == recurrence)
    at = time_of(master, recurrence)
    if stamp(like(begins_of(master), at)) not in {stamp(known) for known in times_in(master, "EXDATE")}:
        _add_times(master, "EXDATE", [at])


def moved(calendar: Calendar, recurrence: str, change: Any) -> None:
    """Give a series, or a single event, a new time: the named occurrence moves, and all others with it."""
    master = master_of(calendar) if any("RECURRENCE-ID" not in event for event in events_of(calendar)) else None
    if master is None or not any(name in master for name in OF_A_SERIES):
        start, end = (read_time(change[name], change["zone"]) if change[name] else None for name in ("start", "end"))
        set_times(master or events_of(calendar)[0], start, end)
        return
    old = time_of(master, recurrence) if recurrence else wall(master.start)
    start = read_time(change["start"], change["zone"]) if change["start"] else None
    if start is not None and is_day(start) != is_day(old):
        raise Unreadable("series_kind")
    by = timedelta()
    if start is not None:
        by = _shown(start, begins_of(master)) - old
    end = read_time(change["end"], change["zone"]) if change["end"] else None
    length = wall(master.end) - wall(master.start)
    if end is not None:
        length = _shown(end, begins_of(master)) - (old + by)
    _shift(calendar, master, by, length)


def parted(calendar: Calendar, recurrence: str, new_uid: str) -> tuple[Calendar, Calendar]:
    """Return a series that ends before an occurrence, and the series that begins with it, under a new UID."""
    master = master_of(calendar)
    at = time_of(master, recurrence)
    rule = _rule(master)
    before, after = calendar, calendar.copy(recursive=True)
    _ends_before(master, rule, at)
    _drop(before, lambda event: event is not master and _wall_of(event, master) >= at)
    rest = master_of(after)
    length = wall(rest.end) - wall(rest.start)
    continued = vRecur(rule)
    if counts := rule.get("COUNT"):
        left = int(counts[0]) - _count_before(master, rule, at)
        continued["COUNT"] = [max(left, 1)]
    start = begins_of(rest)
    for name in ("DTSTART", "DTEND", "DURATION", "RRULE"):
        rest.pop(name, None)
    rest.add("DTSTART", like(start, at), encode=False)
    rest.add("DTEND", like(start, at + length), encode=False)
    rest.add("RRULE", continued)
    for name in ("EXDATE", "RDATE"):
        kept = [known for known in times_in(rest, name) if _in_zone_of(known, start) >= at]
        earlier = [known for known in times_in(master, name) if _in_zone_of(known, start) < at]
        _set_times(rest, name, kept, start)
        _set_times(master, name, earlier, start)
    _drop(after, lambda event: event is not rest and _wall_of(event, rest) < at)
    for event in events_of(after):
        event.pop("UID", None)
        event.add("UID", new_uid)
    return before, after


def time_of(master: Event, recurrence: str) -> Time:
    """Return the wall time, in the series' own zone, that names an occurrence."""
    start = begins_of(master)
    try:
        if len(recurrence) == len("20261123"):
            return datetime.strptime(recurrence, "%Y%m%d").date()  # noqa: DTZ007 - a day
        if recurrence.endswith("Z"):
            at = datetime.strptime(recurrence, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            return _in_zone_of(at, start)
        return datetime.strptime(recurrence, "%Y%m%dT%H%M%S")  # noqa: DTZ007 - a wall time
    except ValueError as error:
        raise Unreadable("no_occurrence") from error


def _shift(calendar: Calendar, master: Event, by: timedelta, length: timedelta) -> None:
    start = begins_of(master)
    rule = _rule(master) if "RRULE" in master else None
    if rule is not None and by:
        _shift_rule(rule, wall(start.dt), by, start)
        master.pop("RRULE")
        master.add("RRULE", rule)
    for event in events_of(calendar):
        if event is master:
            continue
        named = _wall_of(event, master)
        if _in_zone_of(begins_of(event).dt, start) == named:  # it has no time of its own
            held = wall(event.end) - wall(event.start)
            for name in ("DTSTART", "DTEND", "DURATION"):
                event.pop(name, None)
            event.add("DTSTART", like(start, named + by), encode=False)
            event.add("DTEND", like(start, named + by + held), encode=False)
        event.pop("RECURRENCE-ID")
        event.add("RECURRENCE-ID", like(start, named + by), encode=False)
    for name in ("EXDATE", "RDATE"):
        moved_times = [_in_zone_of(known, start) + by for known in times_in(master, name)]
        _set_times(master, name, moved_times, start)
    first = wall(start.dt) + by
    for name in ("DTSTART", "DTEND", "DURATION"):
        master.pop(name, None)
    master.add("DTSTART", like(start, first), encode=False)
    master.add("DTEND", like(start, first + length), encode=False)


def _shift_rule(rule: vRecur, first: Time, by: timedelta, start: vDDDTypes) -> None:
    """Move the days that a rule names; raise `Unreadable` if the rule cannot express the new days."""
    new = first + by
    days = (_day(new) - _day(first)).days
    if until := rule.get("UNTIL"):
        last = _in_zone_of(until[0], start) + by
        rule["UNTIL"] = [_until(last, start)]
    if not days:
        return
    named = {name for name in rule if name.startswith("BY") and name not in ("BYHOUR", "BYMINUTE", "BYSECOND")}
    plain_days = [str(day).upper() for day in rule.get("BYDAY", ())]
    if not named:
        return
    if named == {"BYDAY"} and str(rule["FREQ"][0]).upper() in ("WEEKLY", "DAILY") and set(plain_days) <= set(_DAYS):
        rule["BYDAY"] = [_DAYS[(_DAYS.index(day) + days) % 7] for day in plain_days]
        return
    raise Unreadable("series_days")


def _ends_before(master: Event, rule: vRecur, at: Time) -> None:
    ended = vRecur(rule)
    ended.pop("COUNT", None)
    start = begins_of(master)
    last = at - (timedelta(days=1) if is_day(at) else timedelta(seconds=1))
    ended["UNTIL"] = [_until(last, start)]
    master.pop("RRULE")
    master.add("RRULE", ended)


def _until(last: Time, start: vDDDTypes) -> Time:
    """Return a last moment as UNTIL has it: UTC, unless the series has days or no zone (RFC 5545 3.3.10)."""
    at = like(start, last).dt
    return at.astimezone(UTC) if isinstance(at, datetime) and at.tzinfo else at


def _count_before(master: Event, rule: vRecur, at: Time) -> int:
    first = wall(begins_of(master).dt)
    begins = first if isinstance(first, datetime) else datetime(first.year, first.month, first.day)  # noqa: DTZ001
    ends = at if isinstance(at, datetime) else datetime(at.year, at.month, at.day)  # noqa: DTZ001
    endless: Any = vRecur({name: value for name, value in rule.items() if name != "UNTIL"})
    text = endless.to_ical().decode()
    count = 0
    for one in rrulestr(text, dtstart=begins):
        if one >= ends or count >= _MAX_COUNTED:
            break
        count += 1
    return count


def _rule(master: Event) -> vRecur:
    rule = master.get("RRULE")
    if not isinstance(rule, vRecur):
        raise Unreadable("series_rule")
    return rule


def _wall_of(event: Event, master: Event) -> Any:
    return _in_zone_of(value_of(event, "RECURRENCE-ID").dt, begins_of(master))


def _in_zone_of(at: Any, start: vDDDTypes) -> Any:
    """Return the wall time of a series at a moment."""
    zone = start.dt.tzinfo if isinstance(start.dt, datetime) else None
    if isinstance(at, datetime) and at.tzinfo is not None:
        return at.astimezone(zone or at.tzinfo).replace(tzinfo=None)
    if not isinstance(at, datetime) and isinstance(start.dt, datetime):
        return datetime(at.year, at.month, at.day)  # noqa: DTZ001 - a wall time
    return at


def _shown(at: Time, start: vDDDTypes) -> Time:
    """Return a new time as the clock of the event's own zone shows it."""
    return _in_zone_of(at, start) if not is_day(at) else at


def _drop(calendar: Calendar, which: Any) -> None:
    calendar.subcomponents[:] = [
        one for one in calendar.subcomponents if not (isinstance(one, Event) and "RECURRENCE-ID" in one and which(one))
    ]


def _add_times(event: Event, name: str, times: list[Any]) -> None:
    start = begins_of(event)
    known = [_in_zone_of(at, start) for at in times_in(event, name)]
    _set_times(event, name, [*known, *times], start)


def _set_times(event: Event, name: str, times: list[Any], start: vDDDTypes) -> None:
    """Rewrite a list of times, as the clock of the series shows them."""
    if name in event and not times and not times_in(event, name):
        return  # spans, which are left as they are
    event.pop(name, None)
    for at in times:
        value = like(start, _in_zone_of(at, start))
        event.add(name, value.dt, parameters={name: value.params[name] for name in ("TZID",) if name in value.params})


def _day(at: Time) -> date:
    return at.date() if isinstance(at, datetime) else at
