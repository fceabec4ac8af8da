"""A database whose address names several hosts: the one that serves is found, whatever the others do."""

import asyncio
import re
import socket
import struct
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from core.db import connector
from core.db import database as database_module
from core.db.addresses import for_primary, hosts_of
from core.db.connector import Connector, connect
from core.db.database import Database
from core.errors import ConfigError, StoreUnavailable
from onevalet.migrating import migrate
from tests.eventually import eventually
from tests.faults.proxy import Trouble, proxied
from tests.patience import PATIENCE


@contextmanager
def silent_port(*, listening: bool = True) -> Iterator[int]:
    """Yield a port that never answers, as that of a host which is cut off; not listening, it refuses."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listening:
            server.listen()
        yield int(server.getsockname()[1])


@asynccontextmanager
async def standby() -> AsyncIterator[int]:
    """Yield the port of what lets everybody in and says that it is a standby."""

    def message(kind: bytes, body: bytes) -> bytes:
        return kind + struct.pack("!i", len(body) + 4) + body

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            (length,) = struct.unpack("!i", await reader.readexactly(4))
            await reader.readexactly(length - 4)
            writer.write(message(b"R", struct.pack("!i", 0)))
            for name, value in (("server_version", "18.6"), ("in_hot_standby", "on"), ("client_encoding", "UTF8")):
                writer.write(message(b"S", f"{name}\0{value}\0".encode()))
            writer.write(message(b"K", struct.pack("!ii", 1, 1)) + message(b"Z", b"I"))
            await reader.read()
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield int(server.sockets[0].getsockname()[1])


def with_hosts(url: str, *ports: int) -> str:
    """Return the URL with hosts before its own."""
    parts = urlsplit(url)
    login, _, own = parts.netloc.rpartition("@")
    hosts = ",".join([*(f"127.0.0.1:{port}" for port in ports), own])
    return for_primary(parts._replace(netloc=f"{login}@{hosts}").geturl())


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u:p@h/d", "postgresql://u:p@h/d"),
        ("postgresql:///d", "postgresql:///d"),
        ("postgresql://u:p@h1,h2:6432/d", "postgresql://u:p@h1,h2:6432/d?target_session_attrs=primary"),
        ("postgresql://h1,h2/d?sslmode=require", "postgresql://h1,h2/d?sslmode=require&target_session_attrs=primary"),
        ("postgresql://h1,h2/d?target_session_attrs=any", "postgresql://h1,h2/d?target_session_attrs=any"),
        ("postgresql://h1,h2/d?target_session_attrs=read-write", None),
    ],
)
def test_several_hosts_mean_the_primary_unless_the_address_says_which(url: str, expected: str | None) -> None:
    assert for_primary(url) == (expected or url)


def test_hosts_and_ports_are_read_as_libpq_does() -> None:
    assert hosts_of("postgresql://u:p%2C@h1,h2:6432,[::1]:7/d") == (("h1", 5432), ("h2", 6432), ("::1", 7))


@pytest.mark.parametrize("wanted", ["standby", "read-only", "prefer-standby", "nonsense"])
def test_a_server_that_takes_no_writes_is_refused(wanted: str) -> None:
    with pytest.raises(ValueError, match="no writes"):
        for_primary(f"postgresql://h1,h2/d?target_session_attrs={wanted}")


async def test_the_primary_is_found_behind_hosts_that_do_not_serve(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with silent_port() as silent, silent_port(listening=False) as closed:
        async with standby() as other:
            database = Database(with_hosts(database_url, silent, other, closed), patience=PATIENCE)
            try:
                assert await database.rows("select 1")
                # The next connections go to the host that served: a head start of the silent one would not end.
                monkeypatch.setattr(connector, "HEAD_START", 10 * PATIENCE)
                async with database.tenant("t1"), database.tenant("t2"):
                    pass
            finally:
                await database.close()


async def test_a_connection_that_came_second_is_closed(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connector, "HEAD_START", 0.0)
    name = "second"
    url = with_hosts(database_url, urlsplit(database_url).port or 0)
    connections = await asyncio.gather(
        *(Connector(url)(url, server_settings={"application_name": name}) for _ in range(4))
    )
    try:
        statement = (
            "select count(*) = $2 from pg_stat_activity where datname = current_database() and application_name = $1"
        )
        await eventually(lambda: connections[0].fetchval(statement, name, len(connections)), "no other connection")
    finally:
        for connection in connections:
            await connection.close()


async def test_no_host_that_serves_is_told_by_the_first_ones_error(database_url: str) -> None:
    with silent_port(listening=False) as closed:
        async with standby() as other:
            url = for_primary(f"postgresql://u:p@127.0.0.1:{closed},127.0.0.1:{other}/d?sslmode=disable")
            with pytest.raises(ConnectionRefusedError):
                await connect(url, timeout=PATIENCE)
            with pytest.raises(ConfigError, match=re.escape("cannot be reached (ConnectionRefusedError)")):
                await migrate(url)


async def test_standbys_alone_are_told_as_no_primary() -> None:
    async with standby() as one, standby() as other:
        url = for_primary(f"postgresql://u:p@127.0.0.1:{one},127.0.0.1:{other}/d?sslmode=disable")
        with pytest.raises(ConfigError, match=re.escape("cannot be reached (NoPrimary)")):
            await migrate(url)
        database = Database(url, patience=0.5)
        try:
            with pytest.raises(StoreUnavailable, match="NoPrimary"):
                await database.rows("select 1")
        finally:
            await database.close()


async def test_migrate_reaches_the_primary_among_several_hosts(database_url: str) -> None:
    async with standby() as other:
        assert await migrate(with_hosts(database_url, other)) == []


async def test_a_call_ends_soon_after_its_patience_when_the_host_is_cut_off(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "RELEASE", 0.2)
    port = urlsplit(database_url).port
    assert port is not None
    async with proxied(port) as proxy:
        url = database_url.replace(f":{port}/", f":{proxy.port}/")
        database, patient = Database(url, patience=0.5), Database(url, patience=600)
        try:
            await database.rows("select 1")
            await patient.rows("select 1")
            proxy.be(Trouble.BLACK_HOLE)
            began = time.monotonic()
            waits = asyncio.create_task(patient.rows("select 1"))
            await asyncio.sleep(0)  # so that it begins first
            with pytest.raises(StoreUnavailable):
                await database.rows("select 1")
            assert time.monotonic() - began < 20, "it waited for a cancel as long as for a statement"
            assert not waits.done(), "its patience is its own"
            waits.cancel()
        finally:
            proxy.be(Trouble.NONE)
            await database.close()
            await patient.close()


@pytest.mark.usefixtures("new_sessions")
async def test_an_open_connection_notices_soon_that_its_host_is_cut_off(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[socket.socket] = []
    plain = asyncio.BaseEventLoop.create_connection

    async def watched(*args: Any, **named: Any) -> Any:
        transport, protocol = await plain(*args, **named)
        opened.append(transport.get_extra_info("socket"))
        return transport, protocol

    monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", watched)
    database = Database(database_url)
    try:
        await database.rows("select 1")
        (sock,) = opened
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 5
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000
    finally:
        await database.close()
