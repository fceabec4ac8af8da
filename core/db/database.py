"""The only access to Postgres: a pool that always serves as `onevalet_app`, and calls that may be repeated.

An error does not mean "not committed": a connection that breaks may have committed first. Every statement
that writes is therefore keyed so that a repeat changes nothing, and `call` repeats it while the server is
away, until its patience ends in `StoreUnavailable`.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
import structlog

from core import tracing
from core.db.connector import keep_alive
from core.db.outages import NotConnected, StoreTrouble, cause_of, is_passing
from core.db.serving import ServingConnector
from core.errors import FactsChanged, Halted, LeaseLost, OneValetError, StoreUnavailable
from core.json_types import storable

LEASE_LOST = "OV001"
_OURS: dict[str | None, type[OneValetError]] = {
    LEASE_LOST: LeaseLost,
    "OV002": FactsChanged,
    "OV003": Halted,
}
"""The errors that our own functions raise, by their code."""
FEW = 4
"""Connections that serve at once: each further connection plans every statement anew, and takes the server's memory.

With four, a worker answers a tenth more messages a second than with twenty.
"""
WAIT = 0.1
"""Seconds until a statement takes a connection more, if all of these wait for a lock or for the server."""
RELEASE = 2.0
"""Seconds that a server has to acknowledge that a statement is cancelled, before its connection is dropped."""

# `json.dumps` makes an encoder for each call that has options.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)

_log = structlog.get_logger()

type Acquired = tuple[asyncpg.Pool[asyncpg.Record], asyncpg.pool.PoolConnectionProxy[asyncpg.Record], bool]
"""A pool, its connection, and whether this is one of the few."""
type Connection = asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]


class ServingConnection(asyncpg.Connection):
    """Send no text that Postgres refuses: NUL and lone surrogates go from every argument, from arrays and jsonb too.

    Not a codec, because asyncpg takes none for `text[]`. All its ways to run a statement with arguments end here.
    """

    def get_reset_query(self) -> str:
        """Return nothing: all that we set ends with its transaction, so a released connection needs no round trip.

        The pool still rolls back a transaction that was left open.
        """
        return ""

    async def _execute(self, query: str, args: Sequence[object], *rest: Any, **named: Any) -> Any:
        return await super()._execute(query, storable(args), *rest, **named)  # type: ignore[misc]

    async def _executemany(self, query: str, args: Iterable[Sequence[object]], *rest: Any, **named: Any) -> Any:
        return await super()._executemany(query, storable(list(args)), *rest, **named)  # type: ignore[misc]


class Database:
    """Hand out connections under row-level security. `patience`: seconds that a call waits for the server."""

    def __init__(self, url: str, *, patience: float = 5.0, size: int = 10, name: str = "onevalet") -> None:
        self._url = url
        self._patience = patience
        self._size = size
        self._name = name
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._opening = asyncio.Lock()
        self._few = asyncio.Semaphore(FEW)
        self._trouble = StoreTrouble()
        self._ready = True

    async def call(self, statement: str, *args: object) -> asyncpg.Record | None:
        """Run a repeatable statement and return its first row."""
        rows = await self.rows(statement, *args)
        return rows[0] if rows else None

    async def one(self, statement: str, *args: object) -> asyncpg.Record:
        """Run a repeatable statement that always returns exactly one row."""
        (row,) = await self.rows(statement, *args)
        return row

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run a repeatable statement and return all rows.

        Raises `StoreUnavailable`, `LeaseLost`, `Halted` or `FactsChanged`.
        """
        tries = _Tries(self._patience, self._trouble)
        while True:
            try:
                async with asyncio.timeout_at(tries.deadline):
                    rows = await self._fetch(statement, *args)
            except Exception as error:
                if isinstance(error, asyncpg.PostgresError) and (ours := _OURS.get(error.sqlstate)):
                    raise ours from error
                if not is_passing(error):
                    raise
                await tries.pause(error)
            else:
                self._trouble.worked()
                return rows

    @asynccontextmanager
    async def tenant(self, tenant_id: str) -> AsyncIterator[Connection]:
        """Yield a connection inside a transaction that sees this tenant's rows only."""
        async with self._transaction(tenant_id, "begin") as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(self, tenant_id: str) -> AsyncIterator[Connection]:
        """Yield a read-only connection that sees this tenant's rows as of a single moment."""
        async with self._transaction(tenant_id, "begin isolation level repeatable read, read only") as connection:
            yield connection

    @asynccontextmanager
    async def _transaction(self, tenant_id: str, begin: str) -> AsyncIterator[Connection]:
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._patience
        acquired = await self._acquire()
        try:
            try:
                async with _transaction_of(tenant_id, acquired[1], begin, max(deadline, clock() + RELEASE)):
                    yield acquired[1]
            finally:
                await self._release(acquired)
        except Exception as error:
            if not is_passing(error):
                raise
            self._trouble.failed(error)
            raise StoreUnavailable(cause_of(error)) from error
        self._trouble.worked()

    async def tenant_rows(self, tenant_id: str, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run a statement as `tenant` does, with the tenant as its `$1`; return its rows."""
        async with self.tenant(tenant_id) as connection:
            return await connection.fetch(statement, tenant_id, *args)

    async def tenant_row(self, tenant_id: str, statement: str, *args: object) -> asyncpg.Record | None:
        """Run a statement as `tenant` does, with the tenant as its `$1`; return its first row."""
        rows = await self.tenant_rows(tenant_id, statement, *args)
        return rows[0] if rows else None

    async def repeat(self, tenant_id: str, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run a repeatable statement as `tenant_rows` does, again while the server is away; return its rows."""
        tries = _Tries(self._patience, self._trouble)
        while True:
            try:
                return await self.tenant_rows(tenant_id, statement, *args)
            except StoreUnavailable as error:
                await tries.pause(error.__cause__ or error)

    async def ready(self) -> bool:
        """Return whether the database answers and takes writes now."""
        try:
            async with asyncio.timeout(2):
                cause = await self._what_is_wrong()
        except Exception as error:
            if not is_passing(error) and not isinstance(error, asyncpg.PostgresError):
                raise
            cause = cause_of(error)
        if self._ready != (not cause):
            self._ready = not cause
            _log.warning("database_not_ready", cause=cause) if cause else _log.info("database_ready")
        return self._ready

    async def close(self) -> None:
        if self._pool is None:
            return
        try:
            async with asyncio.timeout(3):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()
        self._pool = None

    async def _fetch(self, statement: str, *args: object) -> list[asyncpg.Record]:
        acquired = await self._connection()
        try:
            return await acquired[1].fetch(statement, *args)
        finally:
            await self._release(acquired)

    async def _connection(self) -> Acquired:
        """Take a connection; a server's failure to open a connection is no fault of a statement."""
        taken = False
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT):
                taken = await self._few.acquire()
        try:
            pool = await self._open()
            return pool, await pool.acquire(), taken
        except BaseException as error:
            if taken:
                self._few.release()
            if isinstance(error, asyncpg.PostgresError):
                raise NotConnected(type(error).__name__) from error
            raise

    async def _release(self, acquired: Acquired) -> None:
        pool, connection, taken = acquired
        try:
            await pool.release(connection, timeout=RELEASE)
        finally:
            if taken:
                self._few.release()

    async def _what_is_wrong(self) -> str:
        acquired = await self._connection()
        connection = acquired[1]
        try:
            # The table is looked into as well: a database without ours is of no use.
            read_only = await connection.fetchval(
                "select current_setting('transaction_read_only')::boolean"
                " from (select 1) one left join (select 1 from schema_migrations limit 1) known on true"
            )
            if read_only:
                return "ReadOnly"
            if self._trouble.writes_fail:
                await connection.execute("select probe_write()")
                self._trouble.writes_fail = False
        finally:
            await self._release(acquired)
        return ""

    async def _acquire(self) -> Acquired:
        tries = _Tries(self._patience, self._trouble)
        while True:
            try:
                async with asyncio.timeout_at(tries.deadline):
                    return await self._connection()
            except Exception as error:
                if not is_passing(error):
                    raise
                await tries.pause(error)

    async def _open(self) -> "asyncpg.Pool[asyncpg.Record]":
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    self._pool = await asyncpg.create_pool(
                        self._url,
                        connect=ServingConnector(self._url),
                        min_size=0,
                        max_size=self._size,
                        init=_prepare,
                        connection_class=ServingConnection,
                        timeout=5,
                        command_timeout=20,
                        # Ours are fewer, and none of them ages: each is prepared once for each connection.
                        statement_cache_size=1000,
                        max_cached_statement_lifetime=0,
                        server_settings={"application_name": self._name},
                    )
        return self._pool


