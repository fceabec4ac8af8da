"""The embedded servers, run for the length of a block and restarted when they die."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from core.errors import OneValetError
from onevalet.servers.postgres import Postgres
from onevalet.servers.server import EmbeddedServer
from onevalet.servers.valkey import Valkey

_POLL_SECONDS = 0.2
_MAX_PAUSE_SECONDS = 10.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Services:
    """The addresses of the started servers; None for those that were not requested."""

    database_url: str | None
    """The owner's, for `migrate`."""
    serving_url: str | None
    """The same database, for a login that may act only as the serving role."""
    redis_url: str | None
    servers: tuple[EmbeddedServer, ...] = ()


@asynccontextmanager
async def embedded_services(home: Path, *, database: bool, redis: bool) -> AsyncIterator[Services]:
    """Run the requested servers on their data below `home`, and stop them at the end.

    A server that dies is restarted on the same address. Raise `ConfigError` if a server cannot start. Enter this in the
    main thread: the servers end with the thread that starts them.
    """
    postgres = Postgres(home) if database else None
    valkey = Valkey(home) if redis else None
    async with AsyncExitStack() as stack:
        for server in (postgres, valkey):
            if server:
                await server.start()
                stack.push_async_callback(server.stop)
                stack.push_async_callback(_end, asyncio.create_task(keep_running(server)))
        yield Services(
            database_url=postgres.url if postgres else None,
            serving_url=await postgres.serving_url() if postgres else None,
            redis_url=valkey.url if valkey else None,
            servers=tuple(server for server in (postgres, valkey) if server),
        )


async def keep_running(server: EmbeddedServer) -> None:
    """Restart the server whenever it has died, until cancelled, with growing pauses while that fails."""
    pause = _POLL_SECONDS
    while True:
        await asyncio.sleep(pause)
        if server.running:
            pause = _POLL_SECONDS
            continue
        log.warning("embedded_server_died", server=server.name, exit_code=server.exit_code)
        try:
            await server.start()
        except (OneValetError, OSError):
            log.exception("embedded_server_not_restarted", server=server.name)
            pause = min(pause * 2, _MAX_PAUSE_SECONDS)
        else:
            log.info("embedded_server_restarted", server=server.name)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
