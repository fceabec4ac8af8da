"""After a refusal the connection is either good for the next request, or said to be closed: never reset under it."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from channels.http.app import MAX_BODY, build_app, serve
from channels.http.hosts import check_hosts, served_hosts
from tests.patience import PATIENCE

PACKED = gzip.compress(b"x" * 2000)
HOOK = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi"


def _request(body: bytes, *headers: bytes, length: int | None = None, path: bytes = b"/x") -> bytes:
    lines = [b"POST " + path + b" HTTP/1.1", b"Content-Length: %d" % (len(body) if length is None else length)]
    if not any(line.startswith(b"Host:") for line in headers):
        lines.append(b"Host: localhost")
    return b"\r\n".join([*lines, *headers]) + b"\r\n\r\n" + body


@asynccontextmanager
async def _served() -> AsyncIterator[int]:
    async def take(request: web.Request) -> web.Response:
        return web.Response(text=await request.text())

    app = build_app([], ready=_ready, extra_routes=[web.post("/x", take)], hosts=check_hosts(served_hosts("::1", "")))
    async with serve(app, "127.0.0.1", 0) as port:
        yield port


@pytest.mark.parametrize("pause", [0.0, 0.05])
@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([_request(PACKED, b"Content-Encoding: gzip")], 415),
        ([_request(b"not gzip", b"Content-Encoding: gzip")], 415),
        ([_request(b"not deflate", b"Content-Encoding: deflate")], 415),
        ([_request(b"{}", b"Content-Encoding: br")], 415),
        ([_request(b"", b"Content-Encoding: gzip", length=len(PACKED)), PACKED], 415),
        ([_request(b"", b"Content-Encoding: gzip", length=MAX_BODY), b"x" * 1000], 415),
        ([_request(b"", b"Host: evil.example", length=1000), b"x" * 1000], 421),
        ([_request(b"", b"Host: evil.example", length=MAX_BODY), b"x" * 1000], 421),
        ([_request(b"", length=1000, path=b"/nowhere"), b"x" * 1000], 404),
        ([_request(b"x" * (MAX_BODY + 1))], 413),
    ],
)
async def test_after_a_refusal_the_next_request_is_served_or_close_was_announced(
    pieces: list[bytes], status: int, pause: float
) -> None:
    with capture_logs() as logs:
        async with _served() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for piece in pieces:
                writer.write(piece)
                await asyncio.sleep(pause)
            head = await _answer(reader)
            assert head.startswith(b"http/1.1 %d " % status)
            if b"\r\nconnection: close\r\n" not in head:
                writer.write(HOOK)
                assert (await _answer(reader)).startswith(b"http/1.1 200 ")
            writer.close()
    assert [entry["event"] for entry in logs] == ["request_refused"]


async def _answer(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(PATIENCE):
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
    return head


async def _ready() -> bool:
    return True
