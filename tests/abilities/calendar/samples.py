"""Events as servers store them, and what is asked of the child process about them."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from abilities.calendar.ical.occurrences import expand
from abilities.calendar.ical.writing import cancelled, changed, made

BERLIN = ZoneInfo("Europe/Berlin")
NOW = "2026-11-21T12:00:00+00:00"
NOTHING: dict[str, Any] = {
    "title": None,
    "location": None,
    "text": None,
    "start": None,
    "end": None,
    "zone": "Europe/Berlin",
    "invite": [],
    "uninvite": [],
    "organizer": "",
}


def event(*lines: str, uid: str = "one", **more: str) -> str:
    """Return an object with one event of these lines."""
    held = "\r\n".join(["BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20261101T000000Z", *lines, "END:VEVENT"])
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n{held}\r\nEND:VCALENDAR\r\n"


def new(start: str, end: str, zone: str = "Europe/Berlin", rule: str = "", **more: Any) -> str:
    """Return an event of ours."""
    given = {"title": "Standup", "start": start, "end": end, "zone": zone, "rule": rule, "location": "", "text": ""}
    asked = {"event": {**given, "guests": [], "organizer": "", **more}, "uid": "one", "key": "k1", "now": NOW}
    return str(made(asked)["text"])


def change(text: str, recurrence: str = "", scope: str = "all", key: str = "k2", **values: Any) -> list[str]:
    """Return the objects that a change makes of one."""
    asked = {"text": text, "recurrence": recurrence, "scope": scope, "new_uid": "two", "key": key, "now": NOW}
    told = changed(asked | {"change": NOTHING | values})
    return [told["text"], *([told["more"]] if "more" in told else [])]


def cancel(text: str, recurrence: str, scope: str = "this") -> str:
    """Return a series without some of it."""
    asked = {"text": text, "recurrence": recurrence, "scope": scope, "new_uid": "", "key": "k3", "now": NOW}
    return str(cancelled(asked)["text"])


def happens(
    *texts: str, start: str = "2026-01-01", end: str = "2028-01-01", zone: ZoneInfo = BERLIN
) -> list[dict[str, Any]]:
    """Return the occurrences of objects in the order of time."""
    first, last = (datetime.fromisoformat(day).replace(tzinfo=zone) for day in (start, end))
    told = expand(texts, first, last, zone)
    assert told["unread"] == {}
    return sorted(told["found"], key=lambda one: one["start"])


def walls(*texts: str, zone: ZoneInfo = BERLIN, **span: str) -> list[str]:
    """Return when events begin, as a clock in a zone shows it."""
    return [
        one["start"]
        if "T" not in one["start"]
        else f"{datetime.fromisoformat(one['start']).astimezone(zone):%Y-%m-%d %H:%M}"
        for one in happens(*texts, zone=zone, **span)
    ]


def utc(text: str) -> datetime:
    """Return a moment."""
    return datetime.fromisoformat(text).astimezone(UTC)
