"""Clients of Redis: of a single server, or of the primary that Sentinels name."""

from typing import Any

from redis.asyncio import ConnectionPool, Redis, Sentinel
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.exceptions import ConnectionError as Away

from core.db.redis_address import is_sentinels, read_sentinels

_SECONDS = 1.0
"""Seconds that a Sentinel may take before the next is asked."""


class _Pool(ConnectionPool):
    """Connections that are all closed with their client, and of which there are none afterwards.

    redis-py's pool leaves connections open if its closing is cancelled, and opens new ones for a command that comes
    later: nobody would close those.
    """

    _is_closed = False

    async def get_connection(self, command_name: Any = None, *keys: Any, **options: Any) -> AbstractConnection:
        if self._is_closed:
            raise Away("This client of Redis is closed")
        connection: AbstractConnection = await super().get_connection()
        return connection

    async def release(self, connection: AbstractConnection) -> None:
        if self._is_closed:
            await connection.disconnect(nowait=True)
        await super().release(connection)

    async def disconnect(self, inuse_connections: bool = True) -> None:
        self._is_closed = self._is_closed or inuse_connections
        in_use = self._in_use_connections if inuse_connections else ()
        for connection in (*self._available_connections, *in_use):
            await connection.disconnect(nowait=True)  # never lets other tasks run, so nothing can cancel it


class _PrimaryPool(_Pool, SentinelConnectionPool):
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
        client = kind(connection_pool=_Pool.from_url(url, **options))
        client.auto_close_connection_pool = True
        return client
    told = read_sentinels(url)
    asking = {"password": told.own_password, "socket_timeout": _SECONDS, "socket_connect_timeout": _SECONDS}
    sentinel = Sentinel(  # type: ignore[no-untyped-call]
        told.hosts, sentinel_kwargs=asking | {"ssl": told.tls}, ssl=told.tls
    )
    login = {"username": told.username, "password": told.password, "db": told.database}
    primary: Client = sentinel.master_for(told.name, kind, _PrimaryPool, **login | options)
    return primary
