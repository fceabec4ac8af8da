"""However many connections one client holds, the others are served; what waits makes room, the longest first."""

import asyncio
import socket
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import web

from channels.http import deadlines
from channels.http.app import build_app, serve
from channels.http.connections import Connections, source_of
from channels.http.deadlines import Limits
from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.ports import connect_from

HOG, PROVIDER = "127.0.0.2", "127.0.0.3"
PROBE = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
HOOK = b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
HALF = b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nhi"
FORGED = b"POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
LIMITS = Limits(header=30.0, body=30.0, connections=32)


class Client:
    """One connection from one source."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def ask(self, request: bytes) -> int:
        """Send a request and read its answer; return the status, 0 when the connection was closed instead."""
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                self.writer.write(request)
                head = await self.reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await self.reader.readexactly(int(length.partition(b":")[2]))
                return int(head.split()[1])
        return 0


@dataclass
class Gateway:
    """A served application, and the connections to it."""

    port: int
    release: asyncio.Event
    counted: Connections[Any]
    clients: list[Client] = field(default_factory=list)
    inside: int = 0
    """How many requests are being handled that take until `release`."""

    async def all_wait(self, count: int) -> None:
        """Wait until the server counts so many connections as waiting."""
        await eventually(lambda: sum(map(len, self.counted._waiting.values())) == count, f"{count} that wait")

    async def connect(self, source: str) -> Client:
        """Connect from a source."""
        streams = await connect_from(source, self.port)
        self.clients.append(Client(*streams))
        return self.clients[-1]


@asynccontextmanager
async def _served(limits: Limits = LIMITS) -> AsyncIterator[Gateway]:
    made: list[Connections[Any]] = []

    class Remembered[Connection: Hashable](Connections[Connection]):
        def __init__(self, limit: int) -> None:
            super().__init__(limit)
            made.append(self)

    async def take(request: web.Request) -> web.Response:
        return web.Response(text=await request.text())

    async def wait(_: web.Request) -> web.Response:
        gateway.inside += 1
        await gateway.release.wait()
        return web.Response(text="hi")

    routes = [web.post("/x", take), web.get("/slow", wait)]
    with patch.object(deadlines, "Connections", Remembered):
        serving = serve(build_app([], ready=_ready, extra_routes=routes), "127.0.0.1", 0, limits=limits)
        async with serving as port:
            gateway = Gateway(port, asyncio.Event(), made[0])
            yield gateway
            for client in gateway.clients:
                client.writer.close()


@pytest.mark.parametrize("first", [PROBE, FORGED, HOOK, HALF, PROBE[:10], b""])
async def test_connections_that_one_client_holds_shut_no_provider_out(first: bytes) -> None:
    async with _served() as gateway:
        held = [await gateway.connect(HOG) for _ in range(LIMITS.connections)]
        for client in held:
            client.writer.write(first)
            if first in (PROBE, FORGED, HOOK):
                await client.reader.readuntil(b"\r\n\r\n")
        await gateway.all_wait(LIMITS.connections)
        statuses = []
        for _ in range(10):
            statuses.append(await (await gateway.connect(PROVIDER)).ask(HOOK))
            held.append(await gateway.connect(HOG))  # as soon as one is closed, another is there
            held[-1].writer.write(first)
        assert statuses == [200] * 10


async def test_an_idle_connection_of_the_provider_outlasts_those_of_the_hog() -> None:
    async with _served() as gateway:
        provider = [await gateway.connect(PROVIDER) for _ in range(3)]
        assert [await client.ask(HOOK) for client in provider] == [200] * 3
        for _ in range(2 * LIMITS.connections):
            await (await gateway.connect(HOG)).ask(PROBE)
        assert [await client.ask(HOOK) for client in provider] == [200] * 3


async def test_many_sources_that_proved_nothing_make_room_before_one_that_did() -> None:
    async with _served() as gateway:
        provider = await gateway.connect(PROVIDER)
        assert await provider.ask(HOOK) == 200
        for number in range(2 * LIMITS.connections):
            await (await gateway.connect(f"127.0.1.{number + 1}")).ask(PROBE)
        assert await provider.ask(HOOK) == 200


async def test_a_proxy_that_fills_all_connections_loses_its_longest_idle_only() -> None:
    async with _served() as gateway:
        pool = [await gateway.connect(PROVIDER) for _ in range(LIMITS.connections)]
        assert {await client.ask(HOOK) for client in pool} == {200}
        assert await (await gateway.connect(PROVIDER)).ask(HOOK) == 200
        assert [await client.ask(HOOK) for client in pool] == [0] + [200] * (len(pool) - 1)


async def test_requests_that_are_being_handled_are_never_closed_for_new_ones() -> None:
    async with _served() as gateway:
        busy = [await gateway.connect(HOG) for _ in range(LIMITS.connections)]
        asked = [asyncio.ensure_future(client.ask(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")) for client in busy]
        await eventually(lambda: gateway.inside == len(busy), "that all are being handled")
        assert await (await gateway.connect(PROVIDER)).ask(HOOK) == 0
        gateway.release.set()
        assert {await status for status in asked} == {200}


@pytest.mark.whole("it works until a limit is reached")
async def test_a_client_that_reads_no_answers_makes_room_too() -> None:
    async with _served(Limits(connections=2)) as gateway:
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.bind((HOG, 0))
            deaf.connect(("127.0.0.1", gateway.port))
            deaf.setblocking(False)
            sent = -1
            while sent:  # until even the server's memory for answers is full
                sent = 0
                with suppress(BlockingIOError):
                    while True:
                        sent += deaf.send(PROBE * 500)
                for _ in range(1000):  # turns of the loop, which is the server's too
                    await asyncio.sleep(0)
            others = [await gateway.connect(PROVIDER) for _ in range(2)]
            assert [await client.ask(HOOK) for client in others] == [200, 200]


async def test_who_proved_nothing_is_closed_soon_when_idle_and_who_did_is_not() -> None:
    async with _served(Limits(stranger_idle=0.3, idle=30.0)) as gateway:
        stranger, forger, provider = [await gateway.connect(source) for source in (HOG, "127.0.0.4", PROVIDER)]
        assert [await stranger.ask(PROBE), await forger.ask(FORGED), await provider.ask(HOOK)] == [200, 404, 200]
        fresh = await gateway.connect(PROVIDER)  # another connection of a source that has proved itself
        assert await fresh.ask(PROBE) == 200
        async with asyncio.timeout(PATIENCE):
            assert await stranger.reader.read() == b""
            assert await forger.reader.read() == b""
        assert [await provider.ask(HOOK), await fresh.ask(PROBE)] == [200, 200]


def test_sources_differ_by_address_and_an_ipv6_network_counts_as_one() -> None:
    assert source_of(("192.0.2.7", 1)) != source_of(("192.0.2.8", 1))
    assert source_of(("::ffff:192.0.2.7", 1, 0, 0)) == source_of(("192.0.2.7", 2))
    assert source_of(("2001:db8:0:1::7", 1, 0, 0)) == source_of(("2001:db8:0:1:ffff::8", 1, 0, 0))
    assert source_of(("2001:db8:0:1::7", 1, 0, 0)) != source_of(("2001:db8:0:2::7", 1, 0, 0))
    assert source_of(None) == source_of("") == ""


def test_what_is_remembered_of_sources_has_a_bound() -> None:
    connections = Connections[object](10)
    for number in range(5000):
        connections.prove(str(number))
    assert connections.proven("4999")
    assert sum(connections.proven(str(number)) for number in range(5000)) <= 1000


async def _ready() -> bool:
    return True
