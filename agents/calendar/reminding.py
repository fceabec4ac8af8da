"""Remind the person of an event before it begins: a task that rings like any reminder, and moves with the event."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from agents.calendar.finding import find_event
from agents.calendar.opening import open_calendars, zone_of
from onevalet import (
    Occurrence,
    SeriesScope,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    gettext,
    moment_in_words,
    time_in_words,
    tool,
)

_REMINDERS = "event_reminders"
"""Of which event each task reminds, by the task's id."""
_MAX_MINUTES = 28 * 24 * 60
_SOON = timedelta(minutes=1)


@tool(name="remind_before_event", effect="idempotent", group="calendar", timeout=90)
async def remind_before_event(event: str, context: ToolExecutionContext, minutes: int = 30, day: str = "") -> str:
    """Remind the person before an event in their calendar begins; of a series before the next one.

    It moves with the event when that is moved here. "undo" takes it back.

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
    text = _text(words, begins)
    kept = await context.tasks.create(
        {"kind": "schedule", "at": at.isoformat()},
        {"text": text},
        executor="tell",
        output={"category": "reminder", "urgency": "urgent"},
        title=text,
        key=context.idempotency_key,
    )
    await _note(context, kept.id, {**moved_json(entry.occurrence, None), "minutes": minutes, "words": words})
    context.undo.offer(gettext("Reminder: {text}", text=kept.title), "take_back_reminder", {"task": kept.id})
    return gettext(
        "I will remind you of “{event}” on {moment} ({zone}). It is task {number}.",
        event=words,
        moment=kept.next_at,
        zone=zone.key,
        number=kept.number,
    )


def moved_json(before: Occurrence, after: Occurrence | None) -> dict[str, Any]:
    """Return which event is moved, from when to when, for a plan; without `after` it is cancelled."""
    return {
        "uid": before.uid,
        "recurrence": before.recurrence,
        "begins": before.start.isoformat(),
        "then": after.start.isoformat() if after else "",
    }


async def follow(
    context: ToolExecutionContext, moved: Mapping[str, Any], scope: SeriesScope, zone: ZoneInfo
) -> tuple[list[dict[str, Any]], str]:
    """Move the reminders of an event that was moved, or stop those of one that was cancelled.

    Return how each was before, for `put_back`, and what the person is told of it.
    """
    before, said = list[dict[str, Any]](), ""
    if moved["begins"] == moved["then"]:
        return before, said
    for task, known in await _known(context, str(moved["uid"])):
        if not _is_meant(known, moved, scope, zone):
            continue
        if known.get("by") != context.idempotency_key:
            plan = await context.tasks.plan(task)
            if plan is None:
                await context.storage.delete(_REMINDERS, task)
                continue
            known |= {"by": context.idempotency_key, "was": {"begins": known["begins"], "task": task, **plan}}
            known["begins"] = _begins(known, moved, zone).isoformat() if moved["then"] else known["begins"]
            await _note(context, task, known)
        before.append(known["was"])
        said = await _moved(context, task, known, zone) if moved["then"] else await _stopped(context, task)
    return before, said


async def put_back(context: ToolExecutionContext, reminders: Sequence[Mapping[str, Any]]) -> None:
    """Let reminders be as they were before their event was moved or cancelled."""
    for was in reminders:
        try:
            kept = await context.tasks.find(was["task"])
            if kept is None or (kept.deleted and not await context.tasks.change(was["task"], "restore")):
                continue
            await context.tasks.edit(was["task"], was["trigger"], was["action"], was["title"])
        except (ToolFailed, ToolRetry):  # its moment is over: the event is back, and nothing more can be reminded of
            continue
        known = dict(await _known(context)).get(str(was["task"]))
        if known is not None:
            await _note(context, str(was["task"]), {**known, "begins": was["begins"], "by": ""})


def _is_meant(known: Mapping[str, Any], moved: Mapping[str, Any], scope: SeriesScope, zone: ZoneInfo) -> bool:
    if scope is SeriesScope.ALL or known["recurrence"] == moved["recurrence"]:
        return True
    return scope is SeriesScope.FOLLOWING and _moment(known["begins"], zone) >= _moment(moved["begins"], zone)


def _begins(known: Mapping[str, Any], moved: Mapping[str, Any], zone: ZoneInfo) -> datetime:
    """Return when an event begins now: another of the series has moved by what the clock shows."""
    old, new, own = (_moment(text, zone) for text in (moved["begins"], moved["then"], known["begins"]))
    if own == old:
        return new
    by = new.replace(tzinfo=None) - old.replace(tzinfo=None)
    return (own.replace(tzinfo=None) + by).replace(tzinfo=zone)


async def _moved(context: ToolExecutionContext, task: str, known: Mapping[str, Any], zone: ZoneInfo) -> str:
    begins, now = _moment(known["begins"], zone), context.clock.now()
    if begins <= now:
        return await _stopped(context, task)
    at = max(begins - timedelta(minutes=int(known["minutes"])), now + _SOON).astimezone(zone)
    text = _text(str(known["words"]), begins)
    await context.tasks.edit(task, {"kind": "schedule", "at": at.isoformat()}, {"text": text}, text)
    return " " + gettext("Its reminder comes on {moment} then.", moment=moment_in_words(at, zone))


async def _stopped(context: ToolExecutionContext, task: str) -> str:
    await context.tasks.change(task, "delete")
    return " " + gettext("Its reminder is stopped.")


async def _known(context: ToolExecutionContext, uid: str = "") -> list[tuple[str, dict[str, Any]]]:
    try:
        stored = await context.storage.list(_REMINDERS)
    except ToolFailed:  # this assistant keeps nothing
        return []
    rows = [(one.key, dict(one.value)) for one in stored if isinstance(one.value, dict)]
    return [(key, row) for key, row in rows if uid in ("", row["uid"])]


async def _note(context: ToolExecutionContext, task: str, known: Mapping[str, Any]) -> None:
    try:
        await context.storage.put(_REMINDERS, task, dict(known))
    except ToolFailed:
        return


def _text(words: str, begins: datetime) -> str:
    return gettext("“{event}” begins at {time}.", event=words, time=time_in_words(begins))


def _moment(text: str, zone: ZoneInfo) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.astimezone(zone) if moment.tzinfo else moment.replace(tzinfo=zone)
