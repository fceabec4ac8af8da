"""Answer an invitation: accept, decline, or perhaps; the person is shown what and to whom first."""

from collections.abc import Mapping
from typing import Any

from agents.calendar.agent import CalendarAgent, option, text_of
from agents.calendar.finding import find_event
from onevalet import (
    AgentResult,
    InputField,
    InvitationAnswer,
    SeriesScope,
    ToolFailed,
    gettext,
    gettext_noop,
    valet,
)

_ANSWERS = {
    "accept": (InvitationAnswer.ACCEPTED, gettext_noop("Accept an invitation: {event}")),
    "decline": (InvitationAnswer.DECLINED, gettext_noop("Decline an invitation: {event}")),
    "maybe": (InvitationAnswer.TENTATIVE, gettext_noop("Answer “perhaps” to an invitation: {event}")),
}


def _is_answer(given: str) -> bool:
    return given in _ANSWERS


@valet(
    name="answer_invitation",
    effect="idempotent",
    group="calendar",
    accounts=("calendar.change",),
    timeout=120,
    asks_itself=True,
)
class AnswerInvitation(CalendarAgent):
    """Answer an invitation in the person's calendar for them; they are shown it and agree first."""

    event = InputField(gettext_noop("Which event?"), description="Words of its title or of who invites, as they said")
    answer = InputField(
        gettext_noop("Do you accept, decline, or perhaps?"),
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
            raise ToolFailed(gettext("That event is no invitation: nobody else has organized it."))
        organizer = entry.occurrence.organizer
        scope = SeriesScope.THIS if self.series == "this" and entry.occurrence.repeats else SeriesScope.ALL
        event = self.described(entry)
        return {
            "asks": True,
            "summary": gettext(_ANSWERS[self.answer][1], event=event),
            "details": {
                "event": event,
                **self.with_others(entry),
                "invitations": _sent(organizer.address if organizer else "", schedules=entry.calendar.schedules),
            },
            "place": entry.place.to_json(),
            "own": sorted(entry.calendar.own),
            "schedules": entry.calendar.schedules,
            "scope": scope.value,
            "when": self.when(entry),
            "text": text_of(entry),
        }

    async def perform(self) -> AgentResult:
        calendars, plan = await self.calendars(), self.planned
        answer, _ = _ANSWERS[self.answer]
        own = frozenset(map(str, plan["own"]))
        written = await calendars.answer(self.place(), SeriesScope(plan["scope"]), answer, own)
        words = " ".join(str(self.event).split())[:200]
        said = gettext(
            "Your answer is noted: “{event}”, {when} ({zone}).", event=words, when=plan["when"], zone=self.zone.key
        )
        told = _sent("", schedules=bool(plan["schedules"]))
        title, undo = gettext("Answer: {event}", event=words), ""
        if not written.repeated or self.planned_text():
            undo = self.offer_undo(title, written, before=self.planned_text(), told=bool(plan["schedules"]))
        return self.make_result(raw_message=f"{said} {told}{undo}")


def _sent(organizer: str, *, schedules: bool) -> str:
    """Return who tells the organizer."""
    if schedules and organizer:
        return gettext("The calendar's server tells {address}.", address=organizer)
    if schedules:
        return gettext("The calendar's server tells whoever invited you.")
    return gettext("The calendar's server tells nobody: whoever invited you has to be told by email.")
