"""Unstored messages between processes, such as from a worker to the process that holds a person's connection."""

import json
from collections.abc import AsyncGenerator

from redis.asyncio import Redis
from redis.exceptions import RedisError

from core.db.redis_client import redis_client
from core.errors import Unavailable
from core.json_types import JsonObject, object_in

PREFIX = "onevalet:relay:"
LISTEN = 5.0
"""Seconds of silence after which the connection is tested."""


class Relay:
    """Send and receive by topic, over Redis. A message without a listener is lost, so only hints and offers use it."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self._redis: Redis | None = None

    async def tell(self, topic: str, message: JsonObject) -> int:
        """Send to all listeners of a topic; return their number. Raises `Unavailable` while Redis is away."""
        self._redis = self._redis or redis_client(self._url, socket_connect_timeout=2)
        try:
            return int(await self._redis.publish(_name(self._redis, topic), json.dumps(message)))
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable("Redis is away") from error

    async def hear(self, topic: str) -> AsyncGenerator[JsonObject]:
        """Yield the messages of a topic, first an empty object once the subscription holds. Raises `Unavailable`."""
        try:
            async with (
                redis_client(self._url, socket_connect_timeout=2) as redis,
                redis.pubsub(ignore_subscribe_messages=True) as heard,
            ):
                await heard.subscribe(_name(redis, topic))
                await heard.ping()  # answered after the subscription
                yield {}
                while True:
                    told = await heard.get_message(timeout=LISTEN)
                    if told is None:
                        await heard.ping()
                    elif told["type"] == "message":
                        yield object_in(told["data"].decode())
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable("Redis is away") from error

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.aclose()


def _name(redis: Redis, topic: str) -> str:
    """Return the name of a topic in Redis, with the database: https://redis.io/docs/latest/develop/pubsub/.

    Pub/Sub ignores database numbers, by which two installations may share a server.
    """
    database = int(redis.connection_pool.connection_kwargs.get("db") or 0)
    return f"{PREFIX}{database}:{topic}" if database else f"{PREFIX}{topic}"
