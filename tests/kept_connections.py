"""Connections to the run's Postgres that outlive the test that opened them, and serve the next.

A new backend plans each of our functions anew, 20 ms each time; one that a test before has used has the plans. What a
test sees is a new connection: another object, with a session as a new one has it. `fresh` is for tests whose subject is
what a new session costs.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import asyncpg

_RESET = (
    "reset session authorization; reset role; close all; unlisten *; reset all;"
    " select pg_advisory_unlock_all(); discard temp; discard sequences"
)
_SECONDS = 5.0
"""How long a connection may take to be as new; it is closed instead."""
MOST = 12
"""How many idle connections are kept for each login and database."""

type Connection = asyncpg.Connection[asyncpg.Record]
type Key = tuple[object, ...]

_connect = asyncpg.connect


@dataclass(slots=True)
class _Idle:
    """An open session without a connection object."""

    protocol: Any
    transport: Any
    rest: tuple[Any, ...]
    statements: Any
    codecs: dict[str, dict[str, Any]]


@dataclass(slots=True)
class Keeper:
    """The idle sessions of one event loop on one server. Another loop or server gets new connections."""

    server: str
    """The address of the server, as it stands in a URL."""
    loop: asyncio.AbstractEventLoop | None = None
    idle: dict[Key, list[_Idle]] = field(default_factory=lambda: defaultdict(list))
    keeps: bool = True
    databases: set[str] = field(default_factory=set)
    """The names of those that are lent to one test after the other."""

    async def connect(self, dsn: str | None = None, **options: Any) -> Connection:
        """Return a connection, in a session that is there already if possible; takes what `asyncpg.connect` does."""
        if not self._knows(dsn, options):
            return await _connect(dsn, **options)
        key = (dsn, *((name, repr(options[name])) for name in sorted(options) if name != "loop"))
        kind = _keeping(options.pop("connection_class", None) or asyncpg.Connection)
        while self.idle[key]:
            if (connection := await self._awake(self.idle[key].pop(), kind)) is not None:
                connection.keeper, connection.key = self, key
                return connection
        connection = await _connect(dsn, connection_class=kind, **options)
        connection.keeper, connection.key = self, key
        return connection

    async def keep(self, connection: "_Kept") -> bool:
        """Take back the session of a connection that is done with; return False if it has to be closed."""
        if not (self.keeps and len(self.idle[connection.key]) < MOST and _is_quiet(connection)):
            return False
        try:
            async with asyncio.timeout(_SECONDS):
                protocol = connection.protocol
                if protocol.is_in_transaction():
                    await protocol.query("rollback", _SECONDS)
                await protocol.query(_RESET, _SECONDS)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
            return False
        self.idle[connection.key].append(connection.let_go())
        return True

    def pids(self) -> list[int]:
        """Return the process numbers of the backends that are idle."""
        return [idle.protocol.get_server_pid() for every in self.idle.values() for idle in every]

    def forget(self, database: str) -> None:
        """Drop the sessions on a database, which may be gone."""
        self.databases.discard(database)
        for key in [key for key in self.idle if urlsplit(str(key[0])).path[1:] == database]:
            for idle in self.idle.pop(key):
                idle.protocol.abort()

    async def close(self) -> None:
        """Drop every session, and keep none from now on."""
        self.keeps = False
        for every in self.idle.values():
            for idle in every:
                idle.protocol.abort()
        self.idle.clear()
        await asyncio.sleep(0)  # in the turn of the loop that closes their sockets
        await asyncio.sleep(0)

    async def _awake(self, idle: _Idle, kind: "type[_Kept]") -> "_Kept | None":
        """Return a connection on an idle session; None if the session has ended."""
        if not idle.protocol.is_connected():
            return None
        made: Any = kind
        connection: _Kept = made(idle.protocol, idle.transport, self.loop, *idle.rest)
        connection.statements, connection.codecs = idle.statements, idle.codecs
        idle.protocol.set_connection(connection)
        try:
            await idle.protocol.query("select 1", _SECONDS)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError):
            # What Postgres said when it ended the session may have been read already: then nothing can be asked at all.
            connection.terminate()
            return None
        except BaseException:
            connection.terminate()
            raise
        return connection

    def _knows(self, dsn: str | None, options: dict[str, Any]) -> bool:
        """Return whether a connection is to a database that stays for the next test, from the loop that stays."""
        if not self.keeps or dsn is None or "host" in options or self.loop is not asyncio.get_running_loop():
            return False
        address = urlsplit(dsn)
        return address.netloc.endswith(f"@{self.server}") and address.path[1:] in self.databases


class _Kept(asyncpg.Connection):
    """A connection whose session goes back to its keeper when it is closed."""

    keeper: Keeper
    key: Key
    codecs: dict[str, dict[str, Any]]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.codecs = {}

    async def set_type_codec(self, typename: str, **options: Any) -> None:
        """Set a codec unless the session has it: to set one forgets every statement that was prepared."""
        if self.codecs.get(typename) != options:
            await super().set_type_codec(typename, **options)
            self.codecs[typename] = options

    async def close(self, *, timeout: float | None = None) -> None:
        """Close this object, and its session if nobody keeps that."""
        try:
            if not self.is_closed() and await self.keeper.keep(self):
                return
        except BaseException:
            self.terminate()
            raise
        await super().close(timeout=timeout)

    @property
    def protocol(self) -> Any:
        """Return asyncpg's protocol, which speaks with the session."""
        own: Any = self
        return own._protocol

    @property
    def statements(self) -> Any:
        """Return the statements that the session has prepared."""
        own: Any = self
        return own._stmt_cache

    @statements.setter
    def statements(self, statements: Any) -> None:
        own: Any = self
        own._stmt_cache = statements

    def let_go(self) -> _Idle:
        """Return the session, and be closed without it."""
        own: Any = self
        rest = (own._addr, own._config, own._params)
        idle = _Idle(own._protocol, own._transport, rest, self.statements, self.codecs)
        self.statements = type(idle.statements)(
            loop=own._loop, max_size=0, on_remove=lambda statement: None, max_lifetime=0
        )
        own._aborted, own._protocol = True, None
        own._cleanup()
        return idle


_kinds: dict[type, type[_Kept]] = {}


def _keeping(kind: type) -> type[_Kept]:
    """Return a class of connections, made into one whose sessions are kept."""
    if kind not in _kinds:
        _kinds[kind] = type(kind.__name__, (_Kept, kind), {"__module__": kind.__module__})
    return _kinds[kind]


def _is_quiet(connection: _Kept) -> bool:
    """Return whether nothing is under way on a connection."""
    own: Any = connection
    return not own._protocol._is_cancelling() and own._top_xact is None and not own._cancellations
