"""A person's calendars over all their accounts, read together, written an event at a time; the entry of this room.

Each write may be repeated: a new event's UID follows from the call, and a changed event bears the call's mark. Changes
made elsewhere are not overwritten.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from abilities.calendar import objects
from abilities.calendar.objects import Stamp
from abilities.calendar.places import (
    Agenda,
    CalendarEntry,
    CalendarInfo,
    EventPlace,
    FileMeaning,
    WrittenEvent,
    mark_of,
    uid_of,
)
from abilities.calendar.servers import CalendarServers
from abilities.calendar.types import (
    EventChange,
    EventFile,
    FileEffect,
    FileEvent,
    InvitationAnswer,
    ItipMessage,
    NewEvent,
    SeriesScope,
)
from abilities.dav.types import Changed, Missing, Resource
from abilities.dav.xml import CALDAV, DAV
from core.credentials.types import OpenAccount
from core.errors import ToolFailed
from core.http.types import HttpClient
from core.language.catalogue import gettext
from core.language.unseen import one_line

_ICAL = "text/calendar"
_DATA = f"{CALDAV}calendar-data"
_ETAG = f"{DAV}getetag"
_AROUND = timedelta(days=1)
"""Servers hold whole days, and times without a zone, against a span in UTC."""
MAX_OBJECTS = 3000
_MAX_NAMED = 3
_SUMMARY = re.compile(r"^SUMMARY(?:;[^:\r\n]{0,200})?:([^\r\n]{1,200})", re.MULTILINE)


class Calendars:
    """A person's calendars. An instance serves a single call: the calendars are looked up once."""

    def __init__(
        self, http: HttpClient, accounts: Sequence[OpenAccount], zone: ZoneInfo, key: str, now: datetime
    ) -> None:
        """`key` names the call and is the same for its repeat; times without a zone are in the given zone."""
        self._servers = CalendarServers(http, accounts)
        self._zone = zone
        self._key = key
        self._stamp = Stamp(mark_of(key), now)

    async def list(self) -> Sequence[CalendarInfo]:
        """Return the calendars, the preferred calendar first. Raises `ToolFailed` if no account can be read."""
        return await self._servers.list()

    async def named(self, name: str = "", *, writable: bool = False) -> Sequence[CalendarInfo]:
        """Return the calendars with a name, or of an account; all without a name. Raises `ToolFailed` if none fits."""
        return await self._servers.named(name, writable=writable)

    async def agenda(self, start: datetime, end: datetime, calendar: str = "", words: str = "") -> Agenda:
        """Return the events between two moments; with words, only those that have all of them."""
        calendars = await self.named(calendar)
        read = await asyncio.gather(
            *(self._servers.events(one, start, end) for one in calendars), return_exceptions=True
        )
        problems, objects_read = list(self._servers.problems), list[tuple[CalendarInfo, Resource]]()
        for info, found in zip(calendars, read, strict=True):
            if isinstance(found, ToolFailed):
                problems.append(f"{info.name}: {found}")
            elif isinstance(found, BaseException):
                raise found
            else:
                objects_read += [(info, resource) for resource in found if _has(resource.text, words)]
        expanded = await objects.expand([one.text for _, one in objects_read[:MAX_OBJECTS]], start, end, self._zone)
        if unread := [objects_read[number] for number in sorted(expanded.unread)]:
            problems.append(_left_out(unread))
        problems += [_comes_once(objects_read[number][1]) for number in sorted(expanded.once)[:_MAX_NAMED]]
        if len(objects_read) > MAX_OBJECTS:
            problems.append(gettext("Some events cannot be read, and are left out."))
        entries = dict[tuple[str, str, str], CalendarEntry]()
        for number, occurrence in expanded.found:
            info, resource = objects_read[number]
            place = EventPlace(info.account, resource.url, resource.etag, occurrence.recurrence)
            same = occurrence.uid, occurrence.recurrence, str(occurrence.start)
            entries.setdefault(same, CalendarEntry(occurrence, info, place, resource.text))
        return Agenda(tuple(entries.values()), tuple(dict.fromkeys(problems)))

    def wrote(self, entry: CalendarEntry) -> bool:
        """Return whether this very call wrote an event."""
        return entry.occurrence.key == self._stamp.key

    async def create(self, calendar: CalendarInfo, event: NewEvent) -> WrittenEvent:
        """Write a new event; a repeat of the same call finds it written."""
        uid = uid_of(self._key)
        text = await objects.make_event(event, uid, self._stamp)
        return await self._created(calendar.account, f"{calendar.url}{uid}.ics", text)

    async def add(self, calendar: CalendarInfo, event: FileEvent) -> WrittenEvent | None:
        """Write an event of a file; return None if the calendar has it already."""
        for resource in await self._servers.of_uid(calendar, event.occurrence.uid):
            if f":{event.occurrence.key}" not in resource.text:
                return None
            return WrittenEvent(EventPlace(calendar.account, resource.url, resource.etag), repeated=True)
        url = f"{calendar.url}{uid_of(event.occurrence.uid)}.ics"
        return await self._created(calendar.account, url, event.text)

    async def meaning(self, event: FileEvent, *, cancels: bool = False) -> FileMeaning:
        """Return the effect of a file's event on the writable calendars; `cancels`: the file cancels it."""
        for calendar in await self.named(writable=True):
            for resource in await self._servers.of_uid(calendar, event.occurrence.uid):
                own = calendar.own
                found = await objects.file_meaning(resource.text, event, self._zone, own, cancels=cancels)
                return replace(found, place=EventPlace(calendar.account, resource.url, resource.etag))
        return FileMeaning(FileEffect.THERE if cancels else FileEffect.NEW, event)

    async def take_over(self, place: EventPlace, text: str) -> WrittenEvent:
        """Write an event as its organizer has sent it, over the stored event; without a text delete it."""
        if not text:
            return await self.cancel(place, SeriesScope.ALL)
        before = await self._as_read(place)
        if isinstance(before, WrittenEvent):
            return before
        return await self._replaced(place, before, text)

    async def change(self, place: EventPlace, scope: SeriesScope, change: EventChange) -> WrittenEvent:
        """Change an event as it was read; raises `Changed` if it has been changed elsewhere since."""
        uid, folder = uid_of(self._key), place.url.rpartition("/")[0]
        before = await self._as_read(place)
        if isinstance(before, WrittenEvent):
            return replace(before, parted=await self._parted(place, f"{folder}/{uid}.ics", scope))
        text, more = await objects.change_event(before.text, place.recurrence, scope, change, uid, self._stamp)
        parted = None
        if more:
            # The new part comes first: a repeat finds it, and the old series is complete until it is shortened.
            parted = (await self._created(place.account, f"{folder}/{uid}.ics", more)).place
        return replace(await self._replaced(place, before, text), parted=parted)

    async def cancel(self, place: EventPlace, scope: SeriesScope) -> WrittenEvent:
        """Delete an event, or leave an occurrence, or those from it on, out of its series."""
        try:
            before = await self._as_read(place)
        except Missing:
            return WrittenEvent(replace(place, etag=""), repeated=True)
        if isinstance(before, WrittenEvent):
            return before
        if scope is SeriesScope.ALL or not place.recurrence:
            await self._servers.client(place.account).delete(before)
            return WrittenEvent(replace(place, etag=""), before.text)
        text = await objects.cancel_occurrence(before.text, place.recurrence, scope, self._stamp)
        return await self._replaced(place, before, text)

    async def answer(
        self, place: EventPlace, scope: SeriesScope, answer: InvitationAnswer, own: frozenset[str]
    ) -> WrittenEvent:
        """Write the person's answer into an invitation; `own` are the addresses under which they are invited."""
        before = await self._as_read(place)
        if isinstance(before, WrittenEvent):
            return before
        text = await objects.answer_invitation(before.text, place.recurrence, scope, answer, own, self._stamp)
        return await self._replaced(place, before, text)

    async def message(self, message: ItipMessage, place: EventPlace, text: str = "") -> str:
        """Return a message to an event's guests about its present state, or about an earlier text of it."""
        text = text or (await self._servers.client(place.account).get(place.url)).text
        return await objects.itip_message(text, message, self._stamp)

    async def put_back(self, place: EventPlace, before: str) -> None:
        """Undo a write by restoring the former event. Raises `Changed` if it has been changed since."""
        client = self._servers.client(place.account)
        if not before:
            await client.delete(Resource(place.url, place.etag))
            return
        try:
            now = await client.get(place.url)
        except Missing:
            await self._created(place.account, place.url, before)
            return
        if _plain(now.text) == _plain(before):
            return
        if not place.etag or now.etag != place.etag:
            raise Changed(412, urlsplit(place.url).hostname or "")
        await client.replace(now, before, _ICAL)

    async def read_file(self, text: str) -> EventFile:
        """Return the contents of a calendar file from another person."""
        own = frozenset(chain.from_iterable(one.own for one in await self.list()))
        return await objects.read_event_file(text, self._zone, own, self._stamp.key)

    async def _as_read(self, place: EventPlace) -> Resource | WrittenEvent:
        """Return an event that is still as it was read, or as this very call has written it already."""
        now = await self._servers.client(place.account).get(place.url)
        if f":{self._stamp.key}" in now.text:
            return WrittenEvent(replace(place, etag=now.etag or place.etag), repeated=True)
        if place.etag and now.etag and now.etag != place.etag:
            raise Changed(412, urlsplit(place.url).hostname or "")
        return now if now.etag else replace(now, etag=place.etag)

    async def _parted(self, place: EventPlace, url: str, scope: SeriesScope) -> EventPlace | None:
        """Return the series that an earlier run of this call has split off."""
        if scope is not SeriesScope.FOLLOWING:
            return None
        try:
            return EventPlace(place.account, url, (await self._servers.client(place.account).get(url)).etag)
        except Missing:
            return None

    async def _created(self, account: str, url: str, text: str) -> WrittenEvent:
        client = self._servers.client(account)
        try:
            etag, repeated = await client.create(url, text, _ICAL), False
        except Changed:
            # It is ours: the address follows from the call, so that only a repeat of it finds something there.
            etag, repeated = (await client.get(url)).etag, True
        return WrittenEvent(EventPlace(account, url, etag or (await client.get(url)).etag), repeated=repeated)

    async def _replaced(self, place: EventPlace, before: Resource, text: str) -> WrittenEvent:
        client = self._servers.client(place.account)
        etag = await client.replace(before, text, _ICAL)
        return WrittenEvent(replace(place, etag=etag or (await client.get(place.url)).etag), before.text)


