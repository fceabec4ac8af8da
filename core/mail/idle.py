"""A mailbox that is watched: what has come into it, and waiting for more. It is only read (EXAMINE, BODY.PEEK)."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from core.credentials.types import OpenAccount
from core.http.types import HttpClient
from core.language.catalogue import gettext
from core.mail.imap_wire import Answer, ImapError, ImapRefused, ImapWire, open_wire
from core.mail.servers import server_of
from core.mail.types import MailFailed, MailFailure, StoredMail

BEGINNING = 64 * 1024
"""Bytes of a message that are read: its headers, and the beginning of its text."""
INBOX = "INBOX"

_DENIED = frozenset({"AUTHENTICATIONFAILED", "AUTHORIZATIONFAILED", "EXPIRED", "WEBALERT"})
"""Codes of a refusal that stays, until the person does something (RFC 5530; Google's own)."""
_PASSING = frozenset({"UNAVAILABLE", "SERVERBUG", "INUSE", "LIMIT", "OVERQUOTA"})
_IDLE = b"IDLE"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UID = re.compile(rb"\bUID ([0-9]{1,10})")
_SIZE = re.compile(rb"\bRFC822\.SIZE ([0-9]{1,12})")
_FLAGS = re.compile(rb"\bFLAGS \(([^)]*)\)")
_DATE = re.compile(rb'\bINTERNALDATE "([ 0-9]{2})-(\w{3})-([0-9]{4}) ([0-9:]{8}) ([+-][0-9]{4})"')
_BODY = re.compile(rb"\bBODY\[\](?:<0>)? \{n\}")


class LoginRefused(MailFailed):
    """The server refuses the login. Not `sure`: it does not say why, so that it may pass."""

    def __init__(self, message: str, *, sure: bool) -> None:
        super().__init__(message, MailFailure.LOGIN)
        self.sure = sure


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message by its number, and when it came into the folder."""

    uid: int
    at: datetime


@dataclass(slots=True)
class IdleMailbox:
    """The inbox of an account, open for reading. Every method raises `ImapError` and `ImapRefused`.

    `next_uid` is what the next message was going to be called when it was opened; 0 where the server did not say.
    """

    wire: ImapWire
    validity: int
    next_uid: int
    idles: bool

    async def after(self, uid: int) -> Sequence[Arrival]:
        """Return what has come behind a message, the oldest first."""
        # `*` is the last message, whatever it is called: a server names at least that one.
        arrivals = _arrivals(await self.wire.command(b"UID FETCH %d:* (UID INTERNALDATE)" % (uid + 1)))
        return [arrival for arrival in arrivals if arrival.uid > uid]

    async def since(self, moment: datetime) -> Sequence[Arrival]:
        """Return what has come into the folder since a moment, the first in it first."""
        # A server searches by days, in whatever timezone, and keeps whole seconds.
        answers = await self.wire.command(b"UID SEARCH SINCE " + _day(moment.date() - timedelta(days=1)))
        uids = [int(word) for answer in answers for word in _searched(answer)]
        if not uids:
            return []
        arrivals = await self.after(min(uids) - 1)
        return [arrival for arrival in arrivals if arrival.at >= moment.replace(microsecond=0)]

    async def last(self, count: int) -> Sequence[Arrival]:
        """Return the messages that came last, the newest first."""
        answers = await self.wire.command(b"STATUS INBOX (MESSAGES)")
        counted = [int(match[1]) for answer in answers if (match := re.search(rb"MESSAGES ([0-9]+)", answer.text))]
        if not counted or not counted[0]:
            return []
        numbers = b"%d:*" % max(1, counted[0] - count + 1)
        return _arrivals(await self.wire.command(b"FETCH " + numbers + b" (UID INTERNALDATE)"))[::-1]

    async def fetch(self, uid: int, max_bytes: int = BEGINNING) -> StoredMail | None:
        """Return the beginning of a message; None where it was moved or deleted meanwhile."""
        what = b"(UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[]<0.%d>)" % max_bytes
        for answer in await self.wire.command(b"UID FETCH %d %b" % (uid, what)):
            # Beside what was asked for, a server may tell of flags that others have set.
            if _number(_UID, answer) == uid and _SIZE.search(answer.text):
                body, flags = _BODY.search(answer.text), _FLAGS.search(answer.text)
                return StoredMail(
                    self.validity,
                    uid,
                    frozenset((flags[1] if flags else b"").decode(errors="replace").lower().split()),
                    _number(_SIZE, answer),
                    _arrived(answer),
                    answer.literals[answer.text[: body.end()].count(b"{n}") - 1] if body else b"",
                )
        return None

    async def wait(self, renew: float, poll: float) -> None:
        """Return when something may have come: at once by IDLE, otherwise after `poll` seconds.

        IDLE is ended and begun again every `renew` seconds, so that a server that has gone silent is noticed.
        """
        if not self.idles:
            await asyncio.sleep(poll)
            await self.wire.command(b"NOOP")
            return
        tag = await self.wire.start(b"IDLE")
        try:
            async with asyncio.timeout(renew):
                while not _is_news(await self.wire.read(None)):
                    pass
        except TimeoutError:
            pass
        await self.wire.send(b"DONE")
        await self.wire.finish(tag)


@asynccontextmanager
async def open_mailbox(account: OpenAccount, http: HttpClient) -> AsyncIterator[IdleMailbox]:
    """Yield the inbox of an account, opened for reading. Raises `MailFailed` and `ImapError`."""
    async with open_wire(server_of(account, "imap"), http) as wire:
        await _log_in(wire, account)
        try:
            capabilities = _words(await wire.command(b"CAPABILITY"))
            answers = await wire.command(b"EXAMINE INBOX")
        except ImapRefused as error:
            raise MailFailed(gettext("The mail server does not open the inbox."), MailFailure.REFUSED) from error
        text = b" ".join(answer.text for answer in answers)
        validity, following = (
            int(match[1]) if (match := re.search(rb"\[%b ([0-9]{1,10})\]" % name, text, re.IGNORECASE)) else 0
            for name in (b"UIDVALIDITY", b"UIDNEXT")
        )
        yield IdleMailbox(wire, validity, following, _IDLE in capabilities)


async def _log_in(wire: ImapWire, account: OpenAccount) -> None:
    login, secret = account.login.encode(), account.secret.encode()
    try:
        if account.bearer:
            token = base64.b64encode(b"user=%b\x01auth=Bearer %b\x01\x01" % (login, secret))
            await wire.command(b"AUTHENTICATE XOAUTH2", token)
        else:
            # As literals, which need no quoting: nothing in them is read as a command.
            await wire.command(b"LOGIN {%d}" % len(login), login + b" {%d}" % len(secret), secret)
    except ImapRefused as error:
        if error.code in _PASSING:
            raise ImapError(error.code) from error
        sentence = gettext(
            "The mail server does not accept what is stored for {account}.", account=account.account.name
        )
        raise LoginRefused(sentence, sure=error.code in _DENIED) from error


def _arrivals(answers: Sequence[Answer]) -> list[Arrival]:
    found = [
        Arrival(uid, at)
        for answer in answers
        if (uid := _number(_UID, answer)) and (at := _arrived(answer)) is not None
    ]
    return sorted(found, key=lambda arrival: arrival.uid)


def _arrived(answer: Answer) -> datetime | None:
    match = _DATE.search(answer.text)
    if match is None:
        return None
    day, month, year, clock, offset = (piece.decode() for piece in match.groups())
    try:
        text = f"{year}-{_MONTHS.index(month.title()) + 1:02}-{day.strip():0>2}T{clock}{offset[:3]}:{offset[3:]}"
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None


def _number(pattern: re.Pattern[bytes], answer: Answer) -> int:
    match = pattern.search(answer.text)
    return int(match[1]) if match else 0


def _searched(answer: Answer) -> Sequence[bytes]:
    words = answer.text.split()
    return [word for word in words[2:] if word.isdigit()] if words[1:2] == [b"SEARCH"] else []


def _words(answers: Sequence[Answer]) -> frozenset[bytes]:
    return frozenset(word for answer in answers for word in answer.text.upper().split())


def _is_news(answer: Answer) -> bool:
    """Return whether IDLE is worth ending: a message came, or the server says that it closes the connection."""
    words = answer.text.upper().split()
    if words[1:2] == [b"BYE"]:
        raise ImapError("the server closes the connection")
    return len(words) >= 3 and words[2] in (b"EXISTS", b"RECENT")


def _day(day: date) -> bytes:
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}".encode()
