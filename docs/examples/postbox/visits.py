from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from onevalet import (
    Ability,
    Agenda,
    CalendarEntry,
    CalendarInfo,
    Calendars,
    EventChange,
    EventPlace,
    NewEvent,
    Occurrence,
    SeriesScope,
    ToolExecutionContext,
    ToolRetry,
    WrittenEvent,
    tool,
)

READ, CHANGE = Ability.CALENDAR_READ, Ability.CALENDAR_CHANGE


async def open_calendars(context: ToolExecutionContext, need: Ability) -> Calendars:
    """Open the calendars of the account that can do this."""
    zone, now = ZoneInfo(context.timezone), context.clock.now()
    return Calendars(context.http, [await context.accounts.open(need)], zone, context.idempotency_key, now)


@tool(effect="read", accounts=(READ,), outside=True)
async def list_visits(day: datetime, context: ToolExecutionContext) -> list[str]:
    """List the visits of a day."""
    calendars = await open_calendars(context, READ)
    agenda: Agenda = await calendars.agenda(day, day + timedelta(days=1), words="visit")
    return [*map(_line, agenda.entries), *agenda.problems]


def _line(entry: CalendarEntry) -> str:
    visit: Occurrence = entry.occurrence
    return f"{visit.start:%H:%M} {visit.title} ({entry.calendar.name})"


@tool(effect="idempotent", accounts=(CHANGE,))
async def plan_visit(whom: str, start: datetime, context: ToolExecutionContext) -> str:
    """Put a visit of an hour into the calendar; "undo" takes it back."""
    calendars = await open_calendars(context, CHANGE)
    target: CalendarInfo = (await calendars.named(writable=True))[0]
    visit = NewEvent(f"Visit of {whom}", start, start + timedelta(hours=1), context.timezone)
    written: WrittenEvent = await calendars.create(target, visit)
    context.undo.offer(f"Visit of {whom}", "put_visit_back", {"place": written.place.to_json(), "before": ""})
    return f"The visit of {whom} is in {target.name}."


@tool(effect="idempotent", accounts=(CHANGE,))
async def postpone_visit(whom: str, day: datetime, minutes: int, context: ToolExecutionContext) -> str:
    """Let the visit of somebody begin later; "undo" takes it back."""
    calendars = await open_calendars(context, CHANGE)
    found = (await calendars.agenda(day, day + timedelta(days=1), words=whom)).entries
    if len(found) != 1:
        raise ToolRetry(f"{len(found)} events of that day fit.")
    [entry] = found
    zone, later = ZoneInfo(context.timezone), timedelta(minutes=minutes)
    begins, ends = (at.astimezone(zone) + later for at in (entry.occurrence.begins(zone), entry.occurrence.ends(zone)))
    change = EventChange(start=begins.replace(tzinfo=None), end=ends.replace(tzinfo=None), zone=zone.key)
    written = await calendars.change(entry.place, SeriesScope.THIS, change)
    place = written.place.to_json()
    context.undo.offer(f"Visit of {whom}", "put_visit_back", {"place": place, "before": written.before})
    return f"It begins at {begins:%H:%M}."


@tool(effect="idempotent", inverse=True)
async def put_visit_back(place: dict[str, Any], before: str, context: ToolExecutionContext) -> str:
    """Put the calendar back as it was before a visit was planned or postponed."""
    await (await open_calendars(context, CHANGE)).put_back(EventPlace.from_json(place), before)
    return "Undone."