def _left_out(unread: Sequence[tuple[CalendarInfo, Resource]]) -> str:
    """Return a sentence about omitted events: how many of each calendar, and some of their titles."""
    counts = Counter(info.name for info, _ in unread)
    titles = dict.fromkeys(title for _, resource in unread if (title := _title(resource.text)))
    named = ", ".join(f"“{title}”" for title in [*titles][:_MAX_NAMED])
    calendars = ", ".join(f"{name}: {count}" for name, count in counts.items())
    if not named:
        return gettext(
            "Some events are unreadable or too complex, and are left out ({calendars}).",
            calendars=calendars,
        )
    return gettext(
        "Some events are unreadable or too complex, and are left out ({calendars}), among them {titles}.",
        calendars=calendars,
        titles=named,
    )


def _comes_once(resource: Resource) -> str:
    return gettext(
        "The repetition of “{title}” cannot be read: only its first time is shown.", title=_title(resource.text)
    )


def _title(text: str) -> str:
    found = _SUMMARY.search(text)
    return one_line(found[1])[:60] if found else ""


def _has(text: str, words: str) -> bool:
    folded = text.replace("\r\n ", "").replace("\n ", "").casefold() if words else ""
    return all(word in folded for word in words.casefold().split())


def _plain(text: str) -> Sequence[str]:
    return [line for line in text.replace("\r\n", "\n").split("\n") if line and not line.startswith("DTSTAMP")]
