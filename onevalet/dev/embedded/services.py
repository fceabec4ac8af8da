"""The embedded servers for as long as they are needed, started again when one dies."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import structlog

from core.errors import OneValetError
from onevalet.dev.embedded.postgres import Postgres
from onevalet.dev.embedded.valkey import Valkey

_LOOK_SECONDS = 0.2
_MAX_PAUSE_SECONDS = 10.0

log = structlog.get_logger()


class EmbeddedServer(Protocol):
    """What Postgres and Valkey have in common here."""

    name: str

    @property
    def running(self) -> bool: ...

    @property
    def exit_code(self) -> int | None: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Services:
    """The addresses of what was started; None for what was not asked for."""

    database_url: str | None
    """The owner's, for `migrate`."""
    serving_url: str | None
    """The same database, for a login that may only act as the serving role."""
    redis_url: str | None


@asynccontextmanager
async def embedded_services(home: Path, *, database: bool, redis: bool) -> AsyncIterator[Services]:
    """Run the embedded servers that are asked for, on their data below `home`, and stop them at the end.

    One that dies is started again on the same address. Raises ConfigError when one cannot start. Enter it in
    the main thread: the servers end with the thread that starts them.
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
        )


async def keep_running(server: EmbeddedServer) -> None:
    """Start the server again whenever it died, for ever, with growing pauses while that fails."""
    pause = _LOOK_SECONDS
    while True:
        await asyncio.sleep(pause)
        if server.running:
            pause = _LOOK_SECONDS
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
