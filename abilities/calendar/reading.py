"""Events: of a day, of a week, the next event, and those with some words."""

from datetime import timedelta

from abilities.calendar.group import GROUP
from abilities.calendar.opening import open_calendars, read_span, zone_of
from abilities.calendar.places import Agenda
from abilities.calendar.words import line_of
from onevalet import ToolExecutionContext, tool

_MAX_LISTED = 60
_MAX_FOUND = 15
_AHEAD = (timedelta(days=7), timedelta(days=60), timedelta(days=366))
"""How far ahead to look for the next event, until it is found."""


@tool(name="list_events", effect="read", outside=True, group=GROUP, timeout=90)
async def list_events(context: ToolExecutionContext, day: str = "today", days: int = 1, calendar: str = "") -> str:
    """List what is on in the person's calendars: on a day, or on several.

    Args:
        day: The first day: 2027-01-31, or as they said it ("tomorrow", "next monday").
        days: How many days from then on; 7 for a week.
        calendar: The name of one calendar or account, only if they named one.
    """
    zone = zone_of(context)
    start, end = read_span(day, days, context, zone)
    agenda = await (await open_calendars(context)).agenda(start, end, calendar)
    return _told(agenda, context, _MAX_LISTED)


@tool(name="find_events", effect="read", outside=True, group=GROUP, timeout=90)
async def find_events(context: ToolExecutionContext, words: str = "", calendar: str = "") -> str:
    """Find events to come within a year by words in them; without words the next event.

    Args:
        words: Words of its title, place or notes; an event that has all of them is found.
        calendar: The name of one calendar or account, only if they named one.
    """
    calendars, now = await open_calendars(context), context.clock.now()
    if words.strip():
        return _told(await calendars.agenda(now, now + _AHEAD[-1], calendar, words), context, _MAX_FOUND)
    agenda = Agenda()
    for ahead in _AHEAD:
        agenda = await calendars.agenda(now, now + ahead, calendar)
        if agenda.entries:
            break
    return _told(agenda, context, 1)


@tool(name="list_calendars", effect="read", outside=True, group=GROUP)
async def list_calendars(context: ToolExecutionContext) -> str:
    """List the person's calendars, with the accounts that they are in."""
    calendars = await (await open_calendars(context)).list()
    lines = [
        f"{one.name} (account {one.account.partition(':')[2]})"
        + (", new events go here" if one.preferred else "" if one.writable else ", can only be read")
        for one in calendars
    ]
    return "\n".join(lines) or "There are no calendars."


def _told(agenda: Agenda, context: ToolExecutionContext, most: int) -> str:
    zone = zone_of(context)
    lines = [line_of(entry, zone) for entry in agenda.entries[:most]]
    if len(agenda.entries) > most > 1:
        lines.append(f"There are {len(agenda.entries) - most} more.")
    head = f"Times are in {zone.key}." if lines else "There is nothing."
    return "\n".join([head, *lines, *agenda.problems])
