"""The address of Redis: one server's, or that of Sentinels."""

import pytest

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
