"""IMAP on the event loop: commands, and their answers with literals. What waits for mail needs no thread.

Everything else that is done with mailboxes goes by `core.mail.imap`, in threads (RFC 3501, 4 and 7).
"""

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from core.http.types import HttpClient
from core.mail.servers import MailServer, Security, connect, tls_context, unreachable

SECONDS = 30.0
"""How long a server may take for one answer."""
MAX_LINE, MAX_LITERAL, MAX_LINES = 1024 * 1024, 2 * 1024 * 1024, 200_000
"""Bytes of a line and of a literal, and lines of an answer: more is no mailbox that can be watched."""

_LITERAL = re.compile(rb"\{([0-9]{1,10})\}\r\n\Z")
_CODE = re.compile(r"\[([A-Z-]+)")


class ImapError(Exception):
    """The connection is of no use any more: it was closed, gave no answer, or what it said makes no sense."""


class ImapRefused(Exception):
    """The server refused a command. `code` is its response code (RFC 5530), or empty."""

    def __init__(self, line: bytes) -> None:
        text = line.decode(errors="replace")
        super().__init__(text)
        found = _CODE.search(text.upper())
        self.code = found[1] if found else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One untagged response: its text, in which `{n}` stands for a literal, and the literals in order."""

    text: bytes
    literals: tuple[bytes, ...] = ()


class ImapWire:
    """Send commands and read answers, one at a time. Every method raises `ImapError`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._number = 0

    async def greeting(self) -> None:
        """Read what the server says first."""
        answer = await self.read(SECONDS)
        if not answer.text.upper().startswith((b"* OK", b"* PREAUTH")):
            raise ImapError("the server does not greet")

    async def command(self, *pieces: bytes) -> list[Answer]:
        """Send a command, of which each further piece follows when the server asks for it; return the answers.

        Raises `ImapRefused`.
        """
        tag = await self.start(*pieces[:1])
        return await self.finish(tag, *pieces[1:])

    async def start(self, piece: bytes) -> bytes:
        """Send the beginning of a command and return its tag."""
        self._number += 1
        tag = b"v%d" % self._number
        await self.send(tag + b" " + piece)
        return tag

    async def finish(self, tag: bytes, *pieces: bytes) -> list[Answer]:
        """Read until a command ends; raises `ImapRefused`."""
        rest, answers = list(pieces), list[Answer]()
        async with _within(SECONDS):
            while len(answers) < MAX_LINES:
                answer = await self.read(None)
                if answer.text.startswith(b"+"):
                    # What a server asks for beyond that, such as after a refused token, is answered with an empty line.
                    await self.send(rest.pop(0) if rest else b"")
                elif answer.text.startswith(tag + b" "):
                    if not answer.text[len(tag) + 1 :].upper().startswith(b"OK"):
                        raise ImapRefused(answer.text[len(tag) + 1 :].strip())
                    return answers
                elif answer.text.startswith(b"* "):
                    answers.append(answer)
        raise ImapError("the answer does not end")

    async def read(self, seconds: float | None) -> Answer:
        """Read one response with its literals; without `seconds` for as long as that takes."""
        async with _within(seconds):
            text, literals = await self._line(), list[bytes]()
            while match := _LITERAL.search(text):
                if int(match[1]) > MAX_LITERAL or len(literals) > 100:
                    raise ImapError("the answer is too long")
                literals.append(await self._exactly(int(match[1])))
                text = text[: match.start()] + b"{n}" + await self._line()
            return Answer(text, tuple(literals))

    async def send(self, line: bytes) -> None:
        """Send one line."""
        try:
            self._writer.write(line + b"\r\n")
            async with _within(SECONDS):
                await self._writer.drain()
        except OSError as error:
            raise ImapError(type(error).__name__) from error

    async def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Go on over TLS. What came before its handshake may be anybody's: then nothing goes on (CVE-2011-0411)."""
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

    async def _line(self) -> bytes:
        try:
            return await self._reader.readuntil(b"\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
            raise ImapError(type(error).__name__) from error

    async def _exactly(self, count: int) -> bytes:
        try:
            return await self._reader.readexactly(count)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise ImapError(type(error).__name__) from error


@asynccontextmanager
async def open_wire(server: MailServer, http: HttpClient) -> AsyncIterator[ImapWire]:
    """Yield a connection that has been greeted, protected as the server's URL says.

    Raises `core.mail.types.MailFailed` and `ImapError`.
    """
    connected = await connect(server, http)
    _keep_alive(connected)
    try:
        context = None if server.security is Security.NONE else await asyncio.to_thread(tls_context)
        at_once = context if server.security is Security.TLS else None
        async with _within(SECONDS):
            reader, writer = await asyncio.open_connection(
                sock=connected, ssl=at_once, server_hostname=server.host if at_once else None, limit=MAX_LINE
            )
    except (OSError, ImapError) as error:
        connected.close()
        raise unreachable(server) from error
    try:
        wire = ImapWire(reader, writer)
        await wire.greeting()
        if context is not None and at_once is None:
            await wire.command(b"STARTTLS")
            await wire.secure(context, server.host)
        yield wire
    finally:
        # Without a farewell: a server that has gone silent would not answer it.
        writer.transport.abort()


@asynccontextmanager
async def _within(seconds: float | None) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise ImapError("no answer in time") from error


def _keep_alive(connected: socket.socket) -> None:
    """Let the kernel notice a connection that a router has forgotten, between two looks of ours."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connected.setblocking(False)
