"""A wire that counts: a proxy before Postgres that notes each statement and each transaction of its clients.

Counts do not depend on the machine. What only prepares a statement is not counted, nor what a connection is asked
before it serves: both happen once per connection.
Source: postgresql.org/docs/current/protocol-message-formats.html
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from tests.eventually import eventually

_BLOCK = 65536
_OPENING = "select pg_backend_pid()"
"""How `core.db.serving` asks whether there is a pooler between."""
_IDLE = b"I"
_END_OURS = (
    "select count(pg_terminate_backend(pid)) from pg_stat_activity"
    " where datname = current_database() and application_name like 'onevalet%'"
)
_ROWS = "select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_user_tables where relname = $1"
_FLUSHES = "select sum(fsyncs) from pg_stat_io where object = 'wal' and backend_type = 'client backend'"


@dataclass(slots=True)
class PostgresMeter:
    """What the clients asked since `clear`. Each statement is a round trip."""

    url: str
    statements: list[str] = field(default_factory=list)
    transactions: int = 0
    _far: tuple[str, int] = ("", 0)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def clear(self) -> None:
        """Forget what was counted."""
        self.statements.clear()
        self.transactions = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection to its end."""
        far_reader, far_writer = await asyncio.open_connection(*self._far)
        self._writers |= {writer, far_writer}
        seen = _Seen(self)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_copy(reader, far_writer, _Messages(seen.asked, started=False).feed))
                both.create_task(_copy(far_reader, writer, _Messages(seen.answered, started=True).feed))
        finally:
            for end in (writer, far_writer):
                self._writers.discard(end)
                end.transport.abort()

    def close(self) -> None:
        """Cut what is still open."""
        for writer in list(self._writers):
            writer.transport.abort()


@dataclass(slots=True)
class _Seen:
    """One connection's statements by their names, and whether a transaction is open on it."""

    meter: PostgresMeter
    _status: bytes = _IDLE
    _named: dict[bytes, bytes] = field(default_factory=dict)
    _bound: bytes = b""

    def asked(self, kind: bytes, body: bytes) -> None:
        if kind == b"P":
            name, text, _ = body.split(b"\0", 2)
            self._named[name] = text
        elif kind == b"B":
            _, name, _ = body.split(b"\0", 2)
            self._bound = self._named[name]
        elif kind in (b"E", b"Q"):
            statement = (self._bound if kind == b"E" else body.rstrip(b"\0")).decode()
            if statement == _OPENING:
                return
            self.meter.statements.append(statement)
            self.meter.transactions += self._status == _IDLE

    def answered(self, kind: bytes, body: bytes) -> None:
        if kind == b"Z":
            self._status = body


@dataclass(slots=True)
class _Messages:
    """Cut a direction's bytes into messages. A client's first one has no kind."""

    each: Callable[[bytes, bytes], None]
    started: bool
    _left: bytes = b""

    def feed(self, block: bytes) -> None:
        data, at = self._left + block, 0
        while True:
            head = 1 if self.started else 0
            if len(data) - at < head + 4:
                break
            length = int.from_bytes(data[at + head : at + head + 4])
            if len(data) - at < head + length:
                break
            if self.started:
                self.each(data[at : at + 1], data[at + 5 : at + 1 + length])
            self.started = True
            at += head + length
        self._left = data[at:]


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, feed: Callable[[bytes], None]) -> None:
    with suppress(OSError):
        while block := await reader.read(_BLOCK):
            feed(block)
            writer.write(block)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.write_eof()


async def wal_flushes(database_url: str) -> int:
    """End our connections to a server of Postgres 18 or newer, and return how often they have flushed WAL so far.

    A backend tells what it counted when it ends, and its pool opens another. What Postgres flushes by itself, soon
    after a commit that waited for no flush, is not counted: nobody waits for it.
    """
    connection = await asyncpg.connect(database_url)
    try:
        await _end_ours(connection)
        return int(await connection.fetchval(_FLUSHES))
    finally:
        await connection.close()


async def rows_read(connection: "asyncpg.Connection[asyncpg.Record]", table: str) -> int:
    """End our connections, and return how many rows of a table have been read so far."""
    await _end_ours(connection)
    return int(await connection.fetchval(_ROWS, table))


async def _end_ours(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    async def are_gone() -> bool:
        return not await connection.fetchval(_END_OURS)

    await eventually(are_gone, "the end of our connections")


@asynccontextmanager
async def metered(database_url: str) -> AsyncIterator[PostgresMeter]:
    """Run a meter before a Postgres for the block; its `url` leads through it."""
    parts = urlsplit(database_url)
    meter = PostgresMeter("", _far=(str(parts.hostname), parts.port or 5432))
    server = await asyncio.start_server(meter.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    login = parts.netloc.rpartition("@")[0]
    query = "&".join(filter(None, (parts.query, "sslmode=disable")))
    meter.url = urlunsplit(parts._replace(netloc=f"{login}@127.0.0.1:{port}", query=query))
    try:
        yield meter
    finally:
        server.close()
        meter.close()
