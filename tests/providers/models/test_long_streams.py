"""An answer that is far too long is cut; a streamed one gives the loop back while it is read (over the wire)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from core.llm.types import ModelAnswer, ModelChunk, ModelRequest
from providers.models.litellm_client import LiteLLMClient, ToolMode
from providers.models.litellm_path import StreamedAnswer
from providers.models.streamed_answer import max_characters
from tests.core.builders import SYSTEM, user
from tests.providers.models.test_litellm_client import ADD
from tests.scripted_model import Reply, ScriptedModel, calls, text

type Chunks = AsyncGenerator[ModelChunk]

HELLO = ModelRequest((SYSTEM, user("Hello")), tools=(ADD,), max_output_tokens=200)

# litellm 1.106 looks through the last piece of a stream in a way that pydantic will drop.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")


def numbered(count: int) -> str:
    """Return words that differ: litellm takes equal pieces for a model that goes round in circles."""
    return " ".join(f"word{number}" for number in range(count))


@asynccontextmanager
async def reaching(
    monkeypatch: pytest.MonkeyPatch, *replies: Reply, tool_mode: ToolMode = "auto"
) -> AsyncIterator[tuple[LiteLLMClient, ScriptedModel]]:
    """Serve a model that gives these replies, and yield a client that reaches it."""
    async with ScriptedModel(list(replies)) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        client = LiteLLMClient("openai/scripted", tool_mode=tool_mode)
        await client.warm_up()
        yield client, server
        await client.close()


@asynccontextmanager
async def streaming(monkeypatch: pytest.MonkeyPatch, reply: Reply, request: ModelRequest) -> AsyncIterator[Chunks]:
    """Serve a model that gives one reply, and yield the stream in which it comes."""
    async with reaching(monkeypatch, reply) as (client, _):
        yield client.stream(request)


async def answered(monkeypatch: pytest.MonkeyPatch, reply: Reply) -> tuple[ModelAnswer, int]:
    """Return the whole answer, and into how many pieces it came."""
    pieces, answer = 0, None
    async with streaming(monkeypatch, reply, HELLO) as chunks:
        async for chunk in chunks:
            pieces, answer = pieces + 1, chunk.answer
    assert answer is not None
    return answer, pieces


ENDLESS = pytest.mark.parametrize(
    "endless",
    [text("and so on, " * 20_000), text("x" * 200_000), calls(("add", '{"a": "' + "1" * 100_000 + '"}'))],
    ids=["words", "one word", "arguments"],
)


@pytest.mark.whole("it works until a limit is reached")
@ENDLESS
async def test_answer_far_beyond_what_was_asked_for_is_cut(monkeypatch: pytest.MonkeyPatch, endless: Reply) -> None:
    answer, pieces = await answered(monkeypatch, endless)
    assert answer.cut
    assert pieces <= 302
    assert answer.text == "" or (endless.text is not None and endless.text.startswith(answer.text))


@ENDLESS
async def test_endless_answer_that_is_not_streamed_is_cut(monkeypatch: pytest.MonkeyPatch, endless: Reply) -> None:
    async with reaching(monkeypatch, endless) as (client, _):
        answer = await client.answer(HELLO)
    assert answer.cut
    assert answer.text == (endless.text or "")[: max_characters(HELLO.max_output_tokens)]
    assert sum(len(call.arguments) for call in answer.tool_calls) <= max_characters(HELLO.max_output_tokens)


@pytest.mark.parametrize("streamed", [True, False])
async def test_endless_final_of_json_mode_is_asked_for_once(monkeypatch: pytest.MonkeyPatch, streamed: bool) -> None:
    endless = text('{"final": "' + numbered(20_000) + '"}')
    async with reaching(monkeypatch, endless, endless, endless, tool_mode="json") as (client, server):
        if streamed:
            answer = [chunk.answer async for chunk in client.stream(HELLO)][-1]
        else:
            answer = await client.answer(HELLO)
    assert answer is not None
    assert answer.cut
    assert answer.text.startswith("word0 word1 ")
    assert len(server.calls) == 1


async def test_answer_of_the_length_that_was_asked_for_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    words = numbered(200)
    answer, _ = await answered(monkeypatch, text(words))
    assert (answer.text, answer.cut) == (words, False)


async def test_others_have_their_turn_between_pieces_that_are_all_there() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async def written_ahead() -> AsyncGenerator[SimpleNamespace]:
        for number in range(1000):
            yield SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=str(number)))])

    ticking = asyncio.create_task(tick())
    pieces = [piece async for piece in StreamedAnswer(8000).read(written_ahead())]
    ticking.cancel()
    assert len(pieces) == 1000
    assert ticks >= 999
