"""The one door to Postgres: a pool that always serves as `onevalet_app`, and calls that may be repeated.

An error does not mean "not committed": a connection that breaks may have committed first. Every statement
that writes is therefore keyed so that a repeat changes nothing, and `call` repeats it while the server is
away, until its patience ends in `StoreUnavailable`.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import structlog

from core.errors import LeaseLost, StoreUnavailable
from core.json_types import storable

ROLE = "onevalet_app"
LEASE_LOST = "OV001"

_log = structlog.get_logger()

type Connection = asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]

# What says that the server is away or about to be, or that two transactions met: a repeat may succeed.
_PASSING = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # a connection that broke between two of its own states
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.QueryCanceledError,
    TimeoutError,
)


class Database:
    """Hand out connections under row-level security. `patience`: seconds that a call waits for the server."""

    def __init__(self, url: str, *, patience: float = 5.0, size: int = 10, name: str = "onevalet") -> None:
        self._url = url
        self._patience = patience
        self._size = size
        self._name = name
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._opening = asyncio.Lock()

    async def call(self, statement: str, *args: object) -> asyncpg.Record | None:
        """Run one repeatable statement and give its first row."""
        rows = await self.rows(statement, *args)
        return rows[0] if rows else None

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run one repeatable statement and give all rows; raises `StoreUnavailable` or `LeaseLost`."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience
        pause = 0.05
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._fetch(statement, *args)
            except _PASSING as error:
                await self._pause(error, pause, deadline)
            except asyncpg.PostgresError as error:
                if error.sqlstate == LEASE_LOST:
                    raise LeaseLost from error
                raise
            pause = min(pause * 2, 1.0)

    @asynccontextmanager
    async def tenant(self, tenant_id: str) -> AsyncIterator[Connection]:
        """Give a connection inside one transaction that sees this tenant's rows only."""
        pool, connection = await self._acquire()
        try:
            try:
                async with connection.transaction():
                    await connection.execute("select set_config('onevalet.tenant', $1, true)", tenant_id)
                    yield connection
            finally:
                await pool.release(connection)
        except _PASSING as error:
            raise StoreUnavailable(type(error).__name__) from error

    async def ready(self) -> bool:
        """Tell whether the database answers now."""
        try:
            async with asyncio.timeout(2):
                pool = await self._open()
                async with pool.acquire() as connection:
                    await connection.fetchval("select 1 from schema_migrations limit 1")
        except (*_PASSING, asyncpg.PostgresError) as error:
            _log.info("database_not_ready", cause=type(error).__name__)
            return False
        return True

    async def close(self) -> None:
        """Close the pool; connections that do not end within seconds are cut."""
        if self._pool is None:
            return
        try:
            async with asyncio.timeout(3):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()
        self._pool = None

    async def _fetch(self, statement: str, *args: object) -> list[asyncpg.Record]:
        pool = await self._open()
        async with pool.acquire() as connection:
            return await connection.fetch(statement, *args)

    async def _acquire(
        self,
    ) -> "tuple[asyncpg.Pool[asyncpg.Record], asyncpg.pool.PoolConnectionProxy[asyncpg.Record]]":
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience
        pause = 0.05
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    pool = await self._open()
                    return pool, await pool.acquire()
            except _PASSING as error:
                await self._pause(error, pause, deadline)
            pause = min(pause * 2, 1.0)

    async def _pause(self, error: Exception, pause: float, deadline: float) -> None:
        """Wait before the next try; raise when there is none."""
        if asyncio.get_running_loop().time() + pause >= deadline:
            raise StoreUnavailable(type(error).__name__) from error
        _log.warning("database_call_repeated", cause=type(error).__name__)
        await asyncio.sleep(pause * (0.5 + random.random()))

    async def _open(self) -> "asyncpg.Pool[asyncpg.Record]":
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    self._pool = await asyncpg.create_pool(
                        self._url,
                        min_size=0,
                        max_size=self._size,
                        init=_prepare,
                        timeout=5,
                        command_timeout=20,
                        server_settings={"role": ROLE, "application_name": self._name},
                    )
        return self._pool


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=_encode, decoder=json.loads, format="text")


def _encode(value: Any) -> str:
    return json.dumps(storable(value), ensure_ascii=False)
