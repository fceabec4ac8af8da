"""Names that others choose are looked up apart from everything else that waits in threads."""

import asyncio
import socket
import threading
from typing import Any

import pytest

from core.http.guarded_client import GuardedClient
from core.http.resolving import LOOKUPS, peer_resolver


async def test_a_name_is_looked_up() -> None:
    found = await peer_resolver().resolve("localhost", 80, socket.AF_INET)
    assert {one["host"] for one in found} == {"127.0.0.1"}


async def test_name_servers_that_never_answer_hold_up_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    answered, asked = threading.Event(), threading.Semaphore(0)

    def silent(*_: Any, **__: Any) -> Any:
        asked.release()
        answered.wait()
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    client = GuardedClient()
    names = [f"a{number}.example" for number in range(3 * LOOKUPS)]
    looks: list[asyncio.Task[Any]] = [asyncio.create_task(client.connect(name, 993, {993})) for name in names]
    looks += [asyncio.create_task(client.check(f"https://{name}/")) for name in names]
    looks += [asyncio.create_task(client.request("GET", f"https://{name}/")) for name in names]
    try:
        for _ in range(LOOKUPS):
            await asyncio.to_thread(asked.acquire)
        assert await asyncio.to_thread(lambda: "read") == "read", "a thread of the loop's own pool is free"
    finally:
        answered.set()
        await asyncio.gather(*looks, return_exceptions=True)
        await client.close()
