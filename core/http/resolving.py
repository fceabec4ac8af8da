"""Names that others choose are looked up in threads of their own.

A name server that does not answer holds a thread for half a minute. In the event loop's pool, a few of them would block
all access to files, and the search for a lost Postgres or Redis.
"""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, cast

from aiohttp.resolver import ThreadedResolver

LOOKUPS = 16
"""Names that are looked up at the same time in a process."""


def peer_resolver() -> ThreadedResolver:
    """Return a resolver for names that people, models and messages name."""
    # aiohttp's own asks the loop for two lookups, and for nothing else.
    return ThreadedResolver(cast("asyncio.AbstractEventLoop", _Lookups()))


class _Lookups:
    async def getaddrinfo(self, host: str, port: int, **options: Any) -> list[Any]:
        look = partial(socket.getaddrinfo, host, port, **options)
        return await asyncio.get_running_loop().run_in_executor(_pool(), look)

    async def getnameinfo(self, address: Any, flags: int = 0) -> tuple[str, str]:
        return await asyncio.get_running_loop().run_in_executor(_pool(), socket.getnameinfo, address, flags)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(LOOKUPS, "names")
