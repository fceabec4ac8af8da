"""IMAP on the event loop: commands, and their answers with literals (RFC 3501, 4 and 7). No mailbox needs a thread.

Python's own client and those built on it wait in threads, hold whole answers, and read numbers and lines of any length.
"""

import asyncio
import base64
import io
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from core.credentials.types import OpenAccount
from core.http.peer import Allowance, Hearing, PeerExceeded
from core.http.types import HttpClient
from core.language.catalogue import gettext
from providers.email.servers import MailServer, Security, connect, tls_context, unreachable
from providers.email.types import MailFailed, MailFailure

SECONDS = 60.0
"""The time that a server gets for an answer, such as a message with files of 25 MB."""
MAX_LINE, MAX_LITERALS = 4 * 1024 * 1024, 100
"""Bytes of a line, such as a search that finds 500,000 messages, and literals of an answer."""
COMMAND = Allowance(16 * 1024 * 1024, 200_000, 600.0)
"""The limit of a server's answer to a command, or while we listen: an inbox of 100,000 messages is listed in as many
lines and 7.2 MB, and reports as much if another program marks or deletes them all. Commands (`SECONDS`) and listening
have time limits of their own; this limit only ends calls that outlive them.
"""
CONNECTION = Allowance(2 * 1024 * 1024 * 1024, 2_000_000, 3600.0)
"""The limit of its answers within an hour of a connection, which lasts for days: the beginnings of 30,000 messages."""
MAX_ASKED = 8
"""How often a server may request more input within a command, beyond the pieces that the command has."""

_DENIED = frozenset({"AUTHENTICATIONFAILED", "AUTHORIZATIONFAILED", "EXPIRED", "WEBALERT"})
"""Codes of a refusal that stays, until the person does something (RFC 5530; Google's own)."""
_PASSING = frozenset({"UNAVAILABLE", "SERVERBUG", "INUSE", "LIMIT", "OVERQUOTA"})
_BEGINS = 100
"""Bytes of a line that name its subject."""
_LITERAL = re.compile(rb"\{([0-9]{1,20})\}\r\n\Z")
_LITERAL_LENGTH = 26
_PIECE = 256 * 1024
_MAX_CAPABILITIES = 64 * 1024
_CODE = re.compile(r"\[([A-Z-]+)")


class ImapError(Exception):
    """The connection is unusable: it was closed, gave no answer, or sent an invalid answer."""


class ImapUnavailable(ImapError):
    """The server refuses the login for a while, for no reason of the login's."""


class ImapExceeded(ImapError):
    """The server said more than it may."""


class ImapRefused(Exception):
    """The server refused a command. `code` is its response code (RFC 5530), or empty.

    The rest of its answer is dropped: errors are logged, and may be shown.
    """

    def __init__(self, line: bytes) -> None:
        super().__init__("the server refuses the command")
        found = _CODE.search(line.decode(errors="replace").upper())
        self.code = found[1] if found else ""


class LoginRefused(MailFailed):
    """The server refuses the login. Not `sure`: it does not say why, so that it may pass."""

    def __init__(self, message: str, *, sure: bool) -> None:
        super().__init__(message, MailFailure.LOGIN)
        self.sure = sure


@dataclass(frozen=True, slots=True)
class ImapResponse:
    """A response: its text, in which `{n}` stands for a literal, and the literals in order."""

    text: bytes
    literals: tuple[bytes, ...] = ()


