"""A provider that sends a byte now and then and never ends: every call has an end of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from abilities.judge.asking import ModelJudge
from abilities.memory import model_calls as asking
from abilities.memory.extraction.talk import Talk, request_for
from abilities.memory.model_calls import ModelCalls
from core.budgets.budgeted_model import BudgetedModel
from core.errors import ModelTimeout
from core.hooks.hooks import HookContext
from core.llm.types import ModelAnswer, ModelRequest
from core.loop.config import ReactLoopConfig
from core.loop.conversation_state import ConversationState, summary_request
from core.loop.reasoning import ModelCaller
from providers.models import chat_format, embedding
from providers.models import litellm_client as model_module
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import user
from tests.patience import PATIENCE

QUICK = ReactLoopConfig(llm_first_token_timeout=0.5, llm_patience=0.5, llm_longest_answer=0.5, llm_streaming=False)
type Ask = Callable[[LiteLLMClient], Awaitable[object]]


@pytest.fixture
async def client(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LiteLLMClient]:
    """Yield a client whose provider drips for as long as it is listened to."""

    async def drip(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        await answer.prepare(request)
        while True:
            await answer.write(b" ")
            await asyncio.sleep(0.05)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", drip)
    app.router.add_post("/v1/embeddings", drip)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr(model_module, "NET", 0.3)
    monkeypatch.setattr(chat_format, "NET", 0.3)
    monkeypatch.setattr(embedding, "EMBED_PATIENCE", 0.3)
    monkeypatch.setattr(asking, "MODEL_PATIENCE", 0.3)
    made = LiteLLMClient("openai/scripted")
    await made.warm_up()
    yield made
    await made.close()
    await runner.cleanup()


def of_reading(client: LiteLLMClient) -> Awaitable[ModelAnswer]:
    """Ask what was said, for memory and profile."""
    return client.answer(request_for(Talk(["person: I live in Lisbon"], profile=[])).within(0.3))


def of_judge(client: LiteLLMClient) -> Awaitable[ModelAnswer]:
    """Ask whether an answer is good."""
    judge = ModelJudge(client)
    return judge.client.answer(
        judge.question(HookContext("t", "t", "sms"), (user("Hi"),), (), ModelAnswer("Hello")).within(0.3)
    )


def of_memory(client: LiteLLMClient) -> Awaitable[str]:
    """Ask as memory does."""
    return ModelCalls(BudgetedModel(client, None), lambda kind: kind).ask("tenant", "What was said?")  # type: ignore[arg-type]


def of_embedding(client: LiteLLMClient) -> Awaitable[object]:
    """Embed a text."""
    return client.embed("openai/text-embedding-3-small", ["words"])


def of_summary(client: LiteLLMClient) -> Awaitable[object]:
    """Ask for a summary."""
    request: ModelRequest = summary_request(ConversationState(), (user("Hi"),), 100)
    return ModelCaller(client, QUICK).ask(request)


@pytest.mark.parametrize("ask", [of_reading, of_judge, of_memory, of_embedding, of_summary])
async def test_a_provider_that_drips_cannot_hold_a_call_open(client: LiteLLMClient, ask: Ask) -> None:
    with pytest.raises(ModelTimeout):
        async with asyncio.timeout(PATIENCE):
            await ask(client)
