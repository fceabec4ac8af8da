"""The server, and the address that stands for the world."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from yarl import URL

from core.http import client
from core.http.address_guard import is_public
from tests.core.http.harness import WORLD, Server


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server(0)
    runner = web.ServerRunner(web.Server(made.answer), shutdown_timeout=0.1)  # type: ignore[arg-type]
    await runner.setup()
    first = web.TCPSite(runner, "127.0.0.1", 0)
    await first.start()
    made.port = URL(f"http://x:{runner.addresses[0][1]}").port or 0
    await web.TCPSite(runner, WORLD, made.port).start()
    yield made
    await runner.cleanup()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one address of this machine count as public."""
    monkeypatch.setattr(client, "is_public", lambda address: address == WORLD or is_public(address))