class ImapWire:
    """Send commands and read answers, in sequence. Every method raises `ImapError`.

    The server's answers are counted, by command and by connection, and other tasks run while they arrive.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, command: Allowance = COMMAND
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._host = host
        self._number = 0
        self._command = command
        self._heard = Hearing(CONNECTION, host=host)

    async def greeting(self) -> None:
        """Read the server's greeting."""
        async with _within(SECONDS):
            answer = await self._read(self._hearing())
        if not answer.text.upper().startswith((b"* OK", b"* PREAUTH")):
            raise ImapError("the server does not greet")

    async def command(self, *pieces: bytes) -> list[ImapResponse]:
        """Send a command, of which each further piece follows when the server asks for it; return the answers.

        Raises `ImapRefused`.
        """
        return await self.gather(lambda answer: answer, *pieces)

    async def gather[T](self, keep: Callable[[ImapResponse], T | None], *pieces: bytes) -> list[T]:
        """Send a command as `command` does; return the results of `keep` for each answer, without None.

        `keep` is called as answers arrive, while other tasks run, and last with the line that ends the command. Its
        `ValueError` is an answer that is not valid. Raises `ImapRefused`.
        """
        tag = await self.start(*pieces[:1])
        return await self._finish(keep, tag, *pieces[1:])

    async def start(self, piece: bytes) -> bytes:
        """Send the beginning of a command and return its tag."""
        self._number += 1
        tag = b"v%d" % self._number
        await self.send(tag + b" " + piece)
        return tag

    async def finish(self, tag: bytes) -> None:
        """Read until a command ends; raises `ImapRefused`."""
        await self._finish(lambda answer: None, tag)

    async def listen(self, found: Callable[[ImapResponse], bool], seconds: float) -> bool:
        """Read unrequested responses until `found` accepts one or the time is over; return whether it did."""
        hearing = self._hearing()
        try:
            async with asyncio.timeout(seconds):
                while not found(await self._read(hearing)):
                    pass
        except TimeoutError:
            return False
        return True

    async def idle(self, seconds: float) -> None:
        """Wait by IDLE until new mail is possible or the time is over."""
        tag = await self.start(b"IDLE")
        await self.listen(_is_news, seconds)
        await self.send(b"DONE")
        await self.finish(tag)

    def break_off(self) -> None:
        """End the connection at once."""
        self._writer.transport.abort()

    async def send(self, line: bytes) -> None:
        """Send a line."""
        try:
            self._writer.write(line + b"\r\n")
            async with _within(SECONDS):
                await self._writer.drain()
        except OSError as error:
            raise ImapError(type(error).__name__) from error

    async def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Go on over TLS. Data before its handshake may be forged: then the connection is dropped (CVE-2011-0411)."""
        try:
            async with asyncio.timeout(0):
                await self._reader.read(1)
        except TimeoutError:
            pass
        else:
            raise ImapError("something came before the handshake")
        try:
            async with _within(SECONDS):
                await self._writer.start_tls(context, server_hostname=host)
        except OSError as error:
            raise ImapError(type(error).__name__) from error

    async def _finish[T](self, keep: Callable[[ImapResponse], T | None], tag: bytes, *pieces: bytes) -> list[T]:
        rest, kept, hearing, asked, strange = list(pieces), list[T](), self._hearing(), 0, False

        def take(answer: ImapResponse) -> None:
            try:
                made = keep(answer)
            except ValueError as error:
                raise ImapError(str(error)) from error
            if made is not None:
                kept.append(made)

        async with _within(SECONDS):
            while True:
                answer = await self._read(hearing)
                if answer.text.startswith(b"+"):
                    asked += 1
                    if asked > len(pieces) + MAX_ASKED:
                        raise ImapExceeded("the server asks without end")
                    # A further request of the server, such as after a refused token, is answered with an empty line.
                    await self.send(rest.pop(0) if rest else b"")
                elif answer.text.startswith(tag + b" "):
                    if not answer.text[len(tag) + 1 :].upper().startswith(b"OK"):
                        raise ImapRefused(answer.text[len(tag) + 1 :].strip())
                    if strange:
                        raise ImapError("an answer in no form of IMAP")
                    take(answer)
                    return kept
                elif answer.text.startswith(b"* "):
                    take(answer)
                elif answer.text.strip():
                    strange = True

    async def _read(self, hearing: Hearing) -> ImapResponse:
        """Read a response with its literals."""
        text, literals = await self._line(hearing), list[bytes]()
        while match := _LITERAL.search(text, max(0, len(text) - _LITERAL_LENGTH)):
            if int(match[1]) > hearing.size_left or len(literals) == MAX_LITERALS:
                raise ImapExceeded("the answer is too long")
            literals.append(await self._exactly(int(match[1]), hearing))
            text = text[: match.start()] + b"{n}" + await self._line(hearing)
            if len(text) > MAX_LINE:
                raise ImapExceeded("the answer is too long")
        return ImapResponse(text, tuple(literals))

    async def _line(self, hearing: Hearing) -> bytes:
        try:
            line = await self._reader.readuntil(b"\r\n")
        except asyncio.LimitOverrunError as error:
            raise ImapExceeded("the line is too long") from error
        except (asyncio.IncompleteReadError, OSError) as error:
            raise ImapError(type(error).__name__) from error
        await _count(hearing, len(line))
        return line

    async def _exactly(self, count: int, hearing: Hearing) -> bytes:
        # Piece by piece, into a buffer that becomes the literal: of a message of 40 MB no second copy is held.
        literal = io.BytesIO()
        while left := count - literal.tell():
            try:
                piece = await self._reader.read(min(left, _PIECE))
            except OSError as error:
                raise ImapError(type(error).__name__) from error
            if not piece:
                raise ImapError("the server closes the connection")
            literal.write(piece)
            await _count(hearing, len(piece), 0)
        await _count(hearing, 0)
        return literal.getvalue()

    def _hearing(self) -> Hearing:
        """Return the limits of the next answer, within those of the connection, which restart after an hour."""
        if self._heard.seconds_left < self._command.seconds:
            self._heard = Hearing(CONNECTION, host=self._host)
        return Hearing(self._command, self._heard)


@asynccontextmanager
async def open_wire(server: MailServer, http: HttpClient) -> AsyncIterator[ImapWire]:
    """Yield a connection that has been greeted, protected as the server's URL says.

    Raises `providers.email.types.MailFailed` and `ImapError`.
    """
    connected = await connect(server, http)
    async with AsyncExitStack() as stack:
        try:
            wire = await stack.enter_async_context(wire_on(connected, server))
        except OSError as error:
            raise unreachable(server) from error
        yield wire


@asynccontextmanager
async def wire_on(
    connected: socket.socket, server: MailServer, command: Allowance = COMMAND
) -> AsyncIterator[ImapWire]:
    """Yield a wire like that of `open_wire` on a socket that passed the guard, which is closed in the end.

    `command` is the limit of the server's answer to each command. Raises `ImapError`, and `OSError` if TLS fails.
    """
    _keep_alive(connected)
    try:
        context = None if server.security is Security.NONE else await asyncio.to_thread(tls_context)
        at_once = context if server.security is Security.TLS else None
        async with _within(SECONDS):
            reader, writer = await asyncio.open_connection(
                sock=connected, ssl=at_once, server_hostname=server.host if at_once else None, limit=MAX_LINE
            )
    except BaseException:
        connected.close()
        raise
    try:
        wire = ImapWire(reader, writer, server.host, command)
        await wire.greeting()
        if context is not None and at_once is None:
            try:
                await wire.command(b"STARTTLS")
            except ImapRefused as error:
                raise ImapError("no STARTTLS") from error
            await wire.secure(context, server.host)
        yield wire
    finally:
        # Without a farewell: a server that has gone silent would not answer it.
        writer.transport.abort()


async def log_in(wire: ImapWire, account: OpenAccount, host: str) -> frozenset[str]:
    """Log in by the account's password, or by XOAUTH2; return the server's capabilities.

    Raises `LoginRefused` and `ImapError`.
    """
    sentence = gettext("The mail server {host} does not accept the stored login.", host=host)
    if not (account.login.isprintable() and account.secret.isprintable()):
        raise LoginRefused(sentence, sure=True)
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
            raise ImapUnavailable(error.code) from error
        raise LoginRefused(sentence, sure=error.code in _DENIED) from error
    # Many servers list further abilities (MOVE, UIDPLUS) only after the login.
    try:
        told = await wire.gather(_capabilities, b"CAPABILITY")
    except ImapRefused as error:
        raise ImapError("no capabilities") from error
    return frozenset().union(*told)


def _capabilities(answer: ImapResponse) -> frozenset[str] | None:
    words = answer.text[:_MAX_CAPABILITIES].upper().split()
    return frozenset(word.decode("ascii", "replace") for word in words[2:]) if words[1:2] == [b"CAPABILITY"] else None


def _is_news(answer: ImapResponse) -> bool:
    """Return whether IDLE is worth ending: a message came, or the server says that it closes the connection."""
    words = answer.text[:_BEGINS].upper().split()
    if words[1:2] == [b"BYE"]:
        raise ImapError("the server closes the connection")
    return len(words) >= 3 and words[2] in (b"EXISTS", b"RECENT")


async def _count(hearing: Hearing, size: int, pieces: int = 1) -> None:
    try:
        await hearing.heard(size, pieces)
    except PeerExceeded as error:
        raise ImapExceeded(str(error)) from error


@asynccontextmanager
async def _within(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise ImapError("no answer in time") from error


def _keep_alive(connected: socket.socket) -> None:
    """Let the kernel detect a connection that a router has dropped, between two looks of ours."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connected.setblocking(False)
