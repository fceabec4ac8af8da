"""Clients of Redis: of a single server, or of the primary that Sentinels name."""

from typing import Any

from redis.asyncio import Redis, Sentinel
from redis.asyncio.sentinel import SentinelConnectionPool

from core.db.redis_address import is_sentinels, read_sentinels

_SECONDS = 1.0
"""Seconds that a Sentinel may take before the next is asked."""


class _PrimaryPool(SentinelConnectionPool):
    """Connections to the primary, which close the connections to the Sentinels with them."""

    async def disconnect(self, inuse_connections: bool = True) -> None:
        await super().disconnect(inuse_connections)
        for sentinel in self.sentinel_manager.sentinels:
            await sentinel.aclose()


def redis_client(url: str, **options: Any) -> Redis:
    """Return a client; `options` are redis-py's connection options. Nothing is sent before its first command."""
    return client_of(Redis, url, **options)


def client_of[Client: Redis](kind: type[Client], url: str, **options: Any) -> Client:
    """Return a client of a class of redis-py's, as `redis_client` does."""
    if not is_sentinels(url):
        client: Client = kind.from_url(url, **options)
        return client
    told = read_sentinels(url)
    asking = {"password": told.own_password, "socket_timeout": _SECONDS, "socket_connect_timeout": _SECONDS}
    sentinel = Sentinel(  # type: ignore[no-untyped-call]
        told.hosts, sentinel_kwargs=asking | {"ssl": told.tls}, ssl=told.tls
    )
    login = {"username": told.username, "password": told.password, "db": told.database}
    primary: Client = sentinel.master_for(told.name, kind, _PrimaryPool, **login | options)
    return primary
