"""Events in words: when they are, how often they come, who is there."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from abilities.calendar.places import CalendarEntry
from abilities.calendar.types import Occurrence
from onevalet import (
    day_in_words,
    gettext,
    gettext_noop,
    listed,
    moment_in_words,
    ngettext,
    time_in_words,
    weekday_in_words,
)

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_ANSWERS = {
    "accepted": gettext_noop("accepted"),
    "declined": gettext_noop("declined"),
    "tentative": gettext_noop("perhaps"),
    "delegated": gettext_noop("delegated"),
}
_MAX_GUESTS = 20
_SAID = {"FREQ", "INTERVAL", "BYDAY", "COUNT", "UNTIL"}
"""Parts of a rule that words can express."""


def span_in_words(start: datetime | date, end: datetime | date, zone: ZoneInfo) -> str:
    """Return the time of an event, such as "Mon 23 Nov 2026, 15:00–16:00", in the person's zone."""
    if not isinstance(start, datetime):
        last = end - timedelta(days=1)
        if last <= start:
            return gettext("{day}, all day", day=day_in_words(start))
        return gettext("{first} to {last}, all day", first=day_in_words(start), last=day_in_words(last))
    assert isinstance(end, datetime)  # noqa: S101 - both are days, or neither is
    first, last_moment = start.astimezone(zone), end.astimezone(zone)
    begins = moment_in_words(start, zone)
    if last_moment <= first:
        return begins
    if first.date() == last_moment.date():
        return gettext("{start}–{end}", start=begins, end=time_in_words(last_moment))
    return gettext("{first} to {last}", first=begins, last=moment_in_words(end, zone))


def event_in_words(occurrence: Occurrence, zone: ZoneInfo) -> str:
    """Return an event on a single line: its title, time, place, and recurrence."""
    when = span_in_words(occurrence.start, occurrence.end, zone)
    parts = [f"{title_of(occurrence)}: {when}"]
    if occurrence.location:
        parts.append(occurrence.location)
    if occurrence.rule:
        parts.append(rule_in_words(occurrence.rule))
    return "; ".join(parts)


def whole_in_words(occurrence: Occurrence, zone: ZoneInfo) -> str:
    """Return all data of an event for a calendar, its title and time first, each other value on lines of its own.

    Others may have written all of it: further lines of a value are indented, so that none looks like our own.
    """
    when = span_in_words(occurrence.start, occurrence.end, zone)
    if occurrence.zone not in ("", zone.key):
        when = f"{when} ({occurrence.zone})"
    others = [*((occurrence.organizer,) if occurrence.organizer else ()), *occurrence.guests]
    people = [
        f"{guest.named} ({gettext(_ANSWERS[guest.answer])})" if guest.answer in _ANSWERS else guest.named
        for guest in others
    ]
    told = {
        gettext("State"): _state(occurrence),
        gettext("Place"): occurrence.location,
        gettext("Repeats"): rule_in_full(occurrence.rule) if occurrence.rule else "",
        gettext("Also on"): _times(occurrence.also, zone),
        gettext("Not on"): _times(occurrence.without, zone),
        gettext("Instead of"): _times((occurrence.instead,) if occurrence.instead else (), zone),
        gettext("Link"): occurrence.link,
        gettext("Organizer"): people.pop(0) if occurrence.organizer else "",
        gettext("Guests"): listed(people) if people else "",
        gettext("Notes"): occurrence.text,
    }
    lines = [
        gettext("{label}: {value}", label=label, value=value.replace("\n", "\n    "))
        for label, value in told.items()
        if value
    ]
    return "\n  ".join([f"{title_of(occurrence)}: {when}", *lines])


def _state(occurrence: Occurrence) -> str:
    """Return the states of an event that are unusual: cancelled, tentative, busy or free against its kind."""
    if occurrence.cancelled:
        return gettext("cancelled")
    states = [gettext("tentative")] if occurrence.tentative else []
    if occurrence.busy is occurrence.all_day:
        states.append(gettext("shown as busy") if occurrence.busy else gettext("shown as free"))
    return listed(states) if states else ""


