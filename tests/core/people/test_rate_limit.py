"""Messages per minute, counted in Redis, and in memory while Redis is away."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from core.people.rate_limit import ACCOUNT_FACTOR, Counted, Rate, Rates
from tests.patience import PATIENCE
from tests.services import flush, private_valkey

_turns = itertools.count(1)


@pytest.fixture
async def rates(redis_url: str) -> AsyncIterator[Rates]:
    """Yield rates over an emptied Redis."""
    made = Rates(redis_url)
    yield made
    await made.close()


def turn(tenant: str = "ann", messages: int = 1, account: str = "+1") -> Counted:
    return Counted(f"turn_{next(_turns)}", tenant, "sms", account, messages)


async def test_the_limit_then_one_sentence_then_silence(rates: Rates) -> None:
    allowed = [await rates.count(turn(), 5) for _ in range(9)]
    assert allowed == [Rate.WITHIN] * 5 + [Rate.BEYOND] + [Rate.SILENT] * 3


async def test_another_person_has_a_limit_of_their_own(rates: Rates) -> None:
    assert [await rates.count(turn("ann"), 1) for _ in range(2)] == [Rate.WITHIN, Rate.BEYOND]
    assert await rates.count(turn("Ann"), 1) is Rate.WITHIN


async def test_every_message_counts_and_a_turn_with_any_allowed_one_is_answered(rates: Rates) -> None:
    assert await rates.count(turn(messages=3), 5) is Rate.WITHIN
    assert await rates.count(turn(messages=40), 5) is Rate.WITHIN
    assert await rates.count(turn(), 5) is Rate.BEYOND


async def test_a_turn_that_is_looked_at_again_is_not_counted_again(rates: Rates, redis_url: str) -> None:
    first = turn()
    assert [await rates.count(first, 2) for _ in range(5)] == [Rate.WITHIN] * 5
    elsewhere = Rates(redis_url)
    assert await elsewhere.count(first, 2) is Rate.WITHIN
    await elsewhere.close()
    assert await rates.count(turn(), 2) is Rate.WITHIN
    refused = turn()
    assert [await rates.count(refused, 2) for _ in range(2)] == [Rate.BEYOND] * 2


async def test_a_run_without_messages_takes_no_room(rates: Rates) -> None:
    for _ in range(3):
        assert await rates.count(turn(messages=0), 1) is Rate.WITHIN
    assert await rates.count(turn(), 1) is Rate.WITHIN


async def test_an_account_that_had_its_share_lets_turns_wait_and_blames_nobody(rates: Rates) -> None:
    for number in range(ACCOUNT_FACTOR):
        assert await rates.count(turn(f"person{number}"), 1) is Rate.WITHIN
    late = turn("late")
    assert [await rates.count(late, 1) for _ in range(2)] == [Rate.WAIT, Rate.WAIT]
    assert await rates.count(turn("late", account="+2"), 1) is Rate.WITHIN


async def test_two_processes_count_together(rates: Rates, redis_url: str) -> None:
    other = Rates(redis_url)
    allowed = await asyncio.gather(*(each.count(turn(), 10) for _ in range(10) for each in (rates, other)))
    await other.close()
    assert allowed.count(Rate.WITHIN) == 10
    assert allowed.count(Rate.BEYOND) == 1


async def test_memory_counts_as_redis_does(rates: Rates) -> None:
    own, chance = Rates(), random.Random(7)
    turns = [turn(f"p{chance.randrange(3)}", chance.randrange(4), f"+{chance.randrange(2)}") for _ in range(60)]
    for each in [chance.choice(turns) for _ in range(200)]:
        assert await own.count(each, 3) is await rates.count(each, 3), each


async def test_a_flush_costs_nothing_but_the_count(rates: Rates, redis_url: str) -> None:
    assert [await rates.count(turn(), 1) for _ in range(2)] == [Rate.WITHIN, Rate.BEYOND]
    await flush(redis_url)
    assert await rates.count(turn(), 1) is Rate.WITHIN


async def test_without_redis_each_process_counts_locally_and_nothing_blocks() -> None:
    async with private_valkey() as server:
        rates = Rates(server.url)
        assert await rates.count(turn(), 2) is Rate.WITHIN
        await server.stop()
        async with asyncio.timeout(PATIENCE):
            allowed = [await rates.count(turn(), 2) for _ in range(4)]
        assert allowed == [Rate.WITHIN, Rate.WITHIN, Rate.BEYOND, Rate.SILENT]
        await server.start()
        assert await rates.count(turn("bob"), 2) is Rate.WITHIN
        await rates.close()


WRONG = {
    "words": lambda client, key: client.set(key, "PWNED"),
    "a list": lambda client, key: client.rpush(key, "PWNED"),
    "a hash": lambda client, key: client.hset(key, "a", "b"),
    "bytes that are no text": lambda client, key: client.set(key, b"\xff\xfe"),
    "a count that never runs out": lambda client, key: client.set(key, "999999"),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_wrong_value_in_redis_is_deleted_and_counted_from_nothing(
    rates: Rates, redis_url: str, wrong: str
) -> None:
    first = turn()
    assert await rates.count(first, 2) is Rate.WITHIN
    async with Redis.from_url(redis_url) as client:
        keys = [key async for key in client.scan_iter("onevalet:rate:*")]
        assert len(keys) == 3
        for key in keys:
            await client.delete(key)
            await WRONG[wrong](client, key)
        with capture_logs() as logs:
            assert await rates.count(first, 2) is Rate.WITHIN
            assert [await rates.count(turn(), 2) for _ in range(2)] == [Rate.WITHIN, Rate.BEYOND]
        assert {entry["event"] for entry in logs} == {"rates_healed"}
        assert not [key async for key in client.scan_iter("onevalet:rate:*") if await client.ttl(key) < 0]


@pytest.mark.parametrize("wrong", WRONG)
async def test_no_wrong_value_for_an_account_makes_its_people_wait(rates: Rates, redis_url: str, wrong: str) -> None:
    assert await rates.count(turn(), 2) is Rate.WITHIN
    async with Redis.from_url(redis_url) as client:
        (key,) = [key async for key in client.scan_iter("onevalet:rate:*account*")]
        await client.delete(key)
        await WRONG[wrong](client, key)
    assert await rates.count(turn("bob"), 2) is Rate.WITHIN
