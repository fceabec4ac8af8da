"""Half-sent requests are closed in time, whatever trickles in; connections are counted."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import chain, repeat

import pytest
from aiohttp import web

from channels.http.app import build_app, serve
from channels.http.deadlines import Limits
from channels.http.middleware import BODY_SECONDS
from tests.patience import PATIENCE

QUICK = Limits(header=0.3, body=0.3, idle=10 * PATIENCE, connections=4)
HEAD = b"POST /x HTTP/1.1\r\nHost: a\r\n"
WHOLE = HEAD + b"Content-Length: 2\r\n\r\nhi"


async def _ready() -> bool:
    return True


async def _slow(request: web.Request) -> web.Response:
    text = await request.text()
    await asyncio.sleep(0.6)
    return web.Response(text=text)


async def _quick(request: web.Request) -> web.Response:
    return web.Response(text=await request.text())


@asynccontextmanager
async def _served(limits: Limits) -> AsyncIterator[int]:
    routes = [web.post("/x", _quick), web.post("/slow", _slow)]
    async with serve(build_app([], ready=_ready, extra_routes=routes), "127.0.0.1", 0, limits=limits) as port:
        yield port


async def _closed_after(port: int, sent: Iterable[bytes], *, pause: float = 0.0) -> tuple[float, bytes]:
    """Send the pieces with pauses; give the seconds until the server closed, and what it said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    begun = time.monotonic()
    reading = asyncio.ensure_future(reader.read())
    async with asyncio.timeout(PATIENCE):
        for piece in sent:
            if reading.done():
                break
            writer.write(piece)
            await asyncio.sleep(pause)
        try:
            answer = await reading
        except ConnectionError:
            answer = b""
    took = time.monotonic() - begun
    writer.close()
    return took, answer


@pytest.mark.parametrize(
    "pieces",
    [
        [b""],
        [b"POST /x HT"],
        [HEAD],
        [HEAD + b"Content-Length: 10\r\n\r\n"],
        [HEAD + b"Content-Length: 10\r\n\r\nhalf"],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel"],
        [HEAD + b"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n"],
    ],
)
async def test_a_half_sent_request_is_closed_at_its_limit(pieces: list[bytes]) -> None:
    async with _served(QUICK) as port:
        took, _ = await _closed_after(port, pieces)
    assert took > 0.2


async def test_a_header_that_trickles_in_is_closed_all_the_same() -> None:
    async with _served(QUICK) as port:
        await _closed_after(port, chain([b"POST"], repeat(b" ")), pause=0.05)


async def test_a_body_that_trickles_in_is_closed_all_the_same() -> None:
    async with _served(QUICK) as port:
        head = HEAD + b"Content-Length: 99999\r\n\r\n"
        await _closed_after(port, chain([head], repeat(b"x")), pause=0.05)


async def test_a_second_half_sent_request_on_the_same_connection_is_closed_too() -> None:
    async with _served(QUICK) as port:
        _, answer = await _closed_after(port, [WHOLE, b"POST /x HT"], pause=0.1)
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.whole("it waits for a limit of real time")
async def test_complete_requests_are_served_in_turn_despite_long_pauses() -> None:
    async with _served(QUICK) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(WHOLE[:40])
            for _ in range(10):  # turns of the loop, in which the server reads the first half
                await asyncio.sleep(0)
            writer.write(WHOLE[40:])
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(2) == b"hi"
            await asyncio.sleep(QUICK.header + QUICK.body)
        writer.close()


async def test_a_handler_may_take_longer_than_the_limits() -> None:
    async with _served(QUICK) as port:
        took, answer = await _closed_after(
            port, [WHOLE.replace(b"/x", b"/slow").replace(b"Host: a", b"Connection: close\r\nHost: a")]
        )
    assert answer.endswith(b"hi")
    assert took > 0.5


async def test_a_connection_above_the_cap_takes_the_place_of_the_longest_waiting() -> None:
    async with _served(Limits(header=3.0, connections=4)) as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(WHOLE)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        async with asyncio.timeout(PATIENCE):
            assert await held[0][0].read() == b""
        assert not held[1][0].at_eof()
        for _, held_writer in [*held, (reader, writer)]:
            held_writer.close()


def test_by_default_a_half_sent_request_is_closed_within_ten_seconds() -> None:
    limits = Limits()
    assert limits.header + limits.body < 10
    assert limits.body > BODY_SECONDS
