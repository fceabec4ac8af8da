"""The server, and the address that stands for the world."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from core.http import guarded_client as client
from core.http.address_guard import is_public
from tests.core.http.harness import WORLD, Server


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server(0)
    runner = web.ServerRunner(web.Server(made.answer), shutdown_timeout=0.1)  # type: ignore[arg-type]
    await runner.setup()
    # All addresses of this machine at once: a port that is free on one may be taken on the other.
    await web.TCPSite(runner, "0.0.0.0", 0).start()  # noqa: S104
    made.port = int(runner.addresses[0][1])
    yield made
    await runner.cleanup()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one address of this machine count as public."""
    monkeypatch.setattr(client, "is_public", lambda address: address == WORLD or is_public(address))
