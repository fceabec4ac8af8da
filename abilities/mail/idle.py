"""A watched mailbox: its arrivals, and the wait for more. It is only read (EXAMINE, BODY.PEEK)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.credentials.types import OpenAccount
from core.http.types import HttpClient
from core.language.catalogue import gettext
from providers.email.imap import search
from providers.email.imap_answers import (
    MESSAGES,
    UID,
    day_argument,
    folder_number,
    moment_of,
    number_after,
    stored_mail,
)
from providers.email.imap_wire import ImapRefused, ImapResponse, ImapWire, log_in, open_wire
from providers.email.servers import server_of
from providers.email.types import MailFailed, MailFailure, StoredMail

BEGINNING = 64 * 1024
"""Bytes of a message that are read: its headers, and the beginning of its text."""
INBOX = "INBOX"

IDLE = "IDLE"
"""The capability of a server that reports new mail by itself."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message by its number, and when it came into the folder."""

    uid: int
    at: datetime


@dataclass(slots=True)
class IdleMailbox:
    """The inbox of an account, open for reading. Every method raises `ImapError` and `ImapRefused`.

    `next_uid` was the UID of the next message when the inbox was opened; 0 if the server did not report it.
    """

    wire: ImapWire
    validity: int
    next_uid: int
    idles: bool

    async def after(self, uid: int) -> Sequence[Arrival]:
        """Return the arrivals after a message, the oldest first."""
        # `*` is the last message of any number: a server returns at least that.
        return await self._arrivals(b"UID FETCH %d:* (UID INTERNALDATE)" % (uid + 1), lambda found: found.uid > uid)

    async def since(self, moment: datetime) -> Sequence[Arrival]:
        """Return the arrivals in the folder since a moment, in the order of the folder."""
        # A server searches by days, in a timezone of its own, and stores whole seconds.
        day = day_argument(moment.date() - timedelta(days=1))
        first = min(await search(self.wire, f"SINCE {day}".encode()), default=0)
        if not first:
            return []
        whole, asked = moment.replace(microsecond=0), b"UID FETCH %d:* (UID INTERNALDATE)" % first
        return await self._arrivals(asked, lambda found: found.uid >= first and found.at >= whole)

    async def last(self, count: int) -> Sequence[Arrival]:
        """Return the messages that came last, the newest first."""
        counted = await self.wire.gather(
            lambda answer: number_after(MESSAGES, answer.text) or None, b"STATUS INBOX (MESSAGES)"
        )
        if not counted:
            return []
        numbers = b"%d:*" % max(1, counted[0] - count + 1)
        return (await self._arrivals(b"FETCH " + numbers + b" (UID INTERNALDATE)", lambda found: True))[-count:][::-1]

    async def fetch(self, uid: int, max_bytes: int = BEGINNING) -> StoredMail | None:
        """Return the beginning of a message; None if it has been moved or deleted."""
        what = b"(UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[]<0.%d>)" % max_bytes
        found = await self.wire.gather(
            lambda answer: stored_mail(answer, self.validity, max_bytes), b"UID FETCH %d %b" % (uid, what)
        )
        # Besides the requested message, a server may report flags of others.
        return next((mail for mail in found if mail.uid == uid), None)

    async def wait(self, renew: float, poll: float) -> None:
        """Return once new mail is possible: at once by IDLE, otherwise after `poll` seconds.

        IDLE is restarted every `renew` seconds, so that a server that has gone silent is noticed.
        """
        if not self.idles:
            await asyncio.sleep(poll)
            await self.wire.command(b"NOOP")
            return
        await self.wire.idle(renew)

    async def _arrivals(self, command: bytes, counts: Callable[[Arrival], bool]) -> list[Arrival]:
        """Return the messages of a listing that `counts` accepts, by number."""

        def keep(answer: ImapResponse) -> Arrival | None:
            uid, at = number_after(UID, answer.text), moment_of(answer.text)
            arrival = Arrival(uid, at) if uid and at is not None else None
            return arrival if arrival is not None and counts(arrival) else None

        return sorted(await self.wire.gather(keep, command), key=lambda arrival: arrival.uid)


@asynccontextmanager
async def open_mailbox(account: OpenAccount, http: HttpClient) -> AsyncIterator[IdleMailbox]:
    """Yield the inbox of an account, opened for reading. Raises `MailFailed` and `ImapError`."""
    server = server_of(account, "imap")
    async with open_wire(server, http) as wire:
        capabilities = await log_in(wire, account, server.host)
        try:
            told = dict(await wire.gather(folder_number, b"EXAMINE INBOX"))
        except ImapRefused as error:
            sentence = gettext("The mail server {host} does not open the inbox.", host=server.host)
            raise MailFailed(sentence, MailFailure.REFUSED) from error
        yield IdleMailbox(wire, told.get("UIDVALIDITY", 0), told.get("UIDNEXT", 0), IDLE in capabilities)
