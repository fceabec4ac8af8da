"""The troubled wire does to bytes what it says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.faults.proxy import Proxy, Trouble, proxied

type Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def wire() -> AsyncIterator[tuple[Proxy, Pipe]]:
    """Yield a proxy before a server that repeats what it hears, and a connection through it."""

    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while block := await reader.read(100):
            writer.write(block)
        writer.close()

    server = await asyncio.start_server(repeat, "127.0.0.1", 0)
    async with server, proxied(server.sockets[0].getsockname()[1], delay=0.1, byte_every=0.05) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        yield proxy, (reader, writer)
        writer.transport.abort()


async def echoed(pipe: Pipe, data: bytes, within: float = 2.0) -> bytes:
    """Say something and give what came back of it in time."""
    reader, writer = pipe
    writer.write(data)
    async with asyncio.timeout(within):
        return await reader.readexactly(len(data))


async def test_without_trouble_everything_passes() -> None:
    async with wire() as (_, pipe):
        assert await echoed(pipe, b"hello") == b"hello"


async def test_a_cut_resets_what_is_open_and_what_is_new() -> None:
    async with wire() as (proxy, pipe):
        assert await echoed(pipe, b"hello") == b"hello"
        proxy.be(Trouble.CUT)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await echoed(pipe, b"hello")
        fresh = await asyncio.open_connection("127.0.0.1", proxy.port)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await echoed(fresh, b"hello")


async def test_a_black_hole_keeps_what_was_said_until_it_is_over() -> None:
    async with wire() as (proxy, pipe):
        proxy.be(Trouble.BLACK_HOLE)
        with pytest.raises(TimeoutError):
            await echoed(pipe, b"hello", 0.1)
        proxy.be(Trouble.NONE)
        assert await pipe[0].readexactly(5) == b"hello"


async def test_a_half_closed_wire_ends_after_its_next_answer() -> None:
    async with wire() as (proxy, pipe):
        proxy.be(Trouble.HALF_CLOSE)
        assert await echoed(pipe, b"hello") == b"hello"
        assert await pipe[0].read() == b""


@pytest.mark.parametrize("kind", [Trouble.DELAY, Trouble.TRICKLE])
async def test_a_slow_wire_is_slow_and_loses_nothing(kind: Trouble) -> None:
    async with wire() as (proxy, pipe):
        proxy.be(kind)
        began = asyncio.get_running_loop().time()
        assert await echoed(pipe, b"hello") == b"hello"
        assert asyncio.get_running_loop().time() - began > 0.15
