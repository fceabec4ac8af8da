"""What HTTP brings is sound text before any handler, and a body in parts is refused."""

import asyncio

import pytest
from aiohttp import web

from channels.http.app import build_app, serve


async def _ready() -> bool:
    return True


async def _seen(request: web.Request) -> web.Response:
    return web.json_response({"cookie": request.headers.get("Cookie", ""), "charset": request.charset})


async def asked(head: str, body: bytes = b"") -> bytes:
    """Send bytes as they are, and return the answer."""
    app = build_app([], ready=_ready, extra_routes=[web.route("*", "/seen", _seen)])
    async with serve(app, "127.0.0.1", 0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = f"{head}\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(lines.encode("latin-1") + body)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    return answer


async def test_letters_of_a_header_that_are_no_text_are_replaced() -> None:
    answer = await asked("GET /seen HTTP/1.1\r\nCookie: other=\xff\xfe; mine=a")
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"\\ufffd" in answer
    assert b"mine=a" in answer
    assert b"\\udc" not in answer


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "multipart/mixed; boundary=x"])
async def test_a_body_in_parts_is_refused(kind: str) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'
    assert (await asked(f"POST /seen HTTP/1.1\r\nContent-Type: {kind}", body)).startswith(b"HTTP/1.1 415")


async def test_a_body_as_one_is_taken() -> None:
    kind = "Content-Type: application/x-www-form-urlencoded; charset=utf-8"
    assert (await asked(f"POST /seen HTTP/1.1\r\n{kind}", b"a=b")).startswith(b"HTTP/1.1 200")
