"""Answer an invitation: accept, decline, or maybe; the person first sees the answer and its recipient."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from abilities.calendar.agent import CalendarAgent, how_much, option, text_of
from abilities.calendar.finding import find_event
from abilities.calendar.group import GROUP
from abilities.calendar.letters import GuestMail, letters_of_answer
from abilities.calendar.mailing import by_mail, guest_mail, how_to_connect
from abilities.calendar.types import InvitationAnswer, SeriesScope
from onevalet import AgentResult, InputField, ToolFailed, gettext, gettext_noop, valet

_ANSWERS = {
    "accept": (
        InvitationAnswer.ACCEPTED,
        gettext_noop("Accept an invitation: {event}"),
        gettext_noop("Accepted: {event}"),
    ),
    "decline": (
        InvitationAnswer.DECLINED,
        gettext_noop("Decline an invitation: {event}"),
        gettext_noop("Declined: {event}"),
    ),
    "maybe": (
        InvitationAnswer.TENTATIVE,
        gettext_noop("Answer “maybe” to an invitation: {event}"),
        gettext_noop("Perhaps: {event}"),
    ),
}
"""Each answer with the heading of its card, and with the subject of the mail to who invites."""


def _is_answer(given: str) -> bool:
    return given in _ANSWERS


@valet(
    name="answer_invitation",
    effect="idempotent",
    group=GROUP,
    accounts=("calendar.change",),
    timeout=120,
    asks_itself=True,
)
class AnswerInvitation(CalendarAgent):
    """Answer an invitation in the person's calendar for them; they are shown it and agree first."""

    said_in_words = ("event", "answer", "day", "series", "calendar")

    event = InputField(gettext_noop("Which event?"), description="Words of its title or of who invites, as they said")
    answer = InputField(
        gettext_noop("Do you accept, decline, or answer “maybe”?"),
        description="accept, decline or maybe",
        validator=_is_answer,
        validator_description=gettext_noop("accept, decline or maybe"),
    )
    day = option("The day on which it is, with its time where they said it; the next one if left out")
    series = option("Of a series: this, or all (usual)", default="all")
    calendar = option("The name of the calendar or account, only if they named one")

    async def plan(self) -> Mapping[str, Any]:
        calendars = await self.calendars()
        entry = await find_event(calendars, self.event, self.day, self.calendar, self.context, self.zone)
        if not entry.is_organized_elsewhere:
            raise ToolFailed(gettext("That event is not an invitation: nobody else organized it."))
        organizer = entry.occurrence.organizer.address if entry.occurrence.organizer else ""
        scope = SeriesScope.THIS if self.series == "this" and entry.occurrence.repeats else SeriesScope.ALL
        event = self.described(entry)
        mail = await guest_mail(self.context, entry.calendar, (), (organizer,))
        details = {"event": event, "calendar": entry.calendar.name, **self.with_others(entry)}
        if entry.occurrence.repeats:
            details["series"] = how_much(scope)
        details["invitations"] = _sent(organizer, mail, schedules=entry.calendar.schedules)
        if mail is not None:
            meant = replace(entry.occurrence, text="", rule="" if scope is SeriesScope.THIS else entry.occurrence.rule)
            mail = mail.about(meant, self.zone)
            mail = replace(mail, event=gettext(_ANSWERS[self.answer][2], event=mail.event))
        return {
            "asks": True,
            "summary": gettext(_ANSWERS[self.answer][1], event=event),
            "details": details,
            "place": entry.place.to_json(),
            "own": sorted(entry.calendar.own),
            "mail": mail.to_json() if mail else None,
            "served": entry.calendar.schedules,
            "scope": scope.value,
            "when": self.when(entry),
            "text": text_of(entry),
        }

    async def perform(self) -> AgentResult:
        calendars, plan, scope = await self.calendars(), self.planned, SeriesScope(self.planned["scope"])
        own = frozenset(map(str, plan["own"]))
        written = await calendars.answer(self.place(), scope, _ANSWERS[self.answer][0], own)
        words = " ".join(str(self.event).split())[:200]
        said = gettext(
            "Your answer is noted: “{event}”, {when} ({zone}).", event=words, when=plan["when"], zone=self.zone.key
        )
        sent, told = await self.tell_guests(calendars, letters_of_answer, scope, written)
        sent = sent or f" {_sent('', None, schedules=bool(plan.get('served')))}"
        title, undo = gettext("Answer: {event}", event=words), ""
        if not written.repeated or self.planned_text():
            undo = self.offer_undo(title, written, before=self.planned_text(), told=told)
        return self.make_result(raw_message=f"{said}{sent}{undo}")


def _sent(organizer: str, mail: GuestMail | None, *, schedules: bool) -> str:
    """Return a sentence about who notifies the organizer."""
    if schedules and organizer:
        return gettext("The calendar's server tells {address}.", address=organizer)
    if schedules:
        return gettext("The calendar's server notifies the person who invited you.")
    if mail is not None:
        return by_mail(mail)
    nobody = gettext("The calendar's server notifies nobody: the person who invited you must be told by email.")
    return f"{nobody} {how_to_connect()}"
