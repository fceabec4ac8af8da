"""Reminders go with their events: moved, cancelled and put back here; each knows of which event it reminds."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from abilities.calendar.types import Occurrence, SeriesScope
from onevalet import ToolExecutionContext, ToolFailed, ToolRetry, gettext, moment_in_words, time_in_words

SOON = timedelta(minutes=1)
_REMINDERS = "event_reminders"
"""Of which event each task reminds, by the task's id."""


def moved_json(before: Occurrence, after: Occurrence | None) -> dict[str, Any]:
    """Return the move of an event for a plan; without `after` it is cancelled."""
    return {
        "uid": before.uid,
        "recurrence": before.recurrence,
        "begins": before.start.isoformat(),
        "then": after.start.isoformat() if after else "",
    }


async def follow(
    context: ToolExecutionContext, moved: Mapping[str, Any], scope: SeriesScope, zone: ZoneInfo
) -> tuple[list[dict[str, Any]], str]:
    """Move the reminders of a moved event, or stop those of a cancelled event.

    Return the former state of each, for `put_back`, and the sentence for the person.
    """
    before, said = list[dict[str, Any]](), ""
    if moved["begins"] == moved["then"]:
        return before, said
    for task, known in await known_reminders(context, str(moved["uid"])):
        if not _is_meant(known, moved, scope, zone):
            continue
        if known.get("by") != context.idempotency_key:
            plan = await context.tasks.plan(task)
            if plan is None:
                await context.storage.delete(_REMINDERS, task)
                continue
            known |= {"by": context.idempotency_key, "was": {"begins": known["begins"], "task": task, **plan}}
            known["begins"] = _begins(known, moved, zone).isoformat() if moved["then"] else known["begins"]
            await note_reminder(context, task, known)
        before.append(known["was"])
        said = await _moved(context, task, known, zone) if moved["then"] else await _stopped(context, task)
    return before, said


async def put_back(context: ToolExecutionContext, reminders: Sequence[Mapping[str, Any]]) -> None:
    """Restore reminders as they were before their event was moved or cancelled."""
    for was in reminders:
        try:
            kept = await context.tasks.find(was["task"])
            if kept is None or (kept.deleted and not await context.tasks.change(was["task"], "restore")):
                continue
            await context.tasks.edit(was["task"], was["trigger"], was["action"], was["title"])
        except (ToolFailed, ToolRetry):  # its moment is over: the event is back, and nothing more can be reminded of
            continue
        known = dict(await known_reminders(context)).get(str(was["task"]))
        if known is not None:
            await note_reminder(context, str(was["task"]), {**known, "begins": was["begins"], "by": ""})


def _is_meant(known: Mapping[str, Any], moved: Mapping[str, Any], scope: SeriesScope, zone: ZoneInfo) -> bool:
    if scope is SeriesScope.ALL or known["recurrence"] == moved["recurrence"]:
        return True
    return scope is SeriesScope.FOLLOWING and moment_of(known["begins"], zone) >= moment_of(moved["begins"], zone)


def _begins(known: Mapping[str, Any], moved: Mapping[str, Any], zone: ZoneInfo) -> datetime:
    """Return the present start of an event: other occurrences have moved by the same wall time."""
    old, new, own = (moment_of(text, zone) for text in (moved["begins"], moved["then"], known["begins"]))
    if own == old:
        return new
    by = new.replace(tzinfo=None) - old.replace(tzinfo=None)
    return (own.replace(tzinfo=None) + by).replace(tzinfo=zone)


async def _moved(context: ToolExecutionContext, task: str, known: Mapping[str, Any], zone: ZoneInfo) -> str:
    begins, now = moment_of(known["begins"], zone), context.clock.now()
    if begins <= now:
        return await _stopped(context, task)
    at = max(begins - timedelta(minutes=int(known["minutes"])), now + SOON).astimezone(zone)
    text = reminder_text(str(known["words"]), begins)
    await context.tasks.edit(task, {"kind": "schedule", "at": at.isoformat()}, {"text": text}, text)
    return " " + gettext("Its reminder now comes on {moment}.", moment=moment_in_words(at, zone))


async def _stopped(context: ToolExecutionContext, task: str) -> str:
    await context.tasks.change(task, "delete")
    return " " + gettext("Its reminder is stopped.")


async def known_reminders(context: ToolExecutionContext, uid: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Return the tasks that remind of an event, or of any event, each with its stored data of the event."""
    try:
        stored = await context.storage.list(_REMINDERS)
    except ToolFailed:  # this assistant keeps nothing
        return []
    rows = [(one.key, dict(one.value)) for one in stored if isinstance(one.value, dict)]
    return [(key, row) for key, row in rows if uid in ("", row["uid"])]


async def note_reminder(context: ToolExecutionContext, task: str, known: Mapping[str, Any]) -> None:
    """Store of which event a task reminds."""
    try:
        await context.storage.put(_REMINDERS, task, dict(known))
    except ToolFailed:
        return


def reminder_text(words: str, begins: datetime) -> str:
    """Return the text of a reminder, in the person's own words."""
    return gettext("“{event}” begins at {time}.", event=words, time=time_in_words(begins))


def moment_of(text: str, zone: ZoneInfo) -> datetime:
    """Return a stored moment in the person's zone; a moment without a zone is in that zone."""
    moment = datetime.fromisoformat(text)
    return moment.astimezone(zone) if moment.tzinfo else moment.replace(tzinfo=zone)
