"""Cancel an event, an occurrence of a series, or the rest of a series; the person sees it first."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from abilities.calendar.agent import CalendarAgent, how_much, option, text_of
from abilities.calendar.finding import find_event
from abilities.calendar.following import follow, moved_json
from abilities.calendar.group import GROUP
from abilities.calendar.letters import letters_of_end
from abilities.calendar.mailing import guest_mail, invitations
from abilities.calendar.types import SeriesScope
from onevalet import AgentResult, InputField, ToolFailed, gettext, gettext_noop, valet


@valet(
    name="cancel_event",
    effect="idempotent",
    group=GROUP,
    accounts=("calendar.change",),
    timeout=120,
    asks_itself=True,
)
class CancelEvent(CalendarAgent):
    """Delete an event, or one or more of a series, from the person's calendar; they see it and agree first.

    Name it by their words: it is looked up, so list_events is not needed before.
    """

    said_in_words = ("event", "day", "series", "calendar")

    event = InputField(gettext_noop("Which event?"), description="Words of its title, as the person said them")
    day = option("The day on which it is, with its time where they said it; the next one if left out")
    series = option("Of a series: this (usual), following, or all, as they said")
    calendar = option("The name of the calendar or account, only if they named one")

    async def plan(self) -> Mapping[str, Any]:
        calendars = await self.calendars()
        entry = await find_event(calendars, self.event, self.day, self.calendar, self.context, self.zone)
        if not entry.calendar.writable:
            raise ToolFailed(gettext("The calendar {name} can only be read.", name=f"“{entry.calendar.name}”"))
        scope = self.scope(self.series, entry)
        details = {"event": self.described(entry), "calendar": entry.calendar.name, **self.with_others(entry)}
        if entry.occurrence.repeats:
            details["series"] = how_much(scope)
        mail, ours = None, entry.is_shared and not entry.is_organized_elsewhere
        if ours:
            others = [guest.address for guest in entry.occurrence.others(entry.calendar.own)]
            mail = await guest_mail(self.context, entry.calendar, others, ())
            details["invitations"] = invitations(entry.calendar, mail)
        if mail is not None:
            meant = replace(entry.occurrence, rule="") if scope is SeriesScope.THIS else entry.occurrence
            mail = mail.about(meant, self.zone)
        return {
            "asks": True,
            "summary": gettext("Delete an event: {event}", event=self.described(entry)),
            "details": details,
            "place": entry.place.to_json(),
            "scope": scope.value,
            "when": self.when(entry),
            "text": text_of(entry),
            "moved": moved_json(entry.occurrence, None),
            "mail": mail.to_json() if mail else None,
            "served": ours and entry.calendar.schedules,
        }

    async def perform(self) -> AgentResult:
        calendars, plan, scope = await self.calendars(), self.planned, SeriesScope(self.planned["scope"])
        written = await calendars.cancel(self.place(), scope)
        words = " ".join(str(self.event).split())[:200]
        reminders, followed = await follow(self.context, plan["moved"], scope, self.zone)
        invited, told = await self.tell_guests(calendars, letters_of_end, scope, written)
        title = gettext("Deleted: {event}", event=words)
        undo = ""
        if not written.repeated or self.planned_text():
            undo = self.offer_undo(title, written, before=self.planned_text(), reminders=reminders, told=told)
        said = gettext("Deleted: “{event}”, {when} ({zone}).", event=words, when=plan["when"], zone=self.zone.key)
        return self.make_result(raw_message=f"{said}{followed}{invited}{undo}")
