"""Events in Redis: one stream per consumer group, which speeds events up and may be lost at any moment."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from abilities.events.store import EventRef
from core.db.redis_client import redis_client

MAX_ENTRIES = 100_000
"""Entries of a stream: the sweep puts back those that were trimmed unread."""
SHARED = "workers"
"""Redis' own consumer group within each stream: its consumers share the entries."""
ADD_SECONDS = 0.5
SILENT_SECONDS = 3.0
AWAY_SECONDS = 5.0
"""How long nothing is added after Redis did not answer."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """One entry of a stream."""

    entry_id: str
    ref: EventRef


class EventStreams:
    """Add, read and acknowledge entries. `consumer` names this process uniquely."""

    def __init__(self, redis_url: str, consumer: str) -> None:
        self._redis_url = redis_url
        self._consumer = consumer
        self._redis: Redis | None = None
        self._away_until = 0.0

    async def add(self, group: str, refs: Iterable[EventRef]) -> bool:
        """Add events to a group's stream; return False, immediately, while Redis is away."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._away_until:
            return False
        try:
            async with asyncio.timeout(ADD_SECONDS), self._client().pipeline(transaction=False) as pipe:
                for ref in refs:
                    fields = {"tenant": ref.tenant_id, "source": ref.source, "id": ref.id}
                    pipe.xadd(_stream(group), cast(Any, fields), maxlen=MAX_ENTRIES, approximate=True)
                await pipe.execute()
        except (RedisError, OSError, TimeoutError) as error:
            if await self._healed(group, error):
                return False
            self._away_until = loop.time() + AWAY_SECONDS
            _log.warning("event_stream_away", cause=type(error).__name__)
            return False
        return True

    async def read(self, group: str, count: int, wait: timedelta) -> list[StreamEntry]:
        """Wait for new entries; raises `RedisError` or `OSError` while Redis is away."""
        block = max(1, int(wait.total_seconds() * 1000))
        try:
            # Longer than Redis itself blocks: only a connection that died silently takes longer.
            async with asyncio.timeout(wait.total_seconds() + SILENT_SECONDS):
                answer = await self._client().xreadgroup(
                    SHARED, self._consumer, {_stream(group): ">"}, count=count, block=block
                )
        except ResponseError as error:
            if not str(error).startswith("NOGROUP") and not await self._healed(group, error):
                raise
            await self._make_group(group)
            return []
        return [entry for _, raw_entries in answer or [] for entry in _entries(raw_entries)]

    async def take_over(self, group: str, idle: timedelta, count: int = 50) -> list[StreamEntry]:
        """Claim entries that a dead consumer never acknowledged."""
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                _, raw_entries, *_ = await self._client().xautoclaim(
                    _stream(group), SHARED, self._consumer, int(idle.total_seconds() * 1000), "0-0", count=count
                )
        except ResponseError as error:
            if not str(error).startswith("NOGROUP") and not await self._healed(group, error):
                raise
            return []
        return _entries(raw_entries)

    async def acknowledge(self, group: str, entry_id: str) -> None:
        """Acknowledge and delete an entry; where that fails, the consumer that takes it over finds the event done."""
        try:
            async with asyncio.timeout(ADD_SECONDS), self._client().pipeline(transaction=False) as pipe:
                pipe.xack(_stream(group), SHARED, entry_id)
                pipe.xdel(_stream(group), entry_id)
                await pipe.execute()
        except (RedisError, OSError, TimeoutError) as error:
            _log.info("event_not_acknowledged", cause=type(error).__name__)

    async def leave(self, group: str) -> None:
        """Remove this consumer from the stream, unless it holds entries, which others take over."""
        try:
            async with asyncio.timeout(ADD_SECONDS):
                held = await self._client().xpending_range(_stream(group), SHARED, "-", "+", 1, self._consumer)
                if not held:
                    await self._client().xgroup_delconsumer(_stream(group), SHARED, self._consumer)
        except (RedisError, OSError, TimeoutError) as error:
            _log.info("event_consumer_not_removed", cause=type(error).__name__)

    async def close(self) -> None:
        redis, self._redis = self._redis, None
        if redis is not None:
            await redis.aclose()

    async def _healed(self, group: str, error: Exception) -> bool:
        """Delete a key of another type in the stream's place: the events are rows, and the sweep puts them back."""
        if not isinstance(error, ResponseError) or "WRONGTYPE" not in str(error):
            return False
        _log.warning("event_stream_healed", group=group)
        await self._client().delete(_stream(group))
        return True

    async def _make_group(self, group: str) -> None:
        try:
            # From the beginning: entries added before the first read are read.
            await self._client().xgroup_create(_stream(group), SHARED, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise

    def _client(self) -> Redis:
        if self._redis is None:
            self._redis = redis_client(self._redis_url, decode_responses=True, socket_connect_timeout=2)
        return self._redis


def _stream(group: str) -> str:
    return f"onevalet:events:{group}"


def _entries(raw_entries: list[tuple[str, dict[str, str] | None]]) -> list[StreamEntry]:
    # An entry that has been trimmed has no fields.
    return [
        StreamEntry(entry_id, EventRef(fields["tenant"], fields["source"], fields["id"]))
        for entry_id, fields in raw_entries
        if fields and fields.keys() >= {"tenant", "source", "id"}
    ]
