"""Mail servers that others run, and what they may do: IMAP and SMTP on a port of this machine, good until a command.

`CANARY` stands in all that they say in words of their own, so that a test can look for it where it must not be.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from core.credentials.types import Ability, Account, OpenAccount
from core.http.guarded_client import GuardedClient

CANARY = "c4n4ry-w0rds"
_ABILITIES = frozenset({Ability.MAIL_READ, Ability.MAIL_CHANGE, Ability.MAIL_SEND})
_PIECE = 256 * 1024

IMAP = {
    "GREETING": "* OK ready",
    "CAPABILITY": "* CAPABILITY IMAP4rev1 IDLE UIDPLUS MOVE STARTTLS AUTH=PLAIN",
    "EXAMINE": "* 1 EXISTS\r\n* OK [UIDVALIDITY 7] valid\r\n* OK [UIDNEXT 2] next",
    "SELECT": "* 1 EXISTS\r\n* OK [UIDVALIDITY 7] valid\r\n* OK [UIDNEXT 2] next",
    "STATUS": "* STATUS INBOX (MESSAGES 1 UIDNEXT 2)",
    "UID SEARCH": "* SEARCH 1",
    "UID FETCH": '* 1 FETCH (UID 1 FLAGS () INTERNALDATE "23-Nov-2026 08:00:00 +0000" RFC822.SIZE 3 BODY[]<0> {3}\r\n'
    "abc)",
    "FETCH": '* 1 FETCH (UID 1 INTERNALDATE "23-Nov-2026 08:00:00 +0000")',
    "LIST": '* LIST (\\HasNoChildren) "/" INBOX',
}
"""What a good server answers before the line that ends a command."""
SMTP = {
    "GREETING": "220 ready",
    "EHLO": "250-here\r\n250-AUTH PLAIN\r\n250 8BITMIME",
    "AUTH": "235 in",
    "DATA": "354 go on",
}


@dataclass
class Talk:
    """One connection of a server. `heard`: the lines that came."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    heard: list[str] = field(default_factory=list)
    sent: int = 0
    has_ended: bool = False
    tag: str = ""

    async def say(self, text: str | bytes) -> None:
        """Say a text as it is."""
        raw = text if isinstance(text, bytes) else text.encode()
        self.writer.write(raw)
        await self.writer.drain()
        self.sent += len(raw)

    async def line(self) -> str:
        """Return the next line that comes; raises `ConnectionError` at the end."""
        raw = await self.reader.readline()
        if not raw:
            raise ConnectionResetError
        self.heard.append(raw.decode(errors="replace").rstrip("\r\n"))
        return self.heard[-1]


type Manner = Callable[[Talk], Awaitable[None]]


def says(*lines: str) -> Manner:
    """Return the manner of saying these lines, in place of the usual ones; what ends the command follows."""

    async def talk(self: Talk) -> None:
        await self.say("".join(f"{line}\r\n" for line in lines))

    return talk


