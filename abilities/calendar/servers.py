"""The servers of a person's accounts: which calendars there are, and the events in them as they are stored."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from xml.etree.ElementTree import Element

from abilities.calendar.places import CalendarInfo
from abilities.dav.client import DavClient
from abilities.dav.discovery import discover
from abilities.dav.types import Kind, Resource
from abilities.dav.xml import CALDAV, DAV, element, prop
from core.credentials.types import OpenAccount
from core.errors import ToolFailed
from core.http.types import HttpClient
from core.language.catalogue import gettext

_DATA = f"{CALDAV}calendar-data"
_ETAG = f"{DAV}getetag"
_AROUND = timedelta(days=1)
"""Servers hold whole days, and times without a zone, against a span in UTC."""


class CalendarServers:
    """A person's accounts. An instance serves a single call: the calendars are looked up once."""

    def __init__(self, http: HttpClient, accounts: Sequence[OpenAccount]) -> None:
        self._clients = {_name(account): DavClient(http, account) for account in accounts}
        self._known: tuple[CalendarInfo, ...] | None = None
        self.problems: tuple[str, ...] = ()
        """Failed look-ups, in sentences."""

    async def list(self) -> Sequence[CalendarInfo]:
        """Return the calendars, the preferred calendar first. Raises `ToolFailed` if no account can be read."""
        if self._known is None:
            found = await asyncio.gather(*map(self._discovered, self._clients.values()), return_exceptions=True)
            failed = [one for one in found if isinstance(one, BaseException)]
            for error in failed:
                if not isinstance(error, ToolFailed):
                    raise error
            if failed and len(failed) == len(found):
                raise failed[0]
            self.problems = tuple(map(str, failed))
            known = list(chain.from_iterable(one for one in found if not isinstance(one, BaseException)))
            self._known = tuple(sorted(known, key=lambda one: (not one.preferred, not one.writable)))
        return self._known

    async def named(self, name: str = "", *, writable: bool = False) -> Sequence[CalendarInfo]:
        """Return the calendars with a name, or of an account; all without a name. Raises `ToolFailed` if none fits."""
        wanted = " ".join(name.split()).casefold()
        all_of_them = [one for one in await self.list() if one.writable or not writable]
        exact = [
            one
            for one in all_of_them
            if wanted in ("", one.name.casefold(), one.account.casefold(), one.account.partition(":")[2].casefold())
        ]
        found = exact or [one for one in all_of_them if wanted in one.name.casefold()]
        if not found:
            names = ", ".join(dict.fromkeys(one.name for one in all_of_them))
            if not names:
                raise ToolFailed(gettext("There is no calendar that I can write to in your accounts."))
            raise ToolFailed(gettext("There is no calendar “{name}”; there are {names}.", name=name, names=names))
        return found

    def client(self, account: str) -> DavClient:
        """Return the client of an account. Raises `ToolFailed` if it is no longer connected."""
        client = self._clients.get(account)
        if client is None:
            raise ToolFailed(gettext("That account is not connected any more."))
        return client

    async def events(self, calendar: CalendarInfo, start: datetime, end: datetime) -> Sequence[Resource]:
        """Return the events that a server finds in a span, and around it."""
        first, last = (at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ") for at in (start - _AROUND, end + _AROUND))
        during = element(f"{CALDAV}time-range", start=first, end=last)
        return await self._query(calendar, element(f"{CALDAV}comp-filter", during, name="VEVENT"))

    async def of_uid(self, calendar: CalendarInfo, uid: str) -> Sequence[Resource]:
        """Return the events of a calendar with a UID."""
        match = element(f"{CALDAV}text-match", uid, collation="i;octet")
        wanted = element(f"{CALDAV}prop-filter", match, name="UID")
        found = await self._query(calendar, element(f"{CALDAV}comp-filter", wanted, name="VEVENT"))
        # A server may match a part of it, too.
        return [one for one in found if f"UID:{uid}" in one.text.replace("\r\n ", "").splitlines()]

    async def _discovered(self, client: DavClient) -> Sequence[CalendarInfo]:
        home = await discover(client, Kind.CALENDAR)
        account = client.account.account
        names = {account.address.lower(), client.account.login.lower()}
        own = home.addresses | {name for name in names if "@" in name}
        first = next((one.url for one in home.collections if one.preferred and one.writable), "")
        first = first or next((one.url for one in home.collections if one.writable), "")
        base = CalendarInfo("", "", _name(client.account), own=own, schedules=home.schedules)
        return [
            replace(
                base,
                url=one.url,
                name=one.name,
                writable=one.writable,
                preferred=account.preferred and one.url == first,
            )
            for one in home.collections
        ]

    async def _query(self, calendar: CalendarInfo, events: Element) -> Sequence[Resource]:
        whole = element(f"{CALDAV}comp-filter", events, name="VCALENDAR")
        query = element(f"{CALDAV}calendar-query", prop([_ETAG, _DATA]), element(f"{CALDAV}filter", whole))
        answered = await self._clients[calendar.account].report(calendar.url, query)
        found = (Resource(answered.address(one.href), one.text(_ETAG), one.text(_DATA)) for one in answered.found)
        return [one for one in found if one.text]


def _name(account: OpenAccount) -> str:
    return f"{account.account.service}:{account.account.name}"
