"""IMAP on the event loop: commands, and their answers with literals. Waiting for mail then needs no thread.

All other work with mailboxes goes by `providers.email.imap`, in threads (RFC 3501, 4 and 7).
"""

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from core.http.peer import Allowance, Hearing, PeerExceeded
from core.http.types import HttpClient
from providers.email.servers import MailServer, Security, connect, tls_context, unreachable

SECONDS = 30.0
"""How long a server may take for an answer."""
MAX_LINE, MAX_LITERAL, MAX_LITERALS = 1024 * 1024, 2 * 1024 * 1024, 100
"""Bytes of a line and of a literal, and literals of an answer: a mailbox with more cannot be watched."""
COMMAND = Allowance(16 * 1024 * 1024, 200_000, 600.0)
"""The limit of a server's answer to a command, or while we listen: an inbox of 100,000 messages is listed in as many
lines and 7.2 MB, and reports as much if another program marks or deletes them all. Commands (`SECONDS`) and listening
have time limits of their own; this one only ends calls that outlive them.
"""
CONNECTION = Allowance(2 * 1024 * 1024 * 1024, 2_000_000, 3600.0)
"""The limit of its answers within an hour of a connection, which lasts for days: the beginnings of 30,000 messages."""
MAX_ASKED = 8
"""How often a server may request more input within a command, beyond the pieces that the command has."""

_LITERAL = re.compile(rb"\{([0-9]{1,10})\}\r\n\Z")
_LITERAL_LENGTH = 16
_CODE = re.compile(r"\[([A-Z-]+)")


class ImapError(Exception):
    """The connection is unusable: it was closed, gave no answer, or sent an invalid answer."""


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


@dataclass(frozen=True, slots=True)
class UntaggedResponse:
    """An untagged response: its text, in which `{n}` stands for a literal, and the literals in order."""

    text: bytes
    literals: tuple[bytes, ...] = ()


class ImapWire:
    """Send commands and read answers, one at a time. Every method raises `ImapError`.

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

    async def command(self, *pieces: bytes) -> list[UntaggedResponse]:
        """Send a command, of which each further piece follows when the server asks for it; return the answers.

        Raises `ImapRefused`.
        """
        return await self.gather(lambda answer: answer, *pieces)

    async def gather[T](self, keep: Callable[[UntaggedResponse], T | None], *pieces: bytes) -> list[T]:
        """Send a command as `command` does; return the results of `keep` for each answer, without None.

        `keep` is called as answers arrive, while other tasks run. Raises `ImapRefused`.
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

    async def listen(self, found: Callable[[UntaggedResponse], bool], seconds: float) -> bool:
        """Read unrequested responses until `found` accepts one, for so long at most; return whether it did."""
        hearing = self._hearing()
        try:
            async with asyncio.timeout(seconds):
                while not found(await self._read(hearing)):
                    pass
        except TimeoutError:
            return False
        return True

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

    async def _finish[T](self, keep: Callable[[UntaggedResponse], T | None], tag: bytes, *pieces: bytes) -> list[T]:
        rest, kept, hearing, asked = list(pieces), list[T](), self._hearing(), 0
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
                    return kept
                elif answer.text.startswith(b"* ") and (made := keep(answer)) is not None:
                    kept.append(made)

    async def _read(self, hearing: Hearing) -> UntaggedResponse:
        """Read a response with its literals."""
        text, literals = await self._line(hearing), list[bytes]()
        while match := _LITERAL.search(text, max(0, len(text) - _LITERAL_LENGTH)):
            if int(match[1]) > min(MAX_LITERAL, hearing.size_left) or len(literals) == MAX_LITERALS:
                raise ImapExceeded("the answer is too long")
            literals.append(await self._exactly(int(match[1]), hearing))
            text = text[: match.start()] + b"{n}" + await self._line(hearing)
            if len(text) > MAX_LINE:
                raise ImapExceeded("the answer is too long")
        return UntaggedResponse(text, tuple(literals))

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
        try:
            literal = await self._reader.readexactly(count)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise ImapError(type(error).__name__) from error
        await _count(hearing, count)
        return literal

    def _hearing(self) -> Hearing:
        """Return the count of the next answer, within that of the connection, which restarts after an hour."""
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


async def _count(hearing: Hearing, size: int) -> None:
    try:
        await hearing.heard(size, 1)
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
