"""Add the events of a calendar file that somebody sent; the person is shown what will be added first."""

import hashlib
from collections.abc import Mapping
from typing import Any

from agents.calendar.agent import CalendarAgent, option
from agents.calendar.creating import writable
from agents.calendar.words import event_in_words
from onevalet import AgentResult, EventFile, InputField, ToolFailed, ToolRetry, gettext, gettext_noop, ngettext, valet

_MAX_SHOWN = 20
_MAX_BYTES = 512 * 1024


@valet(
    name="add_events_from_file",
    effect="idempotent",
    group="calendar",
    accounts=("calendar.change",),
    timeout=120,
    asks_itself=True,
)
class AddEventsFromFile(CalendarAgent):
    """Add the events of a calendar file (.ics) that the person sent to their calendar; they agree first."""

    file = InputField(gettext_noop("Which file?"), description="The file's id, such as f1a2b3c4d5")
    calendar = option("The name of the calendar or account, only if they named one")

    async def plan(self) -> Mapping[str, Any]:
        calendars = await self.calendars()
        target = await writable(calendars, self.calendar)
        found = await calendars.read_file(await self._text())
        if found.method == "CANCEL":
            raise ToolFailed(
                gettext("That file cancels an event; it adds none."),
                note="Ask them whether to delete the event (cancel_event).",
            )
        if found.method in ("REPLY", "COUNTER", "REFRESH", "DECLINECOUNTER"):
            raise ToolFailed(gettext("That file answers an invitation; there is nothing to add."))
        events = [event_in_words(event.occurrence, self.zone) for event in found.events]
        more = len(events) - _MAX_SHOWN
        shown = "\n".join([*events[:_MAX_SHOWN], *([gettext("{number} more", number=more)] if more > 0 else [])])
        return {
            "asks": True,
            "summary": ngettext(
                "Add {number} event to the calendar {calendar}",
                "Add {number} events to the calendar {calendar}",
                len(events),
                calendar=target.name,
            ),
            "details": {"events": shown, "calendar": target.name},
            "calendar": target.url,
            "digest": _digest(found),
        }

    async def perform(self) -> AgentResult:
        calendars, plan = await self.calendars(), self.planned
        target = next((one for one in await calendars.list() if one.url == plan["calendar"]), None)
        if target is None:
            raise ToolRetry(gettext("That calendar is not there any more."))
        found = await calendars.read_file(await self._text())
        if _digest(found) != plan["digest"]:
            raise ToolFailed(gettext("The file is not the one that you have seen, so nothing was added."))
        written = [await calendars.add(target, event) for event in found.events]
        added = [one for one in written if one is not None]
        said = ngettext(
            "Added {number} event to the calendar {calendar}.",
            "Added {number} events to the calendar {calendar}.",
            len(added),
            calendar=target.name,
        )
        if there := len(written) - len(added):
            said += " " + ngettext("{number} was there already.", "{number} were there already.", there)
        if found.left_out:
            said += " " + ngettext("{number} cannot be read.", "{number} cannot be read.", found.left_out)
        title = ngettext("{number} event from a file", "{number} events from a file", len(added))
        return self.make_result(raw_message=f"{said}{self.offer_undo(title, *added)}")

    async def _text(self) -> str:
        file = await self.context.files.fetch(self.file.strip())
        if len(file.body) > _MAX_BYTES:
            raise ToolFailed(gettext("That calendar file is too large."))
        return file.body.decode("utf-8-sig", "replace")


def _digest(file: EventFile) -> str:
    return hashlib.sha256("\n".join(event.text for event in file.events).encode()).hexdigest()
