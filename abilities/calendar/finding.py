"""Find the event that the person means, by their words: among several, none is guessed.

The model gets only times of the candidates, never titles, which others may have written.
"""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from abilities.calendar.calendars import Calendars
from abilities.calendar.opening import midnight, read_time
from abilities.calendar.places import Agenda, CalendarEntry
from abilities.calendar.words import span_in_words
from onevalet import ToolExecutionContext, ToolRetry, gettext

_AHEAD = (timedelta(days=92), timedelta(days=366))
"""How far ahead to look, until an event is found."""
_MAX_NAMED = 8


async def find_event(
    calendars: Calendars,
    words: str,
    day: str,
    calendar: str,
    context: ToolExecutionContext,
    zone: ZoneInfo,
) -> CalendarEntry:
    """Return the next event with these words; for a series, its next occurrence. Raises `ToolRetry`."""
    now = context.clock.now()
    spans, at = [(now, now + ahead) for ahead in _AHEAD], None
    if day.strip():
        named, at = read_time(day, context, zone)
        if named is not None:
            spans = [(midnight(named, zone), midnight(named + timedelta(days=1), zone))]
    agenda, found, wanted = Agenda(), list[CalendarEntry](), words.casefold().split()
    for start, end in spans:
        agenda = await calendars.agenda(start, end, calendar)
        found = [entry for entry in agenda.entries if _has(entry, wanted)]
        if found:
            break
    if at is not None and any(_begins(entry, zone).time() == at for entry in found):
        found = [entry for entry in found if _begins(entry, zone).time() == at]
    exact = [entry for entry in found if entry.occurrence.title.casefold() == words.strip().casefold()]
    # Of a single series the next occurrence is meant; several on the named day cannot be told apart.
    series = {entry.occurrence.uid: entry for entry in reversed(exact or found)}
    if not series:
        text = gettext("I find no such event.")
        problems = "".join(f" {problem}" for problem in agenda.problems)
        raise ToolRetry(f"{text}{problems}", note="Use find_events to see which there are, or name its day.")
    if len(series) > 1:
        raise ToolRetry(
            gettext("Several events fit: {events}.", events=_times(list(reversed(series.values())), zone)),
            note="Ask the person which one they mean, and give day with its time, such as 2027-01-31T15:00.",
        )
    return next(iter(series.values()))


def _has(entry: CalendarEntry, wanted: list[str]) -> bool:
    occurrence = entry.occurrence
    guests = " ".join(f"{guest.name} {guest.address}" for guest in occurrence.guests)
    text = f"{occurrence.title} {occurrence.location} {guests}".casefold()
    return not occurrence.cancelled and all(word in text for word in wanted)


def _begins(entry: CalendarEntry, zone: ZoneInfo) -> datetime:
    return entry.occurrence.begins(zone).astimezone(zone)


def _times(entries: list[CalendarEntry], zone: ZoneInfo) -> str:
    shown = [span_in_words(entry.occurrence.start, entry.occurrence.end, zone) for entry in entries[:_MAX_NAMED]]
    return "; ".join(shown)
