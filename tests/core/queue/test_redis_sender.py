"""What goes out to Redis goes from a task of its own, in order, and costs nobody anything where Redis is away."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import override

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from core.queue import redis_sender
from core.queue.redis_sender import RedisSender
from core.queue.wakeups import connect


class Words(RedisSender[Redis, tuple[str, int]]):
    """Append words to a list in Redis; `failures` is how many of its next goes fail."""

    failures = 0

    def __init__(self, redis_url: str, *, at_once: int = 1, rest: float = 0.0) -> None:
        super().__init__(redis_url, "word", at_once=at_once, rest=rest)
        self.goes: list[Sequence[tuple[str, int]]] = []
        self.clients: list[Redis] = []

    def put(self, *words: str) -> None:
        for word in words:
            self._put((word, 1))

    @override
    def _connect(self, url: str) -> Redis:
        self.clients.append(connect(url))
        return self.clients[-1]

    @override
    async def _send(self, client: Redis, items: Sequence[tuple[str, int]]) -> None:
        self.goes.append(items)
        if self.failures:
            self.failures -= 1
            raise ConnectionError
        await client.rpush("words", *(word for word, _ in items))  # type: ignore[misc]  # redis-py's types


@asynccontextmanager
async def begun(words: Words) -> AsyncIterator[Words]:
    await words.start()
    try:
        yield words
    finally:
        await words.stop()


async def stored(redis_url: str) -> list[str]:
    async with Redis.from_url(redis_url) as redis:
        return [word.decode() for word in await redis.lrange("words", 0, -1)]


async def test_what_waits_goes_in_order_so_many_at_once(redis_url: str) -> None:
    words = Words(redis_url, at_once=2)
    words.put("one", "two", "three")
    async with begun(words):
        await words.sent()
    assert await stored(redis_url) == ["one", "two", "three"]
    assert [len(go) for go in words.goes] == [2, 1]
    assert len(words.clients) == 1


async def test_what_is_left_at_the_end_is_sent_and_the_client_closed(redis_url: str) -> None:
    words = Words(redis_url)
    async with begun(words):
        words.put("one")
    assert await stored(redis_url) == ["one"]
    assert [one.is_connected for one in words.clients[0].connection_pool._available_connections] in ([], [False])


async def test_a_failure_costs_its_items_only_and_says_so(redis_url: str) -> None:
    words = Words(redis_url)
    words.failures = 1
    with capture_logs() as logs:
        async with begun(words):
            words.put("lost", "one")
            await words.sent()
    assert await stored(redis_url) == ["one"]
    [line] = [line for line in logs if line["event"] == "word_lost"]
    assert (line["of"], line["count"], line["cause"]) == (["lost"], 1, "ConnectionError")
    assert len(words.clients) == 2, "a client that failed is not used again"


async def test_one_that_rests_after_a_failure_tries_nothing(redis_url: str) -> None:
    words = Words(redis_url, rest=3600.0)
    words.failures = 1
    async with begun(words):
        words.put("lost", "put before it was known")
        await words.sent()
        words.put("put after it was known")
        await words.sent()
    assert await stored(redis_url) == []
    assert len(words.goes) == 1


async def test_more_than_may_wait_is_dropped(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_sender, "_MOST_PENDING", 2)
    words = Words(redis_url)
    with capture_logs() as logs:
        words.put("one", "two", "three")
    assert [(line["event"], line["of"]) for line in logs] == [("word_dropped", "three")]
    async with begun(words):
        await words.sent()
    assert await stored(redis_url) == ["one", "two"]
