"""The scripted model speaks as OpenAI does, as seen by OpenAI's own client."""

import asyncio
import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.patience import PATIENCE
from tests.scripted_model import (
    ModelCall,
    Reply,
    ScriptedModel,
    calls,
    cut,
    echo,
    error,
    hang,
    malformed,
    text,
)

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

pytestmark = pytest.mark.xdist_group("model")  # openai takes seconds to load: once is enough
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
ASK = [{"role": "user", "content": "one"}, {"role": "user", "content": [{"type": "text", "text": "two"}]}]


def client_of(model: ScriptedModel, timeout: float = PATIENCE) -> "openai.AsyncOpenAI":
    import openai

    return openai.AsyncOpenAI(base_url=model.url, api_key="sk-test", max_retries=0, timeout=timeout)


async def ask(
    model: ScriptedModel, messages: object = ASK, timeout: float = PATIENCE, **more: object
) -> "ChatCompletion":
    from openai.types.chat import ChatCompletion

    async with client_of(model, timeout) as client:
        answer = await client.chat.completions.create(model="m", messages=messages, **more)  # type: ignore[call-overload]
    assert isinstance(answer, ChatCompletion)
    return answer


async def test_it_gives_queued_replies_one_by_one_and_records_the_requests() -> None:
    async with ScriptedModel([calls(("add", {"a": 1}), beside="let me see"), text("three")]) as model:
        first = await ask(model, tools=[TOOL])
        [wanted] = first.choices[0].message.tool_calls or []
        assert wanted.type == "function"
        assert (wanted.function.name, json.loads(wanted.function.arguments)) == ("add", {"a": 1})
        messages = [
            *ASK,
            first.choices[0].message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": wanted.id, "content": "3"},
        ]
        second = await ask(model, messages)
        assert second.choices[0].message.content == "three"
        assert second.usage is not None
        assert second.usage.total_tokens > 0
    assert model.calls[0].tools == ["add"]
    assert model.calls[0].new_user_texts == ["one", "two"]
    assert model.calls[1].tool_results == {wanted.id: "3"}
    assert (model.calls[0].key, model.waiting) == ("sk-test", 0)


async def test_it_streams_words_tool_calls_and_usage() -> None:
    reply = calls(("add", {"words": "a long argument, in pieces"}), beside="two  spaces and\nlines ")
    async with ScriptedModel(lambda call: reply) as model, client_of(model) as client:
        stream = await client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": "hi"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        words, arguments, usage, finish = "", "", 0, ""
        async for chunk in stream:
            usage += chunk.usage.total_tokens if chunk.usage else 0
            for choice in chunk.choices:
                words += choice.delta.content or ""
                finish = choice.finish_reason or finish
                for part in choice.delta.tool_calls or []:
                    arguments += (part.function.arguments if part.function else "") or ""
    assert words == "two  spaces and\nlines "
    assert json.loads(arguments) == {"words": "a long argument, in pieces"}
    assert usage > 0
    assert finish == "tool_calls"


async def test_it_fails_in_every_way_that_a_test_asks_for() -> None:
    import openai

    async with ScriptedModel([error(429, retry_after=7), malformed(), hang(5), cut()]) as model:
        with pytest.raises(openai.RateLimitError) as limited:
            await ask(model)
        assert limited.value.response.headers["Retry-After"] == "7"
        with pytest.raises(json.JSONDecodeError):
            await ask(model)
        with pytest.raises(openai.APITimeoutError):
            await ask(model, timeout=0.2)
        with pytest.raises(openai.APIConnectionError):
            await ask(model)
        with pytest.raises(openai.InternalServerError, match="no further reply"):
            await ask(model)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "tool", "tool_call_id": "x", "content": "?"}],
        [
            {
                "role": "assistant",
                "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "user", "content": "well?"},
        ],
    ],
)
async def test_it_refuses_conversations_that_the_provider_refuses(messages: list[object]) -> None:
    import openai

    async with ScriptedModel(echo) as model:
        with pytest.raises(openai.BadRequestError):
            await ask(model, messages)


async def test_a_script_may_be_a_coroutine_and_replies_may_be_added() -> None:
    async def script(call: ModelCall) -> Reply:
        return text(call.last_user.upper())

    async with ScriptedModel(script) as model:
        model.add(text("first"))
        assert (await ask(model)).choices[0].message.content == "first"
        assert (await ask(model)).choices[0].message.content == "TWO"


async def test_embeddings_are_near_for_texts_that_share_words() -> None:
    async with ScriptedModel(echo) as model, client_of(model) as client:
        answer = await client.embeddings.create(
            model="e", input=["the red fox", "a red fox", "tax returns"], dimensions=64
        )
    near, other, far = (row.embedding for row in answer.data)
    assert len(near) == 64
    assert sum(a * b for a, b in zip(near, other, strict=True)) > 0.5
    assert sum(a * b for a, b in zip(near, far, strict=True)) < 0.5


async def test_it_runs_as_a_process_that_echoes_and_ends_when_told() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.scripted_model", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    answer = json.loads(await process.stdout.readline())
    model = ScriptedModel(echo, url=answer["url"])
    assert (await ask(model)).choices[0].message.content == "echo: one | two"
    process.terminate()
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
