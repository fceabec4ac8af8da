"""Remind the person of an event before it begins: a task of their own, which rings like any reminder."""

from datetime import timedelta

from agents.calendar.finding import find_event
from agents.calendar.opening import open_calendars, zone_of
from onevalet import ToolExecutionContext, ToolRetry, gettext, time_in_words, tool

_MAX_MINUTES = 28 * 24 * 60


@tool(name="remind_before_event", effect="idempotent", group="calendar", timeout=90)
async def remind_before_event(event: str, context: ToolExecutionContext, minutes: int = 30, day: str = "") -> str:
    """Remind the person before an event in their calendar begins; of a series before the next one.

    Args:
        event: Words of its title, as the person said them.
        minutes: How long before.
        day: The day on which it is, with its time where they said it; the next one if left out.
    """
    if not 0 <= minutes <= _MAX_MINUTES:
        raise ToolRetry("minutes is between 0 and four weeks.")
    zone = zone_of(context)
    entry = await find_event(await open_calendars(context), event, day, "", context, zone)
    begins = entry.occurrence.begins(zone).astimezone(zone)
    at = begins - timedelta(minutes=minutes)
    if at <= context.clock.now():
        raise ToolRetry(gettext("That would be in the past."), note="Offer them a shorter time before it.")
    # In the person's words: what stands in the event may be others'.
    words = " ".join(event.split())[:200]
    text = gettext("“{event}” begins at {time}.", event=words, time=time_in_words(begins))
    kept = await context.tasks.create(
        {"kind": "schedule", "at": at.isoformat()},
        {"text": text},
        executor="tell",
        output={"category": "reminder", "urgency": "urgent"},
        title=text,
        key=context.idempotency_key,
    )
    return gettext(
        "I will remind you of “{event}” on {moment} ({zone}). It is task {number}.",
        event=words,
        moment=kept.next_at,
        zone=zone.key,
        number=kept.number,
    )
