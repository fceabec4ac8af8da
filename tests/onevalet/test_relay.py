"""Messages between processes: heard by those of the same installation only."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from core.json_types import JsonObject
from onevalet.relay import Relay
from tests.patience import PATIENCE


@asynccontextmanager
async def open_relay(redis_url: str) -> AsyncIterator[Relay]:
    relay = Relay(redis_url)
    try:
        yield relay
    finally:
        await relay.close()


def beside(redis_url: str) -> str:
    """Return another database of the same server."""
    server, _, number = redis_url.rpartition("/")
    return f"{server}/{int(number) + 8}"


async def test_an_installation_hears_nothing_of_another_on_the_same_server(redis_url: str) -> None:
    async with (
        open_relay(redis_url) as ours,
        open_relay(beside(redis_url)) as theirs,
        aclosing(ours.hear("app:ann")) as heard,
    ):
        assert await anext(heard) == {}
        assert await theirs.tell("app:ann", {"text": "theirs"}) == 0
        assert await ours.tell("app:ann", {"text": "ours"}) == 1
        async with asyncio.timeout(PATIENCE):
            told: JsonObject = await anext(heard)
        assert told == {"text": "ours"}
