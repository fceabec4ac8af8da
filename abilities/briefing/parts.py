"""The parts of a briefing, each read by itself and without a model. Third parties' texts are set as plain words."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from abilities.briefing.sections import Measure, Part, Section
from abilities.calendar.opening import midnight, open_calendars, wall_now, zone_of
from abilities.calendar.places import CalendarEntry
from abilities.mail.opening import READ, accounts_for
from abilities.moments.places import city_of, counts_in_fahrenheit
from abilities.weather.tools import Units, get_weather
from onevalet import (
    Account,
    AccountMissing,
    MailFailed,
    MailMessage,
    MailQuery,
    RefusedLogins,
    TaskNote,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    gettext,
    gettext_noop,
    ngettext,
    open_mailbox,
    others_words,
    read_messages,
    time_in_words,
)

BRIEFING = "briefing"
"""The executor of a briefing's task, and the kind of news by which people mute it."""
_HEADINGS: Mapping[Part, str] = {
    "weather": gettext_noop("Weather"),
    "calendar": gettext_noop("Calendar"),
    "mail": gettext_noop("Mail"),
    "reminders": gettext_noop("Reminders and tasks"),
    "waiting": gettext_noop("Waiting for you"),
}
_HEADERS = 16 * 1024
"""Bytes of a message in which its headers are looked for."""


@dataclass(frozen=True, slots=True)
class BriefingRequest:
    """A request for a briefing. `place` is the city for the weather; empty: their timezone's city."""

    context: ToolExecutionContext
    measure: Measure
    place: str = ""

    @property
    def zone(self) -> ZoneInfo:
        return zone_of(self.context)

    @property
    def today(self) -> tuple[datetime, datetime]:
        """Return the beginning and the end of the person's day, which is not always 24 hours long."""
        day = wall_now(self.context, self.zone).date()
        return midnight(day, self.zone), midnight(day + timedelta(days=1), self.zone)

    def words(self, text: str) -> str:
        """Return a third party's text as plain words, cut to the measure."""
        return others_words(text, self.measure.characters)


type Reader = Callable[[BriefingRequest], Awaitable[Section | None]]
"""Reads a part; None if it is empty.

Raises `ToolFailed` with a sentence for the person, and `AccountMissing` if no account can be read.
"""


async def read_weather(wanted: BriefingRequest) -> Section | None:
    """Read the weather of the day."""
    place = wanted.place or city_of(wanted.context.timezone)
    if not place:
        return None
    units: Units = "imperial" if counts_in_fahrenheit(wanted.context.timezone) else "metric"
    told = (await get_weather(place, wanted.context, units=units)).data
    day = told["days"][0] if told["days"] else {}
    if not day or None in (day["sky"], day["low"], day["high"]):
        raise ToolFailed(gettext("There is no forecast for today."))
    sky = str(day["sky"])
    known = {"sky": gettext(sky), "low": round(day["low"]), "high": round(day["high"])}
    if day["rain_chance"]:
        said = gettext("{sky}, {low} to {high} degrees, {chance} % chance of rain", chance=day["rain_chance"], **known)
    else:
        said = gettext("{sky}, {low} to {high} degrees", **known)
    return Section(gettext("Weather in {place}", place=wanted.words(told["place"].partition(",")[0])), said)


async def read_calendar(wanted: BriefingRequest) -> Section | None:
    """Read the rest of today's events, over all calendars."""
    start, end = wanted.today
    agenda = await (await open_calendars(wanted.context)).agenda(start, end)
    now = wanted.context.clock.now()
    entries = [
        entry
        for entry in agenda.entries
        if not (entry.occurrence.cancelled or entry.is_declined) and entry.occurrence.ends(wanted.zone) > now
    ]
    shown = tuple(_event(entry, wanted) for entry in entries[: wanted.measure.things])
    nothing = "" if entries or agenda.problems else gettext("nothing today")
    problem = next(iter(agenda.problems), "")
    return Section(heading("calendar"), nothing, shown, len(entries) - len(shown), problem)


async def read_mail(wanted: BriefingRequest) -> Section | None:
    """Read the senders and subjects of unread mail, over all mailboxes."""
    accounts = await accounts_for(wanted.context, READ, "")
    found: list[tuple[datetime, MailMessage]] = []
    count, failed = 0, list[MailFailed | AccountMissing]()
    for account in accounts:
        try:
            unread, mails = await _unread(account, wanted)
        except (MailFailed, AccountMissing) as error:  # a failing account keeps no other from being read
            failed.append(error)
            await note_refused(wanted.context, error)
            continue
        count, found = count + unread, found + mails
    if len(failed) == len(accounts):
        raise failed[0]
    found.sort(key=lambda mail: mail[0], reverse=True)
    shown = tuple(_mail(message, wanted) for _, message in found[: wanted.measure.things])
    said = ngettext("{number} unread", "{number} unread", count) if count else gettext("nothing unread")
    return Section(heading("mail"), said, shown, count - len(shown), str(failed[0]) if failed else "")


