"""Bodies are bounded as they are read: plain ones, packed ones, and bombs."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from core.errors import ToolFailed
from core.http.guarded_client import Limits
from core.http.provider_session import read_body
from tests.core.http.harness import Server, client_for


def packed_gzip(data: bytes) -> bytes:
    """Pack without the time of day, which would change the tests' names."""
    return gzip.compress(data, mtime=0)


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_is_cut_at_the_limit_and_the_rest_not_read(server: Server, declared: bool) -> None:
    sent = 0

    async def flood(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Length": str(10**9)} if declared else {})
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 65536)
                sent += 65536
        except (ConnectionError, asyncio.CancelledError):
            return response

    server.routes["/"] = flood
    async with client_for(server, limits=Limits(max_bytes=100_000)) as client:
        answer = await client.request("GET", server.url())
        assert (len(answer.body), answer.cut) == (100_000, True)
        assert (await client.request("GET", server.url(), max_bytes=10)).body == b"x" * 10
    assert sent < 30_000_000


async def test_a_body_of_exactly_the_limit_is_whole(server: Server) -> None:
    server.says("/plain", b"x" * 1000)
    server.says("/zip", packed_gzip(b"x" * 1000), Content_Encoding="gzip")
    async with client_for(server, limits=Limits(max_bytes=1000)) as client:
        for path in ("/plain", "/zip"):
            answer = await client.request("GET", server.url(path))
            assert (len(answer.body), answer.cut) == (1000, False)


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", packed_gzip(b"hello " * 1000)),
        ("X-GZIP", packed_gzip(b"hello " * 1000)),
        ("gzip", packed_gzip(b"hello " * 400) + packed_gzip(b"hello " * 600)),
        ("gzip", packed_gzip(b"hello " * 1000) + b"\0\0\0"),
        ("deflate", zlib.compress(b"hello " * 1000)),
        ("deflate", _raw_deflate(b"hello " * 1000)),
        ("identity", b"hello " * 1000),
    ],
)
async def test_compressed_bodies_are_given_plain(server: Server, encoding: str, packed: bytes) -> None:
    server.says("/", packed, Content_Encoding=encoding)
    async with client_for(server) as client:
        assert (await client.request("GET", server.url())).body == b"hello " * 1000


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", packed_gzip(b"hello " * 1000)[:-9]),
        ("gzip", b"this is not gzip"),
        ("deflate", b"\x78\x9cnor is this zlib"),
        ("br", b"x"),
        ("gzip, gzip", packed_gzip(packed_gzip(b"x"))),
        ("zstd", b"x"),
    ],
)
async def test_a_body_that_cannot_be_unpacked_is_one_sentence(server: Server, encoding: str, packed: bytes) -> None:
    server.says("/", packed, Content_Encoding=encoding)
    async with client_for(server) as client:
        with pytest.raises(ToolFailed, match=r"^The server's answer cannot be read\.$"):
            await client.request("GET", server.url())


async def test_a_bomb_is_cut_before_it_grows(server: Server) -> None:
    server.says("/", _bomb(), Content_Encoding="gzip")
    async with client_for(server, limits=Limits(max_bytes=100_000)) as client:
        tracemalloc.start()
        answer = await client.request("GET", server.url())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert (len(answer.body), answer.cut) == (100_000, True)
    assert peak < 8_000_000


def _bomb() -> bytes:
    """Return 64 MB of zeros, packed."""
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(2**20)) for _ in range(64)) + packer.flush()
    assert len(bomb) < 100_000
    return bomb


async def test_others_have_their_turn_while_a_bomb_is_unpacked_and_cut() -> None:
    turns, done, most = 0, False, 8 * 2**20

    async def once() -> AsyncIterator[bytes]:
        yield _bomb()

    def others() -> None:
        nonlocal turns
        turns += 1
        if not done:
            loop.call_soon(others)

    loop = asyncio.get_running_loop()
    loop.call_soon(others)
    tracemalloc.start()
    body, more = await read_body(once(), "gzip", most)
    done = True
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(body), more) == (most, True)
    assert turns >= 30
    assert peak < 2.5 * most, "it is copied once"


async def test_a_compressed_stream_that_never_gives_anything_ends_at_the_limit(server: Server) -> None:
    # Empty stored blocks: endless input, no output.
    server.says("/", _gzip_head() + b"\0\0\0\xff\xff" * 200_000, Content_Encoding="gzip")
    async with client_for(server, limits=Limits(max_bytes=1000)) as client:
        answer = await client.request("GET", server.url())
    assert (answer.body, answer.cut) == (b"", True)


def _gzip_head() -> bytes:
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
