"""Apply a calendar file from another person; the person first sees the additions, changes and deletions."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from abilities.calendar.agent import CalendarAgent, option
from abilities.calendar.creating import writable
from abilities.calendar.group import GROUP
from abilities.calendar.places import EventPlace, FileMeaning, WrittenEvent
from abilities.calendar.types import EventFile, FileEffect, Occurrence
from abilities.calendar.words import whole_in_words
from abilities.mail.origins import senders_of
from onevalet import AgentResult, InputField, ToolFailed, ToolRetry, gettext, gettext_noop, listed, ngettext, valet

_MAX_SHOWN = 20
_MAX_ON_CARD = 2400
"""Characters of events on a card: it is sent completely or not at all, and by text message too."""
_MAX_BYTES = 512 * 1024


@valet(
    name="add_events_from_file",
    effect="idempotent",
    group=GROUP,
    accounts=("calendar.change",),
    timeout=120,
    asks_itself=True,
)
class AddEventsFromFile(CalendarAgent):
    """Add the events of a calendar file (.ics) that the person sent to their calendar, once they agree.

    A newer state of an invitation changes the event that is there, and its cancellation deletes it.
    """

    said_in_words = ("calendar",)

    file = InputField(gettext_noop("Which file?"), description="The file's id, such as f1a2b3c4d5")
    calendar = option("The name of the calendar or account, only if they named one")

    async def plan(self) -> Mapping[str, Any]:
        calendars = await self.calendars()
        target = await writable(calendars, self.calendar)
        found = await calendars.read_file(await self._text())
        if found.method in ("REPLY", "COUNTER", "REFRESH", "DECLINECOUNTER"):
            raise ToolFailed(gettext("That file answers an invitation; there is nothing to add."))
        cancels = found.method == "CANCEL"
        meanings = [await calendars.meaning(event, cancels=cancels) for event in found.events]
        wanted = [one for one in meanings if one.effect in (FileEffect.NEW, FileEffect.UPDATE, FileEffect.CANCEL)]
        if not wanted:
            raise ToolFailed(_nothing(meanings, cancels=cancels))
        fitting = self._fitting(wanted)
        if not fitting:
            raise ToolFailed(gettext("That event has more text than a card can show, so I leave it alone."))
        new, changed, gone = (
            [one for one in fitting if one.effect is effect]
            for effect in (FileEffect.NEW, FileEffect.UPDATE, FileEffect.CANCEL)
        )
        details = {
            "events": self._lines(one.event.parts for one in new),
            "before": self._lines(one.before for one in changed),
            "after": self._lines(one.after for one in changed),
            "cancelled": self._lines(one.before for one in gone),
            "calendar": target.name if new else "",
            "sent by": self._sent_by(await senders_of(self.context, self.file.strip()), fitting),
            "left out": _left_out(len(wanted) - len(fitting), found.left_out),
        }
        return {
            "asks": True,
            "summary": _asked(len(new), len(changed), len(gone), target.name),
            "details": {name: value for name, value in details.items() if value},
            "calendar": target.url,
            "digest": _digest(found),
            "new": [one.event.occurrence.uid for one in new],
            "counts": [len(new), len(changed), len(gone)],
            "there": len(meanings) - len(wanted),
            "left_out": [len(wanted) - len(fitting), found.left_out],
            "written": [
                {"place": _there(one.place).to_json(), "text": one.text, "stored": one.stored}
                for one in (*changed, *gone)
            ],
        }

    async def perform(self) -> AgentResult:
        calendars, plan = await self.calendars(), self.planned
        target = next((one for one in await calendars.list() if one.url == plan["calendar"]), None)
        if target is None:
            raise ToolRetry(gettext("That calendar no longer exists."))
        found = await calendars.read_file(await self._text())
        if _digest(found) != plan["digest"]:
            raise ToolFailed(gettext("This is not the file that you saw, so nothing was added."))
        done: list[WrittenEvent] = []
        for one in plan["written"]:
            written = await calendars.take_over(EventPlace.from_json(one["place"]), str(one["text"]))
            done.append(replace(written, before=written.before or str(one["stored"])))
        new = [event for event in found.events if event.occurrence.uid in plan["new"]]
        added = [one for event in new if (one := await calendars.add(target, event)) is not None]
        changed, gone = plan["counts"][1:]
        said = _said(len(added), changed, gone, target.name)
        count = len(added) + changed + gone
        if there := int(plan["there"]) + len(new) - len(added):
            said += " " + ngettext("{number} was there already.", "{number} were there already.", there)
        if left_out := _left_out(*plan["left_out"]):
            said += f" {left_out}"
        title = ngettext("{number} event from a file", "{number} events from a file", count)
        return self.make_result(raw_message=f"{said}{self.offer_undo(title, *done, *added)}")

    def _fitting(self, meanings: Sequence[FileMeaning]) -> Sequence[FileMeaning]:
        """Return the first events, as many as a card shows completely; the others are not written."""
        fitting, room = list[FileMeaning](), _MAX_ON_CARD
        for one in meanings[:_MAX_SHOWN]:
            parts = one.event.parts if one.effect is FileEffect.NEW else (*one.before, *one.after)
            room -= len(self._lines([parts]))
            if room < 0:
                break
            fitting.append(one)
        return fitting

    def _sent_by(self, senders: Sequence[str], written: Sequence[FileMeaning]) -> str:
        """Return the senders of the file, as far as they are known: the organizer that it names may be forged."""
        parts = [part for one in written for part in (*one.event.parts, *one.before)]
        organizers = {part.organizer.address for part in parts if part.organizer}
        if not senders:
            is_new = all(one.effect is FileEffect.NEW for one in written)
            return "" if is_new and not organizers else gettext("It is unknown who made this file.")
        said = listed(list(senders))
        if not organizers:
            return said
        if organizers != set(senders):
            organizer = listed(sorted(organizers))
            return gettext("{senders}; the organizer is {organizer}, somebody else", senders=said, organizer=organizer)
        return gettext("{senders}, the organizer, as the email says; that is not proven", senders=said)

    def _lines(self, events: Iterable[Sequence[Occurrence]]) -> str:
        return "\n".join(whole_in_words(part, self.zone) for parts in events for part in parts)

    async def _text(self) -> str:
        file = await self.context.files.fetch(self.file.strip())
        if len(file.body) > _MAX_BYTES:
            raise ToolFailed(gettext("That calendar file is too large."))
        return file.body.decode("utf-8-sig", "replace")


def _nothing(meanings: Sequence[FileMeaning], *, cancels: bool) -> str:
    """Return why a file changes nothing."""
    effects = {one.effect for one in meanings}
    if FileEffect.FOREIGN in effects:
        return gettext("Somebody else has organized that event in your calendar, so nothing was changed.")
    if FileEffect.OLDER in effects:
        return gettext("The event in your calendar is newer than that file, so nothing was changed.")
    if cancels:
        return gettext("That file cancels an event that is not in your calendar, or is your own.")
    return gettext("That is in your calendar already.")


def _asked(new: int, changed: int, gone: int, calendar: str) -> str:
    """Return the heading of a card, with the planned changes."""
    told = []
    if new:
        told.append(
            ngettext(
                "Add {number} event to the calendar {calendar}",
                "Add {number} events to the calendar {calendar}",
                new,
                calendar=calendar,
            )
        )
    if changed:
        told.append(
            ngettext("Change {number} event as this file says", "Change {number} events as this file says", changed)
        )
    if gone:
        told.append(
            ngettext(
                "Delete {number} event that this file cancels",
                "Delete {number} events that this file cancels",
                gone,
            )
        )
    return "; ".join(told)


def _said(added: int, changed: int, gone: int, calendar: str) -> str:
    """Return the sentence about the changes made."""
    told = []
    if added or not (changed or gone):
        told.append(
            ngettext(
                "Added {number} event to the calendar {calendar}.",
                "Added {number} events to the calendar {calendar}.",
                added,
                calendar=calendar,
            )
        )
    if changed:
        told.append(ngettext("Changed {number} event.", "Changed {number} events.", changed))
    if gone:
        told.append(ngettext("Deleted {number} event.", "Deleted {number} events.", gone))
    return " ".join(told)


def _left_out(beyond: int, unreadable: int) -> str:
    """Return the number of events that are not written, with the reason."""
    told = []
    if beyond:
        told.append(
            ngettext(
                "{number} event does not fit on one card and is left out: ask again for it.",
                "{number} events do not fit on one card and are left out: ask again for them.",
                beyond,
            )
        )
    if unreadable:
        told.append(ngettext("{number} cannot be read.", "{number} cannot be read.", unreadable))
    return " ".join(told)


def _there[T](value: T | None) -> T:
    if value is None:
        raise ToolRetry(gettext("That calendar no longer exists."))
    return value


def _digest(file: EventFile) -> str:
    return hashlib.sha256("\n".join(event.text for event in file.events).encode()).hexdigest()
