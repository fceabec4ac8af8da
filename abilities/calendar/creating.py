"""Create an event: the person's own at once, a repeating or shared event after they agree."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from abilities.calendar.agent import CalendarAgent, one_line, option
from abilities.calendar.calendars import Calendars
from abilities.calendar.free_time import busy_spans
from abilities.calendar.group import GROUP
from abilities.calendar.letters import letters_of_invitation, mail_in
from abilities.calendar.mailing import guest_mail, invitations, organizer_of
from abilities.calendar.opening import read_time, told_elsewhere
from abilities.calendar.places import CalendarInfo
from abilities.calendar.types import NewEvent, Occurrence, SeriesScope, day_or_moment
from abilities.calendar.words import rule_in_full, rule_in_words, span_in_words
from onevalet import AgentResult, InputField, ToolRetry, gettext, gettext_noop, listed, time_in_words, valet

_RULE = re.compile(
    r"FREQ=(?:DAILY|WEEKLY|MONTHLY|YEARLY)(?:;(?:INTERVAL|COUNT|UNTIL|BYDAY|BYMONTHDAY|BYMONTH|BYSETPOS|WKST)=[A-Z0-9,+-]{1,60}){0,6}"
)
_WORDS = {
    "daily": "FREQ=DAILY",
    "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "weekly": "FREQ=WEEKLY",
    "monthly": "FREQ=MONTHLY",
    "yearly": "FREQ=YEARLY",
}
ADDRESS = re.compile(r"[\w!#$%&'*+/=?^`{|}~.-]{1,64}@(?:[a-z0-9-]{1,63}\.)+[a-z]{2,63}", re.ASCII | re.IGNORECASE)
_MAX_GUESTS = 50
_MAX_MINUTES = 31 * 24 * 60


def guests(description: str) -> InputField:
    """Return a field for guests by their addresses, which nobody is asked for."""
    return InputField("", description=description, type=list[str], required=False, default=[], validator=_are_addresses)


def _are_addresses(given: Sequence[str]) -> str | None:
    if len(given) > _MAX_GUESTS:
        return gettext("these are more than {number} addresses", number=_MAX_GUESTS)
    wrong = [address for address in given if not ADDRESS.fullmatch(address)]
    return gettext("“{text}” is not an email address", text=wrong[0]) if wrong else None


@valet(
    name="create_event",
    effect="idempotent",
    group=GROUP,
    accounts=("calendar.change",),
    timeout=120,
    asks_itself=True,
)
class CreateEvent(CalendarAgent):
    """Put an event into the person's calendar. Their own is created at once, and "undo" takes it back.

    One that repeats, or to which others are invited, they are shown first. Tell them what is said about when it is.
    """

    said_in_words = ("title", "start", "minutes", "days", "location", "notes", "repeats", "invite", "calendar")

    title = InputField(
        gettext_noop("What is the event called?"),
        description="Its title",
        validator=one_line,
        validator_description=gettext_noop("1 to 200 characters"),
    )
    start = InputField(
        gettext_noop("When does it begin?"),
        description='In their own time: 2027-01-31T15:00, or as they said it ("tomorrow at 3"); for whole days the day',
    )
    minutes = option("How long it lasts; an hour unless they say otherwise", float, 60)
    days = option("For an event of whole days, such as a birthday or a holiday: how many; else leave it out", int, 0)
    location = option("Where it is")
    notes = option("Anything else that they want noted in it")
    repeats = option("daily, weekdays, weekly, monthly, yearly, or an RRULE such as FREQ=WEEKLY;INTERVAL=2;BYDAY=MO")
    invite = guests("Email addresses of the people to invite, only if they said so")
    calendar = option("The name of the calendar or account, only if they named one")

    async def plan(self) -> Mapping[str, Any]:
        calendars = await self.calendars()
        target = await writable(calendars, self.calendar)
        start, end = self._times()
        rule = _rule(self.repeats)
        when = span_in_words(*self._moments(start, end), self.zone)
        elsewhere = told_elsewhere(str(self.start), self.context, self.zone)
        shown = {"event": self._title, "start": f"{when}{elsewhere}", "calendar": target.name}
        if rule:
            shown["repeats"] = rule_in_full(rule)
        if self.location:
            shown["location"] = self.location
        if self.notes:
            shown["notes"] = self.notes
        mail = await guest_mail(self.context, target, (), self._guests)
        if mail is not None:
            first, last = self._moments(start, end)
            event = Occurrence("", first, last, title=self._title, location=self.location, text=self.notes, rule=rule)
            mail = mail.about(event, self.zone)
        if self.invite:
            shown |= {"invite": listed(self.invite), "invitations": invitations(target, mail)}
        return {
            "asks": bool(rule or self.invite),
            "summary": gettext("Put “{title}” into the calendar, {when}", title=self._title, when=when),
            "details": shown,
            "start": start.isoformat(),
            "end": end.isoformat(),
            "rule": rule,
            "calendar": target.url,
            "mail": mail.to_json() if mail else None,
            "served": bool(self.invite) and target.schedules,
        }

    async def perform(self) -> AgentResult:
        calendars, plan = await self.calendars(), self.planned
        target = next((one for one in await calendars.list() if one.url == plan["calendar"]), None)
        if target is None:
            raise ToolRetry(gettext("That calendar no longer exists."))
        start, end = (day_or_moment(str(plan[name])) for name in ("start", "end"))
        overlaps = await self._overlaps(calendars, start, end)
        event = NewEvent(
            title=self._title,
            start=start,
            end=end,
            zone=self.zone.key,
            location=self.location,
            text=self.notes,
            rule=str(plan["rule"]),
            guests=self._guests,
            organizer=organizer_of(target, mail_in(plan)) if self.invite else "",
        )
        written = await calendars.create(target, event)
        # After a repeat the words may be another call's: the event is ours in any case.
        invited, told = await self.tell_guests(calendars, letters_of_invitation, SeriesScope.ALL, written)
        if self.invite and not invited:
            invited = f" {invitations(target, None)}"
        undo = self.offer_undo(gettext("Event: {title}", title=self._title), written, told=told)
        when = span_in_words(*self._moments(start, end), self.zone)
        said = gettext(
            "“{title}” is in your calendar {calendar}: {when} ({zone}).",
            title=self._title,
            calendar=target.name,
            when=when,
            zone=f"{self.zone.key}{told_elsewhere(str(self.start), self.context, self.zone)}",
        )
        repeats = " " + gettext("It repeats {often}.", often=rule_in_words(event.rule)) if event.rule else ""
        return self.make_result(raw_message=f"{said}{repeats}{overlaps}{invited}{undo}")

    @property
    def _guests(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(address.lower() for address in self.invite))

    @property
    def _title(self) -> str:
        return " ".join(str(self.title).split())

    def _times(self) -> tuple[datetime | date, datetime | date]:
        """Return the wall times, or the days."""
        day, at = read_time(str(self.start), self.context, self.zone)
        now = self.context.clock.now().astimezone(self.zone).replace(tzinfo=None)
        if self.days:
            first = day or now.date()
            return first, first + timedelta(days=min(max(self.days, 1), 366))
        if at is None:
            raise ToolRetry(
                gettext("At what time does it begin?"), note="Ask them; for an event of whole days give days."
            )
        if not 0 < self.minutes <= _MAX_MINUTES:
            raise ToolRetry("minutes must be positive, and at most a month.")
        begins = datetime.combine(day or now.date(), at)
        if day is None and begins <= now:
            begins += timedelta(days=1)
        return begins, self._after(begins, self.minutes)

    def _after(self, begins: datetime, count: float) -> datetime:
        """Return the wall time after some minutes, counted across a change of the clocks."""
        moment = datetime.fromtimestamp(begins.replace(tzinfo=self.zone).timestamp() + count * 60, self.zone)
        return moment.replace(tzinfo=None)

    def _moments(self, start: datetime | date, end: datetime | date) -> tuple[datetime | date, datetime | date]:
        return self._moment(start), self._moment(end)

    def _moment(self, at: datetime | date) -> datetime | date:
        return at.replace(tzinfo=self.zone) if isinstance(at, datetime) else at

    async def _overlaps(self, calendars: Calendars, start: datetime | date, end: datetime | date) -> str:
        """Return the times of other events at that time, without their titles, which others may have written."""
        first, last = self._moment(start), self._moment(end)
        if not (isinstance(first, datetime) and isinstance(last, datetime)):
            return ""
        agenda = await calendars.agenda(first, last)
        others = [entry for entry in agenda.entries if not calendars.wrote(entry)]
        spans = [
            gettext(
                "{start}–{end}",
                start=time_in_words(begins.astimezone(self.zone)),
                end=time_in_words(ends.astimezone(self.zone)),
            )
            for begins, ends in busy_spans(others, self.zone)
        ]
        return " " + gettext("There are other events at that time: {spans}.", spans=", ".join(spans)) if spans else ""


async def writable(calendars: Calendars, name: str) -> CalendarInfo:
    """Return the calendar that takes a new event."""
    return (await calendars.named(name, writable=True))[0]


def _rule(repeats: str) -> str:
    words = repeats.strip()
    rule = _WORDS.get(words.lower(), words.upper().removeprefix("RRULE:"))
    if rule and not _RULE.fullmatch(rule):
        raise ToolRetry("repeats is daily, weekdays, weekly, monthly, yearly, or an RRULE with FREQ from DAILY up.")
    return rule
