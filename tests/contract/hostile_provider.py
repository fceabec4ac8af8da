"""A provider that hands out a file in the worst of ways: raw answers on the wire, and a record of who asked for what.

Whatever is no download is passed on to the simulator, if there is one, so that a whole worker can stand before it.
"""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

type Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]

MB = 1024 * 1024
_CHUNK = b"10000\r\n" + bytes(65536) + b"\r\n"
_DOWNLOADS = ("/Media/", "/twilio/media/", "/slack/files/", "/telegram/file/", "/elsewhere")


@dataclass(slots=True)
class HostileProvider:
    """Answers each download by `answer`. `asked` are the heads of all requests for one."""

    answer: Answer
    url: str = ""
    behind: str = ""
    """The simulator that gets all other requests."""
    asked: list[str] = field(default_factory=list)
    sent: int = 0
    """Bytes of endless bodies that were taken from us."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ")[1]
            if "getFile" in path:
                told = {"ok": True, "result": {"file_id": "x", "file_path": "documents/file_1.bin"}}
                writer.write(plain(json.dumps(told).encode(), "Content-Type: application/json"))
            elif any(part in path for part in _DOWNLOADS):
                self.asked.append(head)
                await self.answer(writer)
            else:
                await self._pass_on(head, reader, writer)
            await writer.drain()
        writer.close()

    async def _pass_on(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parts = urlsplit(self.behind)
        length = head.lower().partition("\r\ncontent-length:")[2].partition("\r")[0]
        body = await reader.readexactly(int(length or 0))
        theirs, ours = await asyncio.open_connection(parts.hostname, parts.port)
        ours.write(head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").encode("latin-1") + body)
        while data := await theirs.read(65536):
            writer.write(data)
        ours.close()

    async def endless(self, writer: asyncio.StreamWriter) -> None:
        """Write zeros for as long as somebody reads them."""
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: image/jpeg\r\n\r\n")
        while True:
            writer.write(_CHUNK)
            await writer.drain()
            self.sent += 65536

    async def drip(self, writer: asyncio.StreamWriter) -> None:
        """Write a byte now and then, and never the end."""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nContent-Type: image/jpeg\r\n\r\n")
        while True:
            writer.write(b"\xff")
            await writer.drain()
            await asyncio.sleep(0.02)


def plain(body: bytes, *headers: str, status: str = "200 OK", length: int | str | None = None) -> bytes:
    """Return an answer, whose length may be a lie."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


def raw(data: bytes) -> Answer:
    """Answer with these bytes."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return answer


def bomb(megabytes: int) -> bytes:
    """Return zeros, compressed a thousandfold."""
    piece = gzip.compress(bytes(10 * MB))
    return piece * (megabytes // 10)  # a gzip file may have several members


@asynccontextmanager
async def hostile_provider(answer: Answer, behind: str = "") -> AsyncIterator[HostileProvider]:
    """Serve it on a port of its own."""
    provider = HostileProvider(answer, behind=behind)
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0)
    provider.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield provider
    finally:
        server.close()