def _times(times: Sequence[datetime | date], zone: ZoneInfo) -> str:
    said = [moment_in_words(time, zone) if isinstance(time, datetime) else day_in_words(time) for time in times]
    return listed(said) if said else ""


def title_of(occurrence: Occurrence) -> str:
    """Return an event's title in quotation marks."""
    return gettext("“{title}”", title=occurrence.title or gettext("without a title"))


def line_of(entry: CalendarEntry, zone: ZoneInfo) -> str:
    """Return an event as a list for the model has it."""
    occurrence = entry.occurrence
    parts = [f"{event_in_words(occurrence, zone)} [{entry.calendar.name}]"]
    if occurrence.cancelled:
        parts.append("cancelled")
    if occurrence.tentative:
        parts.append("tentative")
    if guests := guests_in_words(entry):
        parts.append(f"with {guests}")
    if entry.is_organized_elsewhere:
        organizer = occurrence.organizer
        own = [guest.answer for guest in occurrence.guests if guest.address in entry.calendar.own]
        name = (organizer.name or organizer.address) if organizer else ""
        parts.append(f"organized by {name}; the person's answer: {own[0] or 'none' if own else 'not invited'}")
    if occurrence.text:
        parts.append(f"notes: {' '.join(occurrence.text.split())[:300]}")
    return "; ".join(parts)


def guests_in_words(entry: CalendarEntry) -> str:
    """Return the other guests of an event, with their answers."""
    others = entry.occurrence.others(entry.calendar.own)
    named = [
        f"{guest.address} ({gettext(_ANSWERS[guest.answer])})" if guest.answer in _ANSWERS else guest.address
        for guest in others[:_MAX_GUESTS]
    ]
    if len(others) > _MAX_GUESTS:
        named.append(gettext("{number} more", number=len(others) - _MAX_GUESTS))
    return listed(named) if named else ""


def rule_in_full(rule: str) -> str:
    """Return a recurrence in words, with the rule itself if the words leave any of it out."""
    words, parts = rule_in_words(rule), dict(part.partition("=")[::2] for part in rule.upper().split(";"))
    days = parts.get("BYDAY", _DAYS[0]).split(",")
    said = parts.keys() <= _SAID and all(day in _DAYS for day in days) and "T" not in parts.get("UNTIL", "")
    return words if said else f"{words} ({rule})"


def rule_in_words(rule: str) -> str:
    """Return a recurrence in words, such as "every 2 weeks on Monday and Thursday"."""
    parts = dict(part.partition("=")[::2] for part in rule.upper().split(";"))
    number = int(parts.get("INTERVAL", "1")) if parts.get("INTERVAL", "1").isdecimal() else 1
    match parts.get("FREQ"):
        case "DAILY":
            often = gettext("every day") if number == 1 else gettext("every {number} days", number=number)
        case "WEEKLY":
            often = gettext("every week") if number == 1 else gettext("every {number} weeks", number=number)
        case "MONTHLY":
            often = gettext("every month") if number == 1 else gettext("every {number} months", number=number)
        case "YEARLY":
            often = gettext("every year") if number == 1 else gettext("every {number} years", number=number)
        case _:
            return gettext("again and again")
    days = [day for day in parts.get("BYDAY", "").split(",") if day]
    if days and all(day in _DAYS for day in days):
        names = listed([weekday_in_words(_DAYS.index(day)) for day in days])
        often = gettext("{often} on {days}", often=often, days=names)
    elif any(name.startswith("BY") for name in parts):
        often = gettext("{often}, by a special rule", often=often)
    if parts.get("COUNT", "").isdecimal():
        return ngettext("{often}, {number} time", "{often}, {number} times", int(parts["COUNT"]), often=often)
    until = parts.get("UNTIL", "")[:8]
    if len(until) == 8 and until.isdecimal():
        last = datetime.strptime(until, "%Y%m%d").date()  # noqa: DTZ007 - a day
        return gettext("{often}, until {day}", often=often, day=day_in_words(last))
    return often
