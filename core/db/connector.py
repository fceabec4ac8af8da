"""Connections to the serving host of an address that names several hosts.

asyncpg asks the hosts in turn within one time limit, so that a host that is cut off, and does not answer at all, uses
up the time of the others. Here each has its own.
"""

import asyncio
import socket
from typing import Any

import asyncpg

from core.db.addresses import Host, hosts_of

HEAD_START = 0.5
"""Seconds that a host has before the next host is asked as well."""
# A host that is cut off answers nothing. An open connection to it fails after 5 + 3 * 2 seconds at the latest, used or
# not; without this only TCP's own patience would end it, after a quarter of an hour.
_KEEPALIVE = {
    "TCP_KEEPIDLE": 5,
    "TCP_KEEPINTVL": 2,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 10_000,
}

type Connection = asyncpg.Connection[asyncpg.Record]


async def connect(url: str, **options: Any) -> Connection:
    """Open a connection to the serving host; `options` are asyncpg's."""
    return await Connector(url)(url, **options)


def keep_alive(connection: Connection) -> None:
    """Set an open connection to fail within seconds when its host is cut off."""
    # asyncpg has no public name for it.
    sock = connection._transport.get_extra_info("socket")  # type: ignore[attr-defined]
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if (option := getattr(socket, name, None)) is not None:  # Linux has all of them
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


class NoPrimary(ConnectionError):
    """Hosts answer, but none of them is the primary now."""


class Connector:
    """Open connections, first to the host that served last; in asyncpg's pools it is `connect`."""

    def __init__(self, url: str) -> None:
        self._hosts = hosts_of(url)

    async def __call__(self, dsn: str | None = None, **options: Any) -> Connection:
        """Return a connection to the serving host; raise the most telling failure, or `NoPrimary`."""
        try:
            if len(self._hosts) < 2:
                return await asyncpg.connect(dsn, **options)
            return await self._first_that_serves(dsn, options)
        except asyncpg.TargetServerAttributeNotMatched as error:
            raise NoPrimary from error

    async def _first_that_serves(self, dsn: str | None, options: dict[str, Any]) -> Connection:
        asked: dict[asyncio.Task[Connection], Host] = {}
        waiting = list(self._hosts)
        failures: list[BaseException] = []
        try:
            while waiting or asked:
                if waiting:
                    host, port = waiting.pop(0)
                    task = asyncio.create_task(asyncpg.connect(dsn, host=host, port=port, **options))
                    asked[task] = (host, port)
                done, _ = await asyncio.wait(
                    asked, timeout=HEAD_START if waiting else None, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    if (error := task.exception()) is None:
                        self._remember(asked.pop(task))
                        return task.result()
                    del asked[task]
                    failures.append(error)
            failures.sort(key=lambda error: isinstance(error, asyncpg.TargetServerAttributeNotMatched))
            raise failures[0]  # the failure to reach a host tells more than a standby's answer
        finally:
            for task in asked:
                task.cancel()
                task.add_done_callback(_discard)

    def _remember(self, serving: Host) -> None:
        self._hosts = (serving, *(host for host in self._hosts if host != serving))


def _discard(task: asyncio.Task[Connection]) -> None:
    """Close a connection that came after another was taken."""
    if not task.cancelled() and task.exception() is None:
        task.result().terminate()