def floods(piece: str | bytes) -> Manner:
    """Return the manner of saying something again and again without a pause, until nobody listens."""
    raw = piece if isinstance(piece, bytes) else piece.encode()

    async def talk(self: Talk) -> None:
        pieces = raw * max(1, _PIECE // len(raw))
        while True:
            await self.say(pieces)

    return talk


def drips(every: float, text: str = "* OK ") -> Manner:
    """Return the manner of saying a byte now and then, and never an end."""

    async def talk(self: Talk) -> None:
        await self.say(text)
        while True:
            await self.say("x")
            await asyncio.sleep(every)

    return talk


def takes(seconds: float, then: Manner) -> Manner:
    """Return the manner of taking its time before something."""

    async def talk(self: Talk) -> None:
        await asyncio.sleep(seconds)
        await then(self)

    return talk


async def falls_silent(self: Talk) -> None:
    """Say nothing more, and read what comes."""
    while await self.reader.read(_PIECE):
        pass
    raise ConnectionResetError


async def never_reads(self: Talk) -> None:
    """Say nothing more, and read nothing either, for as long as the server runs."""
    transport = self.writer.transport
    assert isinstance(transport, asyncio.ReadTransport)
    transport.pause_reading()
    await asyncio.Event().wait()


@dataclass
class HostileServer:
    """A running server. `manners`: what it does in place of a good answer, by the name of a command."""

    manners: Mapping[str, Manner]
    scheme: str
    port: int = 0
    talks: list[Talk] = field(default_factory=list)
    host: str = "127.0.0.1"

    @property
    def sent(self) -> int:
        """Return the bytes that were taken from it, on all connections."""
        return sum(talk.sent for talk in self.talks)

    @property
    def open_talks(self) -> int:
        """Return how many connections are open."""
        return sum(not talk.has_ended for talk in self.talks)

    def account(self, name: str = "primary", login: str = "ann", **more: str) -> OpenAccount:
        """Return what opens a mailbox here; `more` are further servers."""
        servers = {self.scheme.rstrip("s").partition("+")[0]: f"{self.scheme}://{self.host}:{self.port}"} | more
        account = Account("email", name, "ann@example.org", _ABILITIES)
        return OpenAccount(account, login, "s3cret", servers=servers)

    def http(self) -> GuardedClient:
        """Return a client that may reach it."""
        return GuardedClient(allowed_hosts=[f"{self.host}:{self.port}"])

    async def does(self, talk: Talk, command: str, usual: Mapping[str, str]) -> None:
        """Do what is done at a command, or say what is usual."""
        if manner := self.manners.get(command):
            await manner(talk)
        elif text := usual.get(command):
            await talk.say(f"{text}\r\n")


@asynccontextmanager
async def hostile_imap(
    manners: Mapping[str, Manner] | None = None, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[HostileServer]:
    """Run an IMAP server, with `tls` from the first byte; `GREETING` is what it says first, `END …` ends a command."""
    server = HostileServer(manners or {}, "imaps" if tls else "imap", host="localhost" if tls else "127.0.0.1")

    async def talk(talk: Talk) -> None:
        await server.does(talk, "GREETING", IMAP)
        while True:
            talk.tag, _, rest = (await _command(talk)).partition(" ")
            words = rest.upper().split()
            name = " ".join(words[:2]) if words[:1] == ["UID"] else words[0]
            if name == "IDLE":
                await talk.say("+ idling\r\n")
                await server.does(talk, name, {})
                while await talk.line() != "DONE":
                    pass
            elif name == "AUTHENTICATE" and name not in server.manners:
                await talk.say("+ \r\n")
                await talk.line()
            else:
                await server.does(talk, name, IMAP)
            if manner := server.manners.get(f"END {name}"):
                await manner(talk)
            else:
                await talk.say(f"{talk.tag} OK done\r\n")

    async with _listening(server, talk, tls):
        yield server


@asynccontextmanager
async def hostile_smtp(
    manners: Mapping[str, Manner] | None = None, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[HostileServer]:
    """Run an SMTP server, with `tls` from the first byte. `BODY` is what it does after a message."""
    server = HostileServer(manners or {}, "smtps" if tls else "smtp", host="localhost" if tls else "127.0.0.1")

    async def talk(talk: Talk) -> None:
        await server.does(talk, "GREETING", SMTP)
        while True:
            name = (await talk.line()).upper().split()[0]
            usual = SMTP if name in SMTP else {name: "250 good"}
            await server.does(talk, name, usual)
            if name == "DATA" and name not in server.manners:
                while await talk.line() != ".":
                    pass
                await server.does(talk, "BODY", {"BODY": "250 taken"})

    async with _listening(server, talk, tls):
        yield server


async def _command(talk: Talk) -> str:
    """Return a command of IMAP with the literals that it announces, which are asked for."""
    line = await talk.line()
    while line.endswith("}"):
        size = int(line[line.rindex("{") + 1 : -1])
        await talk.say("+ go on\r\n")
        literal = await talk.reader.readexactly(size)
        line = f"{line[: line.rindex('{')]}{literal.decode()}{await talk.line()}"
    return line


@asynccontextmanager
async def _listening(
    server: HostileServer, work: Callable[[Talk], Awaitable[None]], tls: ssl.SSLContext | None
) -> AsyncIterator[None]:
    tasks = set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        talk = Talk(reader, writer)
        server.talks.append(talk)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await work(talk)
        talk.has_ended = True
        writer.transport.abort()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
