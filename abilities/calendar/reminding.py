"""Remind the person of an event before it begins: a task that rings like any reminder, and moves with the event."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from abilities.calendar.finding import find_event
from abilities.calendar.following import (
    SOON,
    known_reminders,
    moment_of,
    moved_json,
    note_reminder,
    reminder_text,
)
from abilities.calendar.group import GROUP
from abilities.calendar.opening import open_calendars, zone_of
from abilities.calendar.types import Occurrence
from onevalet import (
    ActionExecutor,
    ActionResult,
    TaskNote,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    TriggerContext,
    gettext,
    moment_in_words,
    tool,
)

_MAX_MINUTES = 28 * 24 * 60
_SECONDS = 40.0
"""How long the calendar may take when the reminder is due."""
_SEARCHED = (timedelta(days=1), timedelta(days=366))
"""How far back and ahead to search for an event that is not in its place."""


class EventReminder(ActionExecutor):
    """Remind of an event as the calendar has it now: other programs may have moved or deleted it."""

    name = "event_reminder"
    effect = "idempotent"

    async def execute(self, context: TriggerContext) -> ActionResult:
        tools, text = context.tools, str(context.task.action.get("text") or context.task.title)
        known, zone = dict(await known_reminders(tools)).get(context.task.id), zone_of(tools)
        if known is None:
            return _reminder(text)
        try:
            async with asyncio.timeout(_SECONDS):
                event = await _event_now(tools, known, zone)
        except (ToolFailed, ToolRetry, TimeoutError) as error:
            # As it was planned is better than not at all.
            tools.log.warning("event_not_read", cause=type(error).__name__)
            return _reminder(text)
        if event is None or event.cancelled:
            return ActionResult(True, error=gettext("its event is no longer in the calendar"))
        begins, now = event.begins(zone).astimezone(zone), tools.clock.now()
        if begins == moment_of(known["begins"], zone):
            return _reminder(text)
        words = str(known["words"])
        if begins <= now:
            moment = moment_in_words(begins, zone)
            return _reminder(gettext("“{event}” was moved, and began on {moment}.", event=words, moment=moment))
        text, at = reminder_text(words, begins), begins - timedelta(minutes=int(known["minutes"]))
        if at <= now + SOON:
            return _reminder(text)
        moved = moved_json(event, None)
        await _set(tools, at.astimezone(zone), text, {**moved, "minutes": known["minutes"], "words": words})
        return ActionResult(True, error=gettext("its event was moved, and the reminder with it"))


@tool(name="remind_before_event", effect="idempotent", group=GROUP, timeout=90)
async def remind_before_event(event: str, context: ToolExecutionContext, minutes: int = 30, day: str = "") -> str:
    """Remind the person before an event in their calendar begins; for a series, before its next event.

    It moves with the event when that is moved. "undo" takes it back.

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
    # In the person's words: others may have written the event's.
    words = " ".join(event.split())[:200]
    text = reminder_text(words, begins)
    known = {**moved_json(entry.occurrence, None), "minutes": minutes, "words": words}
    kept = await _set(context, at, text, known)
    context.undo.offer(gettext("Reminder: {text}", text=kept.title), "take_back_reminder", {"task": kept.id})
    return gettext(
        "I will remind you of “{event}” on {moment} ({zone}). It is task {number}.",
        event=words,
        moment=kept.next_at,
        zone=zone.key,
        number=kept.number,
    )


def _reminder(text: str) -> ActionResult:
    return ActionResult(True, gettext("Reminder: {text}", text=text))


async def _set(context: ToolExecutionContext, at: datetime, text: str, known: Mapping[str, Any]) -> TaskNote:
    """Set a reminder, and note its event; the same call sets a single reminder."""
    kept = await context.tasks.create(
        {"kind": "schedule", "at": at.isoformat()},
        {"text": text},
        executor=EventReminder.name,
        output={"category": "reminder", "urgency": "urgent"},
        title=text,
        key=context.idempotency_key,
    )
    await note_reminder(context, kept.id, known)
    return kept


async def _event_now(context: ToolExecutionContext, known: Mapping[str, Any], zone: ZoneInfo) -> Occurrence | None:
    """Return an event as the calendars have it; None if it is gone. Raises `ToolFailed` if that is unknown."""
    calendars, now = await open_calendars(context), context.clock.now()
    planned = moment_of(known["begins"], zone)
    back, ahead = _SEARCHED
    for start, end in ((planned, planned + SOON), (now - back, now + ahead)):
        agenda = await calendars.agenda(start, end)
        same = [entry.occurrence for entry in agenda.entries if entry.occurrence.uid == known["uid"]]
        if found := _meant(same, str(known["recurrence"]), planned, zone):
            return found
        if agenda.problems:
            raise ToolFailed(agenda.problems[0])
    return None


def _meant(same: Sequence[Occurrence], recurrence: str, planned: datetime, zone: ZoneInfo) -> Occurrence | None:
    """Return the intended occurrence; if the whole series has moved, the occurrence on the same day."""
    exact = [one for one in same if one.recurrence == recurrence]
    of_the_day = [one for one in same if one.begins(zone).astimezone(zone).date() == planned.date()]
    return next(iter([*exact, *of_the_day]), None)
