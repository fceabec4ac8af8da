"""The same wire through both paths: litellm's call and ours make the same request, answer, usage, price and error."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import aiohttp
import pytest

from core.llm.types import ChatMessage, ModelRequest, Role, ToolCall
from providers.models import litellm_library
from providers.models.chat_format import format_tool
from providers.models.direct.plans import FAMILIES, Plans
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import SYSTEM, user
from tests.patience import PATIENCE
from tests.providers.models.direct import transcripts
from tests.providers.models.direct.replay import Outcome, Transcript, Wire, outcome, replaying
from tests.providers.models.test_litellm_client import ADD

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

MODELS = {
    "openai": ("openai/gpt-4o", "OPENAI_API_BASE", "OPENAI_API_KEY"),
    "openrouter": ("openrouter/openai/gpt-4o", "OPENROUTER_API_BASE", "OPENROUTER_API_KEY"),
    "groq": ("groq/openai/gpt-oss-20b", "GROQ_API_BASE", "GROQ_API_KEY"),
    "mistral": ("mistral/mistral-large-latest", "MISTRAL_AZURE_API_BASE", "MISTRAL_API_KEY"),
    "deepseek": ("deepseek/deepseek-chat", "DEEPSEEK_API_BASE", "DEEPSEEK_API_KEY"),
    "hosted_vllm": ("hosted_vllm/qwen", "HOSTED_VLLM_API_BASE", "HOSTED_VLLM_API_KEY"),
    "anthropic": ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_BASE", "ANTHROPIC_API_KEY"),
    "gemini": ("gemini/gemini-2.5-flash", "GEMINI_API_BASE", "GEMINI_API_KEY"),
}
CONVERSATION = (
    SYSTEM,
    user("What is 1 + 2?"),
    ChatMessage(Role.ASSISTANT, "", (ToolCall("call_0", "add", '{"a": 0}'),)),
    ChatMessage(Role.TOOL, "0", tool_call_id="call_0", name="add"),
    user("And 3 — mañana?"),
)
PLAIN = ModelRequest(CONVERSATION, tools=(ADD,), timeout=PATIENCE, max_output_tokens=800)


OF_ALL = {
    *("text", "text and two calls", "cut at its length", "content filter", "cut off", "two calls"),
    *("bad key", "limited", "account used up", "too long", "bad request", "overloaded"),
}
"""What is replayed for each provider with OpenAI's format; the rest is for OpenAI only."""


DIFFERENT: Mapping[tuple[str, str, str], str] = {
    # litellm takes the end of the connection for the end of the answer.
    ("gemini", "streamed", "ends without a word"): "ModelUnavailable",
    # litellm says 422, as if the request were wrong.
    ("gemini", "whole", "a page"): "ModelUnavailable",
    # litellm sends what was refused once more.
    ("openai", "streamed", "unprocessable"): "ModelRejected",
    ("openai", "whole", "unprocessable"): "ModelRejected",
    # litellm's answer has no price.
    ("openai", "streamed", "not streamed"): "",
}
"""Where the paths differ on purpose, and the error that ours raises."""


def _cases() -> Iterator[object]:
    for provider, own in transcripts.OF_PROVIDERS.items():
        yield from _of(provider, {**_of_all(transcripts.OPENAI_STREAMED), **own}, streamed=True)
        yield from _of(provider, _of_all(transcripts.OPENAI_WHOLE), streamed=False)
        yield from _of(provider, _of_all(transcripts.OPENAI_REFUSED), streamed=True)
    for provider, streamed, whole, refused in (
        ("openai", transcripts.OPENAI_STREAMED, transcripts.OPENAI_WHOLE, transcripts.OPENAI_REFUSED),
        ("anthropic", transcripts.CLAUDE_STREAMED, transcripts.CLAUDE_WHOLE, transcripts.CLAUDE_REFUSED),
        ("gemini", transcripts.GEMINI_STREAMED, transcripts.GEMINI_WHOLE, transcripts.GEMINI_REFUSED),
    ):
        yield from _of(provider, streamed, streamed=True)
        yield from _of(provider, whole, streamed=False)
        for way in (True, False):
            yield from _of(provider, refused, streamed=way)


