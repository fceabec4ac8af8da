"""Sending to Redis from a task of its own, so that no caller waits for it or fails with it."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

_MOST_PENDING = 1000
_SECONDS = 2.0
"""Seconds to wait for Redis with a batch."""
_CLOSING = 1.0

_log = structlog.get_logger()


class RedisSender[Client: Redis, Item: tuple[Any, ...]](ABC):
    """Send items in order, at most `at_once` in a batch. A batch that cannot be sent is lost.

    `word` begins the names of log events, which show the first value of each item. `rest`: seconds after a failure
    for which items are dropped, so that an absent Redis costs no time.
    """

    def __init__(self, redis_url: str, word: str, *, at_once: int = 1, rest: float = 0.0) -> None:
        self._url = redis_url
        self._word = word
        self._at_once = at_once
        self._rest = rest
        self._rests_until = 0.0
        self._client: Client | None = None
        self._pending: asyncio.Queue[Item] = asyncio.Queue(maxsize=_MOST_PENDING)
        self._task: asyncio.Task[None] | None = None

    @abstractmethod
    def _connect(self, url: str) -> Client:
        """Return a new client that gives up quickly."""

    @abstractmethod
    async def _send(self, client: Client, items: Sequence[Item]) -> None:
        """Send a batch. If this raises, the batch is lost."""

    def _put(self, item: Item) -> None:
        """Queue an item. Never raises, never waits for the network."""
        try:
            self._pending.put_nowait(item)
        except asyncio.QueueFull:
            _log.info(f"{self._word}_dropped", of=item[0])

    async def start(self) -> None:
        """Start sending; Redis may be away still."""
        self._task = asyncio.create_task(self._run(), name=self._word)

    async def sent(self) -> None:
        """Wait until all queued items are sent or lost."""
        await self._pending.join()

    async def stop(self) -> None:
        """Send the remaining items, for a second at most, and close."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(_CLOSING):
                await self.sent()
        except TimeoutError:
            _log.info(f"{self._word}_closed_with_some_left", count=self._pending.qsize())
        self._task.cancel()
        await asyncio.wait([self._task])
        await self._close()

    async def _run(self) -> None:
        while True:
            items = [await self._pending.get()]
            while len(items) < self._at_once and not self._pending.empty():
                items.append(self._pending.get_nowait())
            try:
                if time.monotonic() >= self._rests_until:
                    async with asyncio.timeout(_SECONDS):
                        self._client = self._client or self._connect(self._url)
                        await self._send(self._client, items)
            except Exception as error:
                # The outermost loop: any error costs this batch only, and the next batch is tried.
                self._rests_until = time.monotonic() + self._rest
                of = sorted({str(item[0]) for item in items})
                _log.warning(f"{self._word}_lost", of=of, count=len(items), cause=type(error).__name__)
                await self._close()
            finally:
                for _ in items:
                    self._pending.task_done()

    async def _close(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        try:
            async with asyncio.timeout(_CLOSING):
                await client.aclose(close_connection_pool=True)
        except (RedisError, OSError, TimeoutError) as error:
            _log.info(f"{self._word}_close_failed", cause=type(error).__name__)
