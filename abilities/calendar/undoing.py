"""Take back a write into a calendar, unless the event has been changed since."""

from collections.abc import Mapping
from typing import Any

from abilities.calendar.following import put_back
from abilities.calendar.opening import CHANGE, open_calendars
from abilities.calendar.places import EventPlace
from onevalet import ToolExecutionContext, gettext, tool


@tool(name="undo_event", effect="idempotent", inverse=True, timeout=120)
async def undo_event(
    events: list[dict[str, Any]], context: ToolExecutionContext, reminders: list[dict[str, Any]] | None = None
) -> str:
    """Take back a change of a calendar.

    Args:
        events: Each event with its place and its text before.
        reminders: The reminders that went with them, as they were.
    """
    calendars = await open_calendars(context, CHANGE)
    for event in reversed(events):
        before, parted = str(event.get("before", "")), event.get("parted")
        await calendars.put_back(_place(event["place"]), before)
        if parted:
            await calendars.put_back(_place(parted), "")
    await put_back(context, reminders or [])
    return gettext("Undone: your calendar is as it was.")


def _place(data: Mapping[str, Any]) -> EventPlace:
    return EventPlace.from_json(data)
