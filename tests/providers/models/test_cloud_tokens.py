"""Servers from which a cloud's own library fetches a token: bounded too, whatever they answer."""

import asyncio
import gzip
import itertools
import json
import threading
from collections.abc import Callable, Iterable
from functools import cache

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.errors import ModelError
from core.llm.types import ChatMessage, ModelRequest, Role
from providers.models import litellm_library
from providers.models.litellm_client import LiteLLMClient
from tests.core.http.test_interim import MB, saying
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

HELLO = ModelRequest((ChatMessage(Role.USER, "hello"),), timeout=PATIENCE)
CLOUDS = {
    "databricks/mine": {
        "DATABRICKS_API_BASE": "http://127.0.0.1:{port}/serving-endpoints",
        "DATABRICKS_CLIENT_ID": "id",
        "DATABRICKS_CLIENT_SECRET": "secret",
    },
    "bedrock/anthropic.claude-sonnet-4-5-v1:0": {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:{port}/credentials",
        "AWS_REGION": "us-east-1",
        "AWS_METADATA_SERVICE_NUM_ATTEMPTS": "1",
        "AWS_EC2_METADATA_DISABLED": "true",
    },
    "gigachat/GigaChat-2": {
        "GIGACHAT_AUTH_URL": "http://127.0.0.1:{port}/token",
        "GIGACHAT_API_BASE": "http://127.0.0.1:{port}/v1",
        "GIGACHAT_CREDENTIALS": "secret",
    },
}
"""Models, and where their libraries fetch a token."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@cache
def bomb() -> bytes:
    """Return a body of 200 MB, packed when a test needs it, not when it is collected."""
    return gzip.compress(bytes(200 * MB))


MANNERS: dict[str, Callable[[], Iterable[bytes]]] = {
    "a body without an end": lambda: itertools.chain([HEAD + b"\r\n"], itertools.repeat(b"x" * 65536)),
    "interim answers without an end": lambda: itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "headers of interim answers": lambda: itertools.chain(
        [b"HTTP/1.1 100 Continue\r\n"], itertools.repeat(b"A: b\r\n" * 1000)
    ),
    "a bomb": lambda: [HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb()), bomb()],
}


async def ask(monkeypatch: pytest.MonkeyPatch, model: str, port: int) -> str:
    for name, value in CLOUDS[model].items():
        monkeypatch.setenv(name, value.format(port=port))
    client = LiteLLMClient(model)
    await client.warm_up()
    try:
        return (await client.answer(HELLO)).text
    finally:
        await client.close()


@pytest.mark.whole("it works until a limit is reached")
@pytest.mark.parametrize("provider", CLOUDS)
@pytest.mark.parametrize("manner", MANNERS)
async def test_a_token_that_is_told_without_an_end_is_given_up(
    monkeypatch: pytest.MonkeyPatch, manner: str, provider: str
) -> None:
    async with saying(MANNERS[manner]) as server:
        with pytest.raises(ModelError):
            await ask(monkeypatch, provider, server.port)
    # Some libraries ask up to three times, and the system takes more each time than was read.
    assert server.said < 50 * MB


@pytest.mark.parametrize(
    ("model", "token_at", "answer_at"),
    [
        ("databricks/mine", "/oidc/v1/token", "/serving-endpoints/chat/completions"),
        ("gigachat/GigaChat-2", "/token", "/v1/chat/completions"),
    ],
)
async def test_a_packed_token_is_read_and_used(
    monkeypatch: pytest.MonkeyPatch, model: str, token_at: str, answer_at: str
) -> None:
    asked = list[str]()

    async def token(request: web.Request) -> web.Response:
        asked.append(request.headers["Accept-Encoding"])
        told = {"access_token": "t0ken", "tok": "t0ken", "expires_at": 0}
        return web.Response(
            body=gzip.compress(json.dumps(told).encode()),
            headers={"Content-Encoding": "gzip", "Content-Type": "application/json"},
        )

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.headers["Authorization"])
        message = {"role": "assistant", "content": "hello yourself"}
        return web.json_response(
            {"id": "1", "object": "chat.completion", "created": 1, "model": "mine"}
            | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            | {"usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}
        )

    app = web.Application()
    app.router.add_post(token_at, token)
    app.router.add_post(answer_at, answer)
    async with TestServer(app) as server:
        assert server.port
        assert await ask(monkeypatch, model, server.port) == "hello yourself"
    assert set(asked) == {"gzip, deflate", "Bearer t0ken"}


async def test_a_token_is_waited_for_beside_the_event_loop() -> None:
    await asyncio.to_thread(litellm_library.load_calls)
    from openai import AsyncAzureOpenAI  # it takes half a second to load, and litellm has loaded it now

    asked, goes_on = asyncio.Event(), threading.Event()
    loop, told = asyncio.get_running_loop(), list[str]()

    def token() -> str:
        loop.call_soon_threadsafe(asked.set)
        return "t0ken" if goes_on.wait(PATIENCE) else "the event loop stood still"

    async def answer(request: web.Request) -> web.Response:
        told.append(request.headers["Authorization"])
        return web.json_response({"object": "list", "data": []})

    app = web.Application()
    app.router.add_get("/openai/models", answer)
    async with (
        TestServer(app) as server,
        AsyncAzureOpenAI(
            azure_endpoint=str(server.make_url("/")), api_version="2024-10-21", azure_ad_token_provider=token
        ) as client,
    ):
        asking = asyncio.create_task(client.with_options(max_retries=0).get("/models", cast_to=object))
        await asked.wait()
        goes_on.set()
        await asking
    assert told == ["Bearer t0ken"]
