"""The address of Redis: one server's, or that of Sentinels."""

import asyncio

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from core.db.redis_address import Sentinels, read_sentinels
from core.db.redis_client import redis_client
from core.errors import ConfigError
from onevalet.settings import load_settings


def test_an_address_of_sentinels_is_taken_apart() -> None:
    told = read_sentinels("rediss+sentinel://ann:p%40ss@one,two:7000/valet/3?sentinel_password=own")
    assert told == Sentinels((("one", 26_379), ("two", 7000)), "valet", 3, "ann", "p@ss", "own", tls=True)
    plain = read_sentinels("redis+sentinel://one/valet")
    assert plain == Sentinels((("one", 26_379),), "valet", 0, None, None, None, tls=False)


@pytest.mark.parametrize(
    "url",
    ["redis+sentinel://one,two", "redis+sentinel:///valet", "redis+sentinel://one:x/valet", "x+sentinel://one/valet"],
)
def test_an_address_that_names_no_primary_is_refused(url: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^REDIS_URL cannot be used: must be an address such as redis://host:6379/0, or"
    ):
        load_settings(redis_url=url)


async def test_an_address_of_one_server_leads_to_it(redis_url: str) -> None:
    async with redis_client(redis_url, decode_responses=True) as client:
        await client.set("here", "yes")
        assert await client.get("here") == "yes"


async def test_a_closed_client_opens_no_connection(redis_url: str) -> None:
    client = redis_client(redis_url)
    await client.set("here", "yes")
    await client.aclose()
    with pytest.raises(RedisError, match="closed"):
        await client.get("here")
    assert _open(client) == 0


async def test_a_client_that_is_closed_while_it_connects_keeps_nothing_open(redis_url: str) -> None:
    client = redis_client(redis_url)
    asking = asyncio.ensure_future(client.get("here"))
    await asyncio.sleep(0)
    assert client.connection_pool._in_use_connections
    await client.aclose()
    await asyncio.wait([asking])
    assert isinstance(asking.exception(), RedisError | OSError | None)
    assert _open(client) == 0


async def test_a_closing_that_is_cancelled_at_once_closes_everything(redis_url: str) -> None:
    client = redis_client(redis_url)
    await asyncio.gather(client.get("here"), client.get("there"))
    assert _open(client) > 0
    closing = asyncio.create_task(client.aclose())
    asyncio.get_running_loop().call_soon(closing.cancel)
    await asyncio.wait([closing])
    assert _open(client) == 0


def _open(client: Redis) -> int:
    pool = client.connection_pool
    return sum(one.is_connected for one in (*pool._available_connections, *pool._in_use_connections))
