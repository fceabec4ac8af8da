"""Servers that misbehave in litellm's own calls, over a real socket: its transport is heard as other peers are."""

import asyncio
import gzip
import itertools
import json
import random
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

import pytest

from core.errors import ModelError
from core.http.peer import Allowance
from core.json_types import JsonObject
from core.llm.types import ModelAnswer
from providers.models import litellm_hearing
from providers.models.litellm_client import LiteLLMClient
from tests.patience import PATIENCE
from tests.providers.models.direct.test_hostile_streams import (
    ENDLESS,
    HELLO,
    MB,
    again,
    event,
    packed,
    said,
    saying,
    streamed,
)
from tests.providers.models.direct.transcripts import openai_chunk, openai_usage

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

MODELS = ["openai/mine", "anthropic/claude-sonnet-4-5"]
"""One by OpenAI's SDK, and one by litellm's own client."""


async def whole(client: LiteLLMClient) -> ModelAnswer:
    return await client.answer(HELLO)


async def turns_during(call: Awaitable[object]) -> int:
    """Return how many turns everybody else has during a call that fails, or is cut."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    going_on = asyncio.create_task(others())
    with suppress(ModelError):
        await call
    going_on.cancel()
    return turns


@pytest.mark.whole("it works until a limit is reached")
@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("name", ["comments", "events that say nothing"])
async def test_a_stream_without_an_end_is_given_up_while_others_go_on(
    monkeypatch: pytest.MonkeyPatch, name: str, provider: str
) -> None:
    monkeypatch.setattr(litellm_hearing, "ALLOWANCE", Allowance(MB, 10_000, PATIENCE))
    async with saying(monkeypatch, ENDLESS[name], model=provider, direct=False) as client:
        assert await turns_during(streamed(client)) > 20


@pytest.mark.parametrize("setting", ["DISABLE_AIOHTTP_TRANSPORT", "LITELLM_HTTP2"])
@pytest.mark.parametrize("provider", MODELS)
async def test_no_setting_of_litellms_has_its_calls_unheard(
    monkeypatch: pytest.MonkeyPatch, provider: str, setting: str
) -> None:
    monkeypatch.setenv(setting, "True")
    monkeypatch.setattr(litellm_hearing, "ALLOWANCE", Allowance(MB, 10_000, PATIENCE))
    async with saying(monkeypatch, ENDLESS["comments"], model=provider, direct=False) as client:
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(ModelError):
                await streamed(client)


@pytest.mark.whole("it waits for a limit of real time")
@pytest.mark.parametrize("provider", MODELS)
async def test_a_stream_that_drips_is_given_up_after_its_seconds(
    monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setattr(litellm_hearing, "ALLOWANCE", Allowance(10**12, 10**12, 0.5))
    async with saying(monkeypatch, again(b": still here\n\n"), model=provider, direct=False) as client:
        with pytest.raises(ModelError):
            await streamed(client)


@pytest.mark.parametrize("call", [streamed, whole])
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
@pytest.mark.parametrize("provider", MODELS)
async def test_a_bomb_is_given_up_before_it_is_large(
    monkeypatch: pytest.MonkeyPatch, provider: str, kind: str, call: Callable[[LiteLLMClient], Awaitable[ModelAnswer]]
) -> None:
    monkeypatch.setattr(litellm_hearing, "ALLOWANCE", Allowance(4 * MB, 10_000, PATIENCE))
    pieces = list(packed("gzip"))
    async with saying(
        monkeypatch, lambda: pieces, "Content-Encoding: gzip", kind=kind, model=provider, direct=False
    ) as client:
        tracemalloc.start()
        try:
            with pytest.raises(ModelError):
                await call(client)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most < 48 * MB


@pytest.mark.parametrize("provider", MODELS)
async def test_a_whole_answer_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    heard = 0

    def flood() -> Iterator[bytes]:
        nonlocal heard
        for piece in itertools.repeat(b" " * 65536):
            heard += len(piece)
            yield piece

    async with saying(monkeypatch, flood, kind="application/json", model=provider, direct=False) as client:
        with pytest.raises(ModelError):
            await whole(client)
    assert heard < 32 * MB


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("place", ["the first line", "an error's body"])
async def test_garbage_costs_hardly_more_than_a_refusal(
    monkeypatch: pytest.MonkeyPatch, provider: str, place: str
) -> None:
    chance = random.Random("garbage")
    garbage = "".join(chr(chance.randrange(32, 0x3FF)) for _ in range(300_000))

    async def cost(status: str, body: str = "") -> float:
        async with saying(monkeypatch, lambda: [body.encode()], model=provider, direct=False, status=status) as client:
            return min([await _processor_time(whole(client)) for _ in range(3)])

    await cost("500 Away")  # the first call loads what all share
    heard = cost(garbage) if place == "the first line" else cost("500 Away", garbage)
    assert await heard < 8 * await cost("500 Away")


async def _processor_time(call: Awaitable[object]) -> float:
    began = time.process_time()
    with suppress(ModelError):
        await call
    return time.process_time() - began


@pytest.mark.parametrize("provider", MODELS)
async def test_a_call_goes_to_no_other_server(monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    asked = 0

    async def other(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        writer.close()

    elsewhere = await asyncio.start_server(other, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{elsewhere.sockets[0].getsockname()[1]}/"
    try:
        async with saying(
            monkeypatch, list, f"Location: {url}", model=provider, direct=False, status="307 Temporary Redirect"
        ) as client:
            with pytest.raises(ModelError):
                await whole(client)
    finally:
        elsewhere.close()
    assert not asked


async def test_what_keeps_to_its_allowance_is_read_packed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [event(openai_chunk({"content": f" w{number}"})) for number in range(300)]
    body = gzip.compress(b"".join(words) + said(openai_chunk({}, "stop"), openai_usage()))
    cut = [body[start : start + 7] for start in range(0, len(body), 7)]
    async with saying(monkeypatch, lambda: cut, "Content-Encoding: gzip", direct=False) as client:
        assert (await streamed(client)).text.endswith(" w298 w299")


EMBEDDINGS: dict[str, JsonObject] = {
    "numbers that are none": {"data": [{"index": 0, "embedding": ["x"]}], "usage": {"prompt_tokens": 1}},
    "NaN": {"data": [{"index": 0, "embedding": [float("nan")]}], "usage": {"prompt_tokens": 1}},
    "beyond range": {"data": [{"index": 0, "embedding": [10**400]}], "usage": {"prompt_tokens": 1}},
    "no index": {"data": [{"index": "a", "embedding": [1.0]}], "usage": {"prompt_tokens": 1}},
    "none": {"data": [], "usage": {"prompt_tokens": 1}},
    "usage below nothing": {"data": [{"index": 0, "embedding": [1.0]}], "usage": {"prompt_tokens": -5}},
    "usage beyond range": {"data": [{"index": 0, "embedding": [1.0]}], "usage": {"prompt_tokens": 10**12}},
}


@pytest.mark.parametrize("told", EMBEDDINGS.values(), ids=EMBEDDINGS)
async def test_embeddings_that_are_none_are_an_error_of_ours(monkeypatch: pytest.MonkeyPatch, told: JsonObject) -> None:
    body = json.dumps({"object": "list", "model": "m", **told}).encode()
    async with saying(monkeypatch, lambda: [body], kind="application/json", direct=False) as client:
        with pytest.raises(ModelError):
            await client.embed("openai/text-embedding-3-small", ["Hello"])


async def test_embeddings_without_an_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = list(packed("gzip"))
    async with saying(
        monkeypatch, lambda: pieces, "Content-Encoding: gzip", kind="application/json", direct=False
    ) as client:
        with pytest.raises(ModelError):
            await client.embed("openai/text-embedding-3-small", ["Hello"])
