"""Move or change an event: the person's own at once; a series or a shared event after they have seen the result."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from abilities.calendar.agent import CalendarAgent, how_much, option, text_of
from abilities.calendar.creating import guests
from abilities.calendar.finding import find_event
from abilities.calendar.following import follow, moved_json
from abilities.calendar.group import GROUP
from abilities.calendar.letters import GuestMail, letters_of_change
from abilities.calendar.mailing import guest_mail, invitations, organizer_of
from abilities.calendar.opening import read_time, told_elsewhere
from abilities.calendar.places import CalendarEntry
from abilities.calendar.types import EventChange, SeriesScope
from onevalet import AgentResult, InputField, ToolFailed, ToolRetry, gettext, gettext_noop, listed, valet


@valet(
    name="change_event",
    effect="idempotent",
    group=GROUP,
    accounts=("calendar.change",),
    timeout=120,
    asks_itself=True,
)
class ChangeEvent(CalendarAgent):
    """Move an event in the person's calendar, or change its title, place, notes or guests.

    Their own single event is changed at once, and "undo" takes it back. A series, or an event with others, they are
    shown first, before and after. Name it by their words: it is looked up, so list_events is not needed before.
    """

    said_in_words = (
        "event",
        "day",
        "start",
        "minutes",
        "title",
        "location",
        "notes",
        "invite",
        "uninvite",
        "series",
        "calendar",
    )

    event = InputField(gettext_noop("Which event?"), description="Words of its title, as the person said them")
    day = option("The day on which it is now, with its time where they said it; the next one if left out")
    start = option("Its new start: 2027-01-31T15:00, or as they said it; a day alone keeps the time, a time the day")
    minutes = option("How long it lasts from now on", float, 0)
    title = option("Its new title")
    location = option("Its new place")
    notes = option("Its new notes")
    invite = guests("Email addresses of people to invite")
    uninvite = guests("Email addresses of people who are not invited any more")
    series = option("Of a series: this (usual), following, or all, as they said")
    calendar = option("The name of the calendar or account, only if they named one")

    async def plan(self) -> Mapping[str, Any]:
        calendars = await self.calendars()
        entry = await find_event(calendars, self.event, self.day, self.calendar, self.context, self.zone)
        if not entry.calendar.writable:
            raise ToolFailed(gettext("The calendar {name} can only be read.", name=f"“{entry.calendar.name}”"))
        if entry.is_organized_elsewhere:
            raise ToolFailed(
                gettext("Somebody else has organized this event, so only they can change it."),
                note="The person can answer the invitation (answer_invitation) or write to the organizer.",
            )
        scope = self.scope(self.series, entry)
        mail = await self._mail(entry)
        change = self._change(entry, organizer_of(entry.calendar, mail) if self.invite else "")
        after = _after(entry, change)
        if mail is not None:
            meant = replace(after.occurrence, rule="") if scope is SeriesScope.THIS else after.occurrence
            mail = mail.about(meant, self.zone)
        guests = bool(self.invite or self.uninvite)
        asks = entry.is_shared or guests or (scope is not SeriesScope.THIS and entry.occurrence.repeats)
        details = {"before": self.described(entry), "after": self.described(after), "calendar": entry.calendar.name}
        details |= self.with_others(entry)
        if notes := self.notes or (mail.notes if mail else ""):  # recipients of mail read the existing notes
            details["notes"] = notes
        if entry.occurrence.repeats:
            details["series"] = how_much(scope)
        if self.invite:
            details["invite"] = listed(self.invite)
        if self.uninvite:
            details["uninvite"] = listed(self.uninvite)
        if entry.is_shared or guests:
            details["invitations"] = invitations(entry.calendar, mail)
        return {
            "asks": asks,
            "summary": gettext("Change an event: {event}", event=self.described(after)),
            "details": details,
            "place": entry.place.to_json(),
            "scope": scope.value,
            "change": _to_json(change),
            "when": self.when(after),
            "text": text_of(entry),
            "moved": moved_json(entry.occurrence, after.occurrence if change.moves else entry.occurrence),
            "mail": mail.to_json() if mail else None,
            "served": (entry.is_shared or guests) and entry.calendar.schedules,
        }

    async def perform(self) -> AgentResult:
        plan, scope = self.planned, SeriesScope(self.planned["scope"])
        calendars = await self.calendars()
        written = await calendars.change(self.place(), scope, _from_json(plan["change"]))
        reminders, followed = await follow(self.context, plan["moved"], scope, self.zone)
        invited, told = await self.tell_guests(calendars, letters_of_change, scope, written)
        undo = ""
        if not written.repeated or self.planned_text():
            title = gettext("Changed: {event}", event=self._words)
            undo = self.offer_undo(title, written, before=self.planned_text(), reminders=reminders, told=told)
        # In the person's words: others may have written the event's.
        zone = f"{self.zone.key}{told_elsewhere(self.start, self.context, self.zone)}"
        said = gettext("Changed: “{event}”, {when} ({zone}).", event=self._words, when=plan["when"], zone=zone)
        return self.make_result(raw_message=f"{said}{followed}{invited}{undo}")

    async def _mail(self, entry: CalendarEntry) -> GuestMail | None:
        """Return the guests to notify by mail: those at the event, those newly invited, and those no longer invited."""
        before = [guest.address for guest in entry.occurrence.others(entry.calendar.own)]
        without = {address.lower() for address in self.uninvite}
        invited = [address.lower() for address in self.invite]
        after = [address for address in before if address not in without] + invited
        return await guest_mail(self.context, entry.calendar, before, after)

    @property
    def _words(self) -> str:
        return " ".join(str(self.title or self.event).split())[:200]

    def _change(self, entry: CalendarEntry, organizer: str) -> EventChange:
        start, end = self._times(entry)
        change = EventChange(
            title=" ".join(self.title.split()) or None,
            location=self.location or None,
            text=self.notes or None,
            start=start,
            end=end,
            zone=self.zone.key,
            invite=tuple(address.lower() for address in self.invite),
            uninvite=tuple(address.lower() for address in self.uninvite),
            organizer=organizer,
        )
        if replace(change, zone="", organizer="") == EventChange(zone=""):
            raise ToolRetry(gettext("What shall be different about it?"))
        return change

    def _times(self, entry: CalendarEntry) -> tuple[datetime | date | None, datetime | date | None]:
        """Return the new wall times, or days; None for those that stay."""
        occurrence = entry.occurrence
        if not self.start and not self.minutes:
            return None, None
        day, at = read_time(self.start, self.context, self.zone) if self.start else (None, None)
        if occurrence.all_day and at is None:
            return day, None
        old = occurrence.begins(self.zone).astimezone(self.zone).replace(tzinfo=None)
        begins = datetime.combine(day or old.date(), at or old.time())
        length = timedelta(hours=1) if occurrence.all_day else occurrence.ends(self.zone) - occurrence.begins(self.zone)
        length = timedelta(minutes=self.minutes) if self.minutes > 0 else length
        ends = datetime.fromtimestamp(
            begins.replace(tzinfo=self.zone).timestamp() + length.total_seconds(), self.zone
        ).replace(tzinfo=None)
        return (begins if self.start else None), ends


def _after(entry: CalendarEntry, change: EventChange) -> CalendarEntry:
    """Return an event as it will be."""
    old, zone = entry.occurrence, change.zone
    start, end = old.start, old.end
    if change.start is not None:
        start = _moment(change.start, zone)
        if not isinstance(start, datetime) and not isinstance(old.start, datetime):
            end = start + (_day(old.end) - old.start)
    if change.end is not None:
        end = _moment(change.end, zone)
    words = {"title": change.title, "location": change.location, "text": change.text}
    changed = {name: value for name, value in words.items() if value is not None}
    return replace(entry, occurrence=replace(old, start=start, end=end, **changed))  # type: ignore[arg-type]


def _moment(at: datetime | date, zone: str) -> datetime | date:
    return at.replace(tzinfo=ZoneInfo(zone)) if isinstance(at, datetime) else at


def _day(at: datetime | date) -> date:
    return at.date() if isinstance(at, datetime) else at


def _to_json(change: EventChange) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, date) else list(value) if isinstance(value, tuple) else value
        for name, value in asdict(change).items()
    }


def _from_json(data: Mapping[str, Any]) -> EventChange:
    values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in data.items()}
    for name in ("start", "end"):
        if text := values[name]:
            values[name] = datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
    return EventChange(**values)
