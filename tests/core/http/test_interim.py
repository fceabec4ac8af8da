"""Interim answers (1xx): a few may come before the answer, and a flood of them ends the connection at once."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress

import aiohttp
import httpx
import pytest
from telegram.error import TelegramError

from core.errors import ModelError, ToolFailed
from core.http.guarded_client import GuardedClient
from core.http.provider_session import MOST, _FewInterim, open_session
from core.llm.types import ChatMessage, ModelRequest, Recording, Role
from providers.models.litellm_client import LiteLLMClient
from providers.models.transcription import Transcriber
from providers.provider_httpx import client_options
from providers.telegram.client import TelegramApi
from tests.patience import PATIENCE

INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
MB = 1024 * 1024


class Server:
    """A server that says the same to each request. `said`: how many bytes its client took."""

    def __init__(self, pieces: Callable[[], Iterable[bytes]]) -> None:
        self.pieces = pieces
        self.said = 0
        self.port = 0
        self.connections = set[asyncio.StreamWriter]()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                for piece in self.pieces():
                    writer.write(piece)
                    await writer.drain()
                    self.said += len(piece)
        writer.close()


@asynccontextmanager
async def saying(pieces: Callable[[], Iterable[bytes]]) -> AsyncIterator[Server]:
    """Serve it for the block."""
    served = Server(pieces)
    server = await asyncio.start_server(served.answer, "127.0.0.1", 0)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for connection in served.connections:
            connection.transport.abort()
        await server.wait_closed()


async def of_people(port: int) -> None:
    """Ask as what people name is asked."""
    client = GuardedClient(allowed_hosts=[f"127.0.0.1:{port}"])
    try:
        await client.request("GET", f"http://127.0.0.1:{port}/")
    finally:
        await client.close()


async def of_provider(port: int) -> None:
    """Ask as providers and models are asked."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    async with open_session(timeout) as session, session.get(f"http://127.0.0.1:{port}/") as answer:
        await answer.read()


async def of_telegram(port: int) -> None:
    """Ask as a provider's SDK asks that uses httpx."""
    client = TelegramApi(bot_token="42:token", api_url=f"http://127.0.0.1:{port}")
    try:
        await client.get_name(1)
    finally:
        await client.close()


async def of_transcription(port: int) -> None:
    """Ask as a server of the operator's own is asked what is said."""
    transcriber = Transcriber("openai/whisper-1", url=f"http://127.0.0.1:{port}/v1", pause=0.0)
    try:
        await transcriber.transcribe(Recording(b"RIFF", "a.wav", 1.0))
    finally:
        await transcriber.close()


async def of_litellm(port: int) -> None:
    """Ask as litellm asks by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LM_STUDIO_API_BASE", f"http://127.0.0.1:{port}/v1")
        patch.setenv("LM_STUDIO_API_KEY", "sk-test")
        client = LiteLLMClient("lm_studio/mine")
        await client.warm_up()
        try:
            await client.answer(ModelRequest((ChatMessage(Role.USER, "hello"),), timeout=PATIENCE))
        finally:
            await client.close()


CLIENTS = [
    of_people,
    of_provider,
    of_telegram,
    *(pytest.param(ask, marks=pytest.mark.xdist_group("model")) for ask in (of_transcription, of_litellm)),
]


@pytest.mark.parametrize("ask", CLIENTS)
async def test_a_flood_of_interim_answers_is_given_up_at_once(ask: Callable[[int], Awaitable[None]]) -> None:
    async with saying(lambda: itertools.repeat(INTERIM * 100)) as server:
        with pytest.raises((ToolFailed, aiohttp.ClientError, ModelError, TelegramError)):
            await ask(server.port)
        # What the system had taken already is no matter of the client's.
        assert server.said < 20 * MB


async def test_few_of_a_flood_are_parsed_before_they_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read of the socket may bring thousands: parsed together, they would hold up every other task."""
    heard = 0
    feed_data = _FewInterim.feed_data

    def counted(self: _FewInterim, data: object, size: int = 0) -> None:
        nonlocal heard
        heard += 1
        feed_data(self, data, size)

    monkeypatch.setattr(_FewInterim, "feed_data", counted)
    async with saying(lambda: [INTERIM * 20_000]) as server:
        with pytest.raises(aiohttp.ClientError):
            await of_provider(server.port)
    assert MOST < heard <= 2 * 4096 // len(INTERIM)


@pytest.mark.parametrize("ask", [of_people, of_provider])
async def test_a_few_interim_answers_change_nothing(ask: Callable[[int], Awaitable[None]]) -> None:
    async with saying(lambda: [INTERIM * MOST + ANSWER]) as server:
        await ask(server.port)


async def test_each_request_of_a_kept_connection_may_have_a_few() -> None:
    async with (
        saying(lambda: [INTERIM * MOST, ANSWER]) as server,
        open_session(aiohttp.ClientTimeout(PATIENCE)) as session,
    ):
        for _ in range(3):
            async with session.get(f"http://127.0.0.1:{server.port}/") as answer:
                assert await answer.read() == b"{}"


async def test_each_request_of_a_kept_connection_of_httpx_may_have_a_few() -> None:
    async with (
        saying(lambda: [INTERIM * MOST, ANSWER]) as server,
        httpx.AsyncClient(**client_options(MB), timeout=PATIENCE) as client,
    ):
        for _ in range(3):
            assert (await client.get(f"http://127.0.0.1:{server.port}/")).content == b"{}"


async def test_a_long_body_that_comes_with_its_head_is_whole() -> None:
    body = bytes(range(256)) * 4096
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with (
        saying(lambda: [INTERIM + head + body]) as server,
        open_session(aiohttp.ClientTimeout(PATIENCE)) as session,
        session.get(f"http://127.0.0.1:{server.port}/") as answer,
    ):
        assert await answer.content.read() == body
