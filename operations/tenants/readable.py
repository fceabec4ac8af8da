"""The parts of an archive for other programs: tasks as a calendar, and the people written to as contacts. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

_WEEKDAYS = ("SU", "MO", "TU", "WE", "TH", "FR", "SA")
_CRON = re.compile(r"(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|[0-7](?:[-,][0-7])*)")
"""The cron expressions that calendars can say: each day, days of the week, or a day of the month."""
_LINE = 74


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task with a time. `cron` is empty if it runs once or by an interval."""

    id: str
    title: str
    due_at: datetime
    zone: str = ""
    cron: str = ""


@dataclass(frozen=True, slots=True)
class Contact:
    """A recipient of the assistant's messages for the person."""

    id: str
    channel: str
    address: str
    name: str = ""


def as_calendar(tasks: Iterable[PlannedTask], now: datetime) -> bytes:
    """Return tasks as an iCalendar file: each at its next time, and recurring if calendars know its rhythm."""
    from icalendar import Calendar, Event

    calendar = Calendar()
    calendar.add("prodid", "-//OneValet//Export//EN")
    calendar.add("version", "2.0")
    for task in tasks:
        event = Event()
        rule = recurrence(task.cron)
        event.add("uid", f"{task.id}@onevalet")
        event.add("dtstamp", now.astimezone(UTC))
        event.add("summary", task.title)
        # Only a local time recurs at the same hour all year.
        event.add("dtstart", task.due_at.astimezone(ZoneInfo(task.zone)) if rule and task.zone else task.due_at)
        if rule:
            event.add("rrule", dict(rule))
        calendar.add_component(event)
    calendar.add_missing_timezones()
    return bytes(calendar.to_ical())


def recurrence(cron: str) -> Mapping[str, object] | None:
    """Return a cron expression as a recurrence rule; None for a rhythm that calendars do not know."""
    found = _CRON.fullmatch(" ".join(cron.split()))
    if found is None:
        return None
    month_day, week_days = found[3], found[4]
    if month_day == "*":
        if week_days == "*":
            return {"freq": "daily"}
        return {"freq": "weekly", "byday": [_WEEKDAYS[day] for day in _days(week_days)]}
    return {"freq": "monthly", "bymonthday": int(month_day)} if week_days == "*" else None


def as_contacts(contacts: Iterable[Contact]) -> bytes:
    """Return people as vCards (RFC 6350)."""
    lines: list[str] = []
    for contact in contacts:
        address = _escaped(contact.address)
        kind = {"sms": f"TEL;VALUE=text:{address}", "email": f"EMAIL:{address}"}
        lines += [
            "BEGIN:VCARD",
            "VERSION:4.0",
            f"UID:{_escaped(contact.id)}",
            f"FN:{_escaped(contact.name or contact.address)}",
            kind.get(contact.channel, f"IMPP:x-{contact.channel}:{address}"),
            "END:VCARD",
        ]
    return "".join(f"{_folded(line)}\r\n" for line in lines).encode()


def _days(text: str) -> list[int]:
    """Return the days of the week of `1-5` or `1,3`, Sunday being 0; the order is that of the text."""
    days: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        days += [day % 7 for day in range(int(first), int(last.rpartition("-")[2] or first) + 1)]
    return list(dict.fromkeys(days))


def _escaped(text: str) -> str:
    marked = text.replace("\\", "\\\\").replace(",", "\\,").replace(";", "\\;")
    return marked.replace("\r", "").replace("\n", "\\n")


def _folded(line: str) -> str:
    """Return a line in pieces of at most 75 bytes, as the format wants."""
    pieces, piece = [], ""
    for letter in line:
        if len((piece + letter).encode()) > _LINE:
            pieces.append(piece)
            piece = ""
        piece += letter
    return "\r\n ".join([*pieces, piece])
