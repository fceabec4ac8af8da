"""The present activity of a running turn, in words: a hint in Redis for pages that show the turn."""

import asyncio

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from core.db.redis_client import redis_client

PREFIX = "onevalet:doing:"
KEPT = 120
"""Seconds for which a hint is kept that nothing has followed: that of a worker that was killed, say."""
_CONNECT = 2
_log = structlog.get_logger()


class DoingNow:
    """Write and read the activity of turns. Losing it costs a line on a page, so nothing waits for it."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self._redis: Redis | None = None
        self._newest: dict[str, str] = {}
        self._writing: asyncio.Task[None] | None = None

    def tell(self, turn_id: str, text: str) -> None:
        """Note the activity of a turn; an empty text: nothing worth showing to a person. Return at once."""
        self._newest[turn_id] = text
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name="doing now")

    async def of(self, turn_id: str) -> str:
        """Return the activity of a turn; empty if none is stored, or Redis is away."""
        try:
            async with redis_client(self._url, socket_connect_timeout=_CONNECT) as redis:
                found = await redis.get(f"{PREFIX}{turn_id}")
        except (RedisError, OSError, TimeoutError):
            return ""
        return found.decode() if found else ""

    async def close(self) -> None:
        if self._writing is not None:
            await asyncio.wait([self._writing], timeout=_CONNECT)
            self._writing.cancel()
        if self._redis is not None:
            await self._redis.aclose()

    async def _write(self) -> None:
        self._redis = self._redis or redis_client(self._url, socket_connect_timeout=_CONNECT)
        try:
            while self._newest:
                turn_id = next(iter(self._newest))
                await self._redis.set(f"{PREFIX}{turn_id}", self._newest.pop(turn_id), ex=KEPT)
        except (RedisError, OSError, TimeoutError) as error:
            self._newest.clear()
            _log.warning("doing_not_told", cause=type(error).__name__)