def _of_all(found: Mapping[str, Transcript]) -> Mapping[str, Transcript]:
    return {name: transcript for name, transcript in found.items() if name in OF_ALL}


def _of(provider: str, found: Mapping[str, Transcript], *, streamed: bool) -> Iterator[object]:
    for name, transcript in found.items():
        kind = "streamed" if streamed else "whole"
        if (provider, kind, name) in DIFFERENT:
            continue
        yield pytest.param(provider, transcript, streamed, id=f"{provider}-{kind}-{name}")


async def through(
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    said: Transcript,
    request: ModelRequest,
    *,
    direct: bool,
    streamed: bool,
) -> tuple[Outcome, Wire]:
    """Make a call by one of the paths; return what came of it and what the provider got."""
    model, base, key = MODELS[provider]
    client = LiteLLMClient(model, direct=direct)
    await client.warm_up()
    async with replaying(said) as replay:
        with monkeypatch.context() as patch:
            patch.setenv(base, replay.url if provider == "anthropic" else f"{replay.url}/v1")
            patch.setenv(key, "sk-test")
            if direct:
                patch.setattr(litellm_library.load(), "acompletion", None)
            made = await outcome(client, request, streamed=streamed)
            await client.close()
    assert len(replay.asked) == 1 or not direct
    return made, replay.asked[0]


@pytest.mark.whole("it loads litellm and asks it the same")
@pytest.mark.parametrize(("provider", "said", "streamed"), list(_cases()))
async def test_both_paths_agree(
    monkeypatch: pytest.MonkeyPatch, provider: str, said: Transcript, streamed: bool
) -> None:
    theirs, sent = await through(monkeypatch, provider, said, PLAIN, direct=False, streamed=streamed)
    ours, sent_by_us = await through(monkeypatch, provider, said, PLAIN, direct=True, streamed=streamed)
    assert ours == theirs
    assert sent_by_us == sent


async def test_what_litellm_shares_among_providers_is_closed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions, begin = [], aiohttp.ClientSession.__init__

    def note(session: aiohttp.ClientSession, *args: Any, **named: Any) -> None:
        sessions.append(session)
        begin(session, *args, **named)

    monkeypatch.setattr(aiohttp.ClientSession, "__init__", note)
    for name in ("text", "thoughts", "one call"):
        await through(monkeypatch, "gemini", transcripts.GEMINI_STREAMED[name], PLAIN, direct=False, streamed=True)
    assert [session.closed for session in sessions] == [True, True, True]


@pytest.mark.parametrize(("provider", "kind", "name"), DIFFERENT)
async def test_where_the_paths_differ_ours_is_right(
    monkeypatch: pytest.MonkeyPatch, provider: str, kind: str, name: str
) -> None:
    prefix = {"openai": "OPENAI", "gemini": "GEMINI"}[provider]
    found = {**getattr(transcripts, f"{prefix}_{kind.upper()}"), **getattr(transcripts, f"{prefix}_REFUSED")}
    ours, _ = await through(monkeypatch, provider, found[name], PLAIN, direct=True, streamed=kind == "streamed")
    assert ours.error == DIFFERENT[provider, kind, name]
    assert bool(ours.error) or (ours.answer is not None and (ours.answer.usage.cost or 0) > 0)


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("stream", [True, False])
def test_a_plan_is_made_once_for_equal_calls(monkeypatch: pytest.MonkeyPatch, provider: str, stream: bool) -> None:
    model, base, key = MODELS[provider]
    monkeypatch.setenv(base, "http://127.0.0.1:9/v1")
    monkeypatch.setenv(key, "sk-test")
    plans, tool = Plans(), format_tool(ADD)
    made = []
    for _ in range(3):
        plan = plans.plan({"model": model, "tools": [copy.deepcopy(tool)], "max_tokens": 9}, stream=stream)
        assert plan is not None
        plan.family.request(plan, [{"role": "user", "content": "Hello"}])
        made.append(plan)
    assert made[0] is made[1] is made[2]
    other = plans.plan({"model": model, "tools": [tool, tool], "max_tokens": 9}, stream=stream)
    assert other is not made[0]


def test_every_direct_provider_is_compared() -> None:
    assert set(MODELS) == set(FAMILIES)
