"""A watched mailbox: its arrivals, and the wait for more. It is only read (EXAMINE, BODY.PEEK)."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from abilities.mail.imap_wire import ImapError, ImapRefused, ImapWire, UntaggedResponse, open_wire
from core.credentials.types import OpenAccount
from core.http.types import HttpClient
from core.language.catalogue import gettext
from providers.email.imap_answers import MAX_NUMBER, MAX_SIZE, read_number
from providers.email.servers import server_of
from providers.email.types import MailFailed, MailFailure, StoredMail

BEGINNING = 64 * 1024
"""Bytes of a message that are read: its headers, and the beginning of its text."""
INBOX = "INBOX"

_DENIED = frozenset({"AUTHENTICATIONFAILED", "AUTHORIZATIONFAILED", "EXPIRED", "WEBALERT"})
"""Codes of a refusal that stays, until the person does something (RFC 5530; Google's own)."""
_PASSING = frozenset({"UNAVAILABLE", "SERVERBUG", "INUSE", "LIMIT", "OVERQUOTA"})
_IDLE = b"IDLE"
_BEGINS = 100
"""Bytes of a line that name its subject."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UID = re.compile(rb"\bUID ([0-9]+)")
_SIZE = re.compile(rb"\bRFC822\.SIZE ([0-9]+)")
_MESSAGES = re.compile(rb"\bMESSAGES ([0-9]+)")
_TOLD = re.compile(rb"\[(UIDVALIDITY|UIDNEXT) ([0-9]+)\]", re.IGNORECASE)
_FLAGS = re.compile(rb"\bFLAGS \(([^()]*)\)")  # of no "(" either: its time would grow with the square of a line
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
        command = b"UID SEARCH SINCE " + _day(moment.date() - timedelta(days=1))
        first = min(await self.wire.gather(_first_found, command), default=0)
        if not first:
            return []
        whole, asked = moment.replace(microsecond=0), b"UID FETCH %d:* (UID INTERNALDATE)" % first
        return await self._arrivals(asked, lambda found: found.uid >= first and found.at >= whole)

    async def last(self, count: int) -> Sequence[Arrival]:
        """Return the messages that came last, the newest first."""
        counted = await self.wire.gather(lambda answer: _number(_MESSAGES, answer), b"STATUS INBOX (MESSAGES)")
        if not counted or not counted[0]:
            return []
        numbers = b"%d:*" % max(1, counted[0] - count + 1)
        return (await self._arrivals(b"FETCH " + numbers + b" (UID INTERNALDATE)", lambda found: True))[-count:][::-1]

    async def fetch(self, uid: int, max_bytes: int = BEGINNING) -> StoredMail | None:
        """Return the beginning of a message; None if it has been moved or deleted."""
        what = b"(UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[]<0.%d>)" % max_bytes
        found = await self.wire.gather(
            lambda answer: self._stored(answer, uid, max_bytes), b"UID FETCH %d %b" % (uid, what)
        )
        return found[0] if found else None

    async def wait(self, renew: float, poll: float) -> None:
        """Return once new mail is possible: at once by IDLE, otherwise after `poll` seconds.

        IDLE is restarted every `renew` seconds, so that a server that has gone silent is noticed.
        """
        if not self.idles:
            await asyncio.sleep(poll)
            await self.wire.command(b"NOOP")
            return
        tag = await self.wire.start(b"IDLE")
        await self.wire.listen(_is_news, renew)
        await self.wire.send(b"DONE")
        await self.wire.finish(tag)

    async def _arrivals(self, command: bytes, counts: Callable[[Arrival], bool]) -> list[Arrival]:
        """Return the messages of a listing that `counts` accepts, by their numbers."""

        def keep(answer: UntaggedResponse) -> Arrival | None:
            uid, at = _number(_UID, answer), _arrived(answer)
            arrival = Arrival(uid, at) if uid and at is not None else None
            return arrival if arrival is not None and counts(arrival) else None

        return sorted(await self.wire.gather(keep, command), key=lambda arrival: arrival.uid)

    def _stored(self, answer: UntaggedResponse, uid: int, max_bytes: int) -> StoredMail | None:
        # Besides the requested data, a server may report flags that other programs have set.
        if _number(_UID, answer) != uid or not _SIZE.search(answer.text):
            return None
        body, flags = _BODY.search(answer.text), _FLAGS.search(answer.text)
        number = answer.text[: body.end()].count(b"{n}") if body else 0
        if number > len(answer.literals):
            raise ImapError("a body that is not there")
        return StoredMail(
            self.validity,
            uid,
            frozenset((flags[1] if flags else b"").decode(errors="replace").lower().split()),
            _number(_SIZE, answer, MAX_SIZE),
            _arrived(answer),
            answer.literals[number - 1][:max_bytes] if number else b"",
        )


@asynccontextmanager
async def open_mailbox(account: OpenAccount, http: HttpClient) -> AsyncIterator[IdleMailbox]:
    """Yield the inbox of an account, opened for reading. Raises `MailFailed` and `ImapError`."""
    server = server_of(account, "imap")
    async with open_wire(server, http) as wire:
        await _log_in(wire, account, server.host)
        try:
            idles = bool(await wire.gather(_tells_of_idle, b"CAPABILITY"))
            told = dict(await wire.gather(_told, b"EXAMINE INBOX"))
        except ImapRefused as error:
            sentence = gettext("The mail server {host} does not open the inbox.", host=server.host)
            raise MailFailed(sentence, MailFailure.REFUSED) from error
        yield IdleMailbox(wire, told.get(b"UIDVALIDITY", 0), told.get(b"UIDNEXT", 0), idles)


async def _log_in(wire: ImapWire, account: OpenAccount, host: str) -> None:
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
        sentence = gettext("The mail server {host} does not accept the stored login.", host=host)
        raise LoginRefused(sentence, sure=error.code in _DENIED) from error


def _arrived(answer: UntaggedResponse) -> datetime | None:
    match = _DATE.search(answer.text)
    if match is None:
        return None
    day, month, year, clock, offset = (piece.decode() for piece in match.groups())
    try:
        text = f"{year}-{_MONTHS.index(month.title()) + 1:02}-{day.strip():0>2}T{clock}{offset[:3]}:{offset[3:]}"
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _number(pattern: re.Pattern[bytes], answer: UntaggedResponse, most: int = MAX_NUMBER) -> int:
    """Return a number of an answer; 0 if it has none. Raises `ImapError` if the number is not valid in IMAP."""
    match = pattern.search(answer.text)
    return _read(match[1], most) if match else 0


def _read(digits: bytes, most: int = MAX_NUMBER) -> int:
    try:
        return read_number(digits, most)
    except ValueError as error:
        raise ImapError(str(error)) from error


def _first_found(answer: UntaggedResponse) -> int | None:
    """Return the first message that a SEARCH found."""
    words = answer.text.split()
    found = [word for word in words[2:] if word.isdigit()] if words[1:2] == [b"SEARCH"] else []
    # The shortest of the digits are the least: a number is read once, however many there are.
    return _read(min(found, key=lambda word: (len(word), word))) if found else None


def _tells_of_idle(answer: UntaggedResponse) -> bool | None:
    return True if _IDLE in answer.text.upper().split() else None


def _told(answer: UntaggedResponse) -> tuple[bytes, int] | None:
    """Return the name and number of a response code, UIDVALIDITY or UIDNEXT; None for another."""
    match = _TOLD.search(answer.text)
    return (match[1].upper(), _read(match[2])) if match else None


def _is_news(answer: UntaggedResponse) -> bool:
    """Return whether IDLE is worth ending: a message came, or the server says that it closes the connection."""
    words = answer.text[:_BEGINS].upper().split()
    if words[1:2] == [b"BYE"]:
        raise ImapError("the server closes the connection")
    return len(words) >= 3 and words[2] in (b"EXISTS", b"RECENT")


def _day(day: date) -> bytes:
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}".encode()