class _Tries:
    """The tries of a call, until its patience ends."""

    def __init__(self, patience: float, trouble: StoreTrouble) -> None:
        self._clock = asyncio.get_running_loop().time
        self.deadline = self._clock() + patience
        self._trouble = trouble
        self._pause = 0.05
        self._known: BaseException | None = None

    async def pause(self, error: BaseException) -> None:
        """Wait before the next try; raise `StoreUnavailable` if there is none."""
        self._trouble.failed(error)
        if self._known is not None and isinstance(error, TimeoutError) and self._clock() >= self.deadline:
            # Our own deadline cut this try off. The server's earlier error is the cause.
            error = self._known
        self._known = error
        if self._clock() + self._pause >= self.deadline:
            raise StoreUnavailable(cause_of(error)) from error
        await asyncio.sleep(self._pause * (0.5 + random.random()))
        self._pause = min(self._pause * 2, 1.0)


@asynccontextmanager
async def _transaction_of(tenant_id: str, connection: Connection, begin: str, deadline: float) -> AsyncIterator[None]:
    """Run a transaction for the block. asyncpg's own would need a round trip more, to set tenant and trace.

    `deadline`: the time by which the server has to begin it, by the loop's clock.
    """
    try:
        begin += f"; select set_config('onevalet.tenant', {_literal(tenant_id)}, true)"
        if context := tracing.traceparent():
            begin += f"; select set_config('onevalet.trace', {_literal(context)}, true)"
        try:
            async with asyncio.timeout_at(deadline):
                await connection.execute(begin)
        except TimeoutError:
            connection.terminate()
            raise
        yield
    except BaseException:
        if not connection.is_closed():
            await _roll_back(connection)
        raise
    await connection.execute("commit")


async def _roll_back(connection: Connection) -> None:
    """Undo a transaction. A host that went silent would hold its caller for as long as a statement may take."""
    try:
        async with asyncio.timeout(RELEASE):
            await connection.execute("rollback")
    except TimeoutError:
        connection.terminate()  # the server undoes it when it sees that


def _literal(text: str) -> str:
    """Return a text as an SQL literal that does not depend on `standard_conforming_strings`."""
    return "E'" + str(storable(text)).replace("\\", "\\\\").replace("'", "''") + "'"


async def fetch_one(connection: Connection, statement: str, *args: object) -> asyncpg.Record:
    """Run a statement that always returns exactly one row, in the connection's transaction."""
    (row,) = await connection.fetch(statement, *args)
    return row


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    keep_alive(connection)
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=_encode, decoder=json.loads, format="text")


def _encode(value: Any) -> str:
    # Python writes NaN and Infinity, which no JSON has: refused here, before the statement is sent.
    return _ENCODER.encode(value)