async def read_reminders(wanted: BriefingRequest) -> Section | None:
    """Read which reminders and tasks are due today, but not those that come again and again within a day."""
    _, end = wanted.today
    due = [
        (task.due, task)
        for task in await wanted.context.tasks.list()
        if task.active and task.due and task.due < end and _is_of_the_day(task)
    ]
    due.sort(key=lambda one: one[0])
    shown = tuple(
        gettext("{time} {title}", time=time_in_words(at.astimezone(wanted.zone)), title=wanted.words(task.title))
        for at, task in due[: wanted.measure.things]
    )
    return Section(heading("reminders"), "", shown, len(due) - len(shown)) if due else None


async def read_waiting(wanted: BriefingRequest) -> Section | None:
    """Read which actions wait for the person's consent, and which questions for their answer."""
    try:
        waiting = await wanted.context.person.waiting()
    except ToolFailed:  # this assistant keeps nothing, so nothing waits
        return None
    shown = tuple(
        gettext("{action} (code {code})", action=wanted.words(one.text), code=one.code)
        if one.code
        else wanted.words(one.text)
        for one in waiting[: wanted.measure.things]
    )
    return Section(heading("waiting"), "", shown, len(waiting) - len(shown)) if waiting else None


READERS: Mapping[Part, Reader] = {
    "weather": read_weather,
    "calendar": read_calendar,
    "mail": read_mail,
    "reminders": read_reminders,
    "waiting": read_waiting,
}


async def note_refused(context: ToolExecutionContext, error: ToolFailed | ToolRetry) -> None:
    """Note that an account is to be renewed, if that caused the failure."""
    if error.refused is not None and isinstance(context.accounts, RefusedLogins):
        await context.accounts.refused(error.refused)


def heading(part: Part) -> str:
    """Return the title of a part of which nothing is known."""
    return gettext(_HEADINGS[part])


def _event(entry: CalendarEntry, wanted: BriefingRequest) -> str:
    occurrence, zone, (start, end) = entry.occurrence, wanted.zone, wanted.today
    title = wanted.words(occurrence.title) or gettext("without a title")
    if occurrence.location:
        title = gettext("{title} ({place})", title=title, place=wanted.words(occurrence.location))
    begins, ends = occurrence.begins(zone).astimezone(zone), occurrence.ends(zone).astimezone(zone)
    if occurrence.all_day or (begins <= start and ends >= end):
        return gettext("all day: {title}", title=title)
    if begins < start:
        return gettext("until {time}: {title}", time=time_in_words(ends), title=title)
    when = time_in_words(begins)
    if begins < ends < end:
        when = gettext("{start}–{end}", start=when, end=time_in_words(ends))
    return gettext("{time} {title}", time=when, title=title)


async def _unread(account: Account, wanted: BriefingRequest) -> tuple[int, list[tuple[datetime, MailMessage]]]:
    """Return how many mails are unread in an inbox, and the newest of them."""
    opened = await wanted.context.accounts.open(f"{account.service}:{READ}", account.name)
    async with open_mailbox(opened, wanted.context.http) as box:
        uids = await box.search("INBOX", MailQuery(unread=True))
        mails = await box.fetch("INBOX", uids[-wanted.measure.things :], _HEADERS)
    messages = await read_messages([mail.data for mail in mails])
    oldest = wanted.context.clock.now() - timedelta(days=36500)
    moments = (mail.received or message.date or oldest for mail, message in zip(mails, messages, strict=True))
    return len(uids), list(zip(moments, messages, strict=True))


def _mail(message: MailMessage, wanted: BriefingRequest) -> str:
    sender = message.sender[0] if message.sender else None
    name = wanted.words(sender.name or sender.address) if sender else "?"
    return gettext("{label}: {value}", label=name, value=wanted.words(message.subject) or gettext("without a subject"))


def _is_of_the_day(task: TaskNote) -> bool:
    trigger = task.trigger
    return task.executor != BRIEFING and trigger.get("kind") == "schedule" and not trigger.get("interval_minutes")
