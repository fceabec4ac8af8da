"""The model over the wire: litellm against a scripted OpenAI-compatible server."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from core.errors import (
    ConfigError,
    ContextOverflow,
    ModelAuthError,
    ModelError,
    ModelOutOfQuota,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from core.hooks.hooks import HookContext
from core.journal.in_memory import MemoryJournal
from core.llm.types import ChatMessage, ModelLayer, ModelRequest, Role, TokenUsage, ToolCall, ToolSpec
from core.loop.config import ReactLoopConfig
from core.loop.loop import ReactLoop
from core.loop.reasoning import ModelCaller
from core.loop.result import ReactLoopResult
from core.loop.scope import LoopTask, TurnScope
from core.tools.tool import AnyTool, tool
from core.tools.toolbox import ToolRegistry
from providers.models import litellm_library
from providers.models.chat_format import format_messages
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import SYSTEM, a_context, user
from tests.eventually import eventually
from tests.patience import PATIENCE
from tests.scripted_model import Reply, ScriptedModel, calls, cut, error, hang, malformed, text

ADD = ToolSpec("add", "Add.", {"type": "object", "properties": {"a": {"type": "integer"}}})
HELLO = ModelRequest((SYSTEM, user("Hello")), tools=(ADD,), timeout=PATIENCE)

# litellm 1.106 looks through the last piece of a stream in a way that pydantic will drop.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def _loop(client: LiteLLMClient, tools: list[AnyTool], config: ReactLoopConfig) -> ReactLoopResult:
    where = HookContext("turn", "tenant", "terminal")
    scope = TurnScope(where, MemoryJournal(), lambda name, key: a_context(idempotency_key=key), config)
    task = LoopTask(scope, (SYSTEM, user("Hello")), ToolRegistry(tools))
    return await ReactLoop(ModelCaller(client, config)).run(task)


class TestAnswers:
    async def test_a_two_tool_message_costs_exactly_two_model_calls(
        self, model: ScriptedModel, client: LiteLLMClient
    ) -> None:
        model.add(calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), text("3 and 7"))
        result = await _loop(client, [add], ReactLoopConfig())
        assert result.response == "3 and 7"
        assert len(model.calls) == 2
        assert list(model.calls[1].tool_results.values()) == ["3", "7"]
        assert model.calls[0].tools == ["add"]
        assert result.token_usage.total > 0

    async def test_a_plain_answer_costs_one(self, model: ScriptedModel, client: LiteLLMClient) -> None:
        model.add(text("Hi"))
        assert (await _loop(client, [], ReactLoopConfig())).response == "Hi"
        assert len(model.calls) == 1
        assert "tools" not in model.calls[0].body

    async def test_bad_json_goes_back_as_an_object_and_the_model_is_told(
        self, model: ScriptedModel, client: LiteLLMClient
    ) -> None:
        model.add(calls(("add", '{"a": 1,')), calls(("nothing", {})), text("Sorry"))
        assert (await _loop(client, [add], ReactLoopConfig())).response == "Sorry"
        bad, unknown = model.calls[2].tool_results.values()
        assert "not valid JSON" in bad
        assert "no tool named 'nothing'" in unknown
        sent = model.calls[1].messages[-2]["tool_calls"]
        assert sent[0]["function"]["arguments"] == "{}"  # type: ignore[index,call-overload]

    async def test_the_forced_summary_offers_no_tools(self, model: ScriptedModel, client: LiteLLMClient) -> None:
        model.add(calls(("add", {"a": 1, "b": 2})), text("So far"))
        assert (await _loop(client, [add], ReactLoopConfig(max_turns=1))).response == "So far"
        assert model.calls[1].tools == []

    async def test_each_persons_text_arrives_unchanged_in_order(
        self, model: ScriptedModel, client: LiteLLMClient
    ) -> None:
        model.add(text("ok"))
        await client.answer(ModelRequest((SYSTEM, user("a\n b"), user("ü  "), user("c"))))
        assert model.calls[0].new_user_texts == ["a\n b", "ü  ", "c"]

    async def test_calls_without_ids_of_their_own_get_some(self, model: ScriptedModel, client: LiteLLMClient) -> None:
        raw = (
            b'{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
            b'"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":['
            b'{"id":"same","type":"function","function":{"name":"add","arguments":"{}"}},'
            b'{"id":"same","type":"function","function":{"name":"add","arguments":"{}"}}]}}]}'
        )
        model.add(malformed(raw))
        answer = await client.answer(HELLO)
        assert len({call.id for call in answer.tool_calls}) == 2


OVERFLOWS = [
    error(400, code="context_length_exceeded", message="This model's maximum context length is 8192 tokens."),
    error(400, message="prompt is too long: 210000 tokens > 200000 maximum"),
    error(400, message="The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    error(400, message="Input is too long for requested model."),
    error(413, message="Request too large"),
]


class TestErrors:
    @pytest.mark.parametrize(
        ("reply", "kind"),
        [
            *((reply, ContextOverflow) for reply in OVERFLOWS),
            (error(401, message="Incorrect API key provided: sk-test-secret"), ModelAuthError),
            (error(403), ModelAuthError),
            (error(404, message="The model does not exist"), ModelAuthError),
            (error(429), ModelRateLimited),
            (error(429, message="You exceeded your current quota.", retry_after=2), ModelRateLimited),
            (error(429, code="insufficient_quota", message="You exceeded your current quota."), ModelOutOfQuota),
            (error(400, message="Your credit balance is too low to access the Anthropic API."), ModelOutOfQuota),
            (error(400, message="Invalid value for temperature"), ModelRejected),
            (error(500), ModelUnavailable),
            (error(503), ModelUnavailable),
            (cut(), ModelUnavailable),
            (malformed(), ModelUnavailable),
            (malformed(b'{"choices": []}'), ModelUnavailable),
            (malformed(b"<html>gateway</html>"), ModelUnavailable),
        ],
    )
    async def test_each_kind_becomes_ours_without_the_providers_words(
        self, model: ScriptedModel, client: LiteLLMClient, reply: Reply, kind: type[ModelError]
    ) -> None:
        model.add(reply)
        with pytest.raises(ModelError) as caught:
            await client.answer(HELLO)
        assert type(caught.value) is kind
        assert "sk-test-secret" not in str(caught.value)
        assert len(model.calls) == 1

    @pytest.mark.parametrize(("after", "seconds"), [(None, None), (7.0, 7.0), (0.5, 0.5)])
    async def test_retry_after_is_read(
        self, model: ScriptedModel, client: LiteLLMClient, after: float | None, seconds: float | None
    ) -> None:
        model.add(error(429, retry_after=after))
        with pytest.raises(ModelRateLimited) as caught:
            await client.answer(HELLO)
        delay = caught.value.retry_after
        assert (delay.total_seconds() if delay else None) == seconds

    async def test_a_timeout_ends_the_call(self, model: ScriptedModel, client: LiteLLMClient) -> None:
        model.add(hang(10 * PATIENCE))
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(ModelTimeout):
                await client.answer(ModelRequest((user("Hello"),), timeout=0.3))

    async def test_a_server_that_is_not_there_is_unavailable(
        self, monkeypatch: pytest.MonkeyPatch, client: LiteLLMClient
    ) -> None:
        monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        with pytest.raises(ModelUnavailable):
            await client.answer(HELLO)

    async def test_a_refused_key_is_followed_by_the_next_and_then_the_fallback(self, model: ScriptedModel) -> None:
        client = LiteLLMClient("openai/first", ["openai/second"], ["k1", "k2"])
        model.add(error(401), error(401), error(401), text("at last"))
        try:
            assert (await _loop(client, [], ReactLoopConfig())).response == "at last"
        finally:
            await client.close()
        assert [(call.body["model"], call.key) for call in model.calls] == [
            *(("first", "k1"), ("first", "k2"), ("second", "k1"), ("second", "k2")),
        ]

    @pytest.mark.parametrize("reply", OVERFLOWS[:3])
    async def test_an_overflow_really_sends_fewer_messages(
        self, model: ScriptedModel, client: LiteLLMClient, reply: Reply
    ) -> None:
        history = tuple(user(f"m{index}") for index in range(60))
        config = ReactLoopConfig()
        model.add(reply, text("ok"))
        caller = ModelCaller(client, config)
        asked = await caller.ask(ModelRequest((SYSTEM, *history, user("last"))))
        assert asked.answer.text == "ok"
        assert len(model.calls[1].messages) < len(model.calls[0].messages)
        assert model.calls[1].last_user == "last"
        assert model.calls[1].system == SYSTEM.text


class TestJsonMode:
    async def test_tools_work_over_text_with_a_model_that_has_none(self, model: ScriptedModel) -> None:
        client = LiteLLMClient("openai/scripted", tool_mode="json")
        model.add(
            text('```json\n{"tool": "add", "arguments": {"a": 1, "b": 2,}}\n```'),
            text('{"tool": "add", "arguments": {"a": 1, "b": '),
            text('{"final": "It is 3."}'),
        )
        try:
            result = await _loop(client, [add], ReactLoopConfig())
        finally:
            await client.close()
        assert result.response == "It is 3."
        assert [record.success for record in result.tool_calls] == [True]
        assert all(call.tools == [] for call in model.calls)
        assert '{"tool": "its name"' in model.calls[0].system
        assert '"result": "3"' in model.calls[1].last_user
        assert "Your last answer cannot be read" in model.calls[2].last_user
        assert result.turns == 2

    async def test_what_stays_unreadable_is_told_as_a_bad_call_within_a_bound(self, model: ScriptedModel) -> None:
        client = LiteLLMClient("openai/scripted", tool_mode="json")
        bad = text('{"tool": "add", "arguments": {"a": 1, "b": ')
        model.add(bad, bad, bad, text('{"answer": "no"}'), text('{"final": "I could not add."}'))
        try:
            result = await _loop(client, [add], ReactLoopConfig())
        finally:
            await client.close()
        assert (result.response, result.turns, len(model.calls)) == ("I could not add.", 2, 5)
        assert "not valid JSON" in model.calls[3].last_user
        assert result.token_usage.output_tokens > 5 * 5

    async def test_a_forced_summary_is_read_too(self, model: ScriptedModel) -> None:
        client = LiteLLMClient("openai/scripted", tool_mode="json")
        model.add(text('{"tool": "add", "arguments": {"a": 1, "b": 2}}'), text('{"final": "So far 3."}'))
        try:
            assert (await _loop(client, [add], ReactLoopConfig(max_turns=1))).response == "So far 3."
        finally:
            await client.close()
        assert '{"tool": "its name"' not in model.calls[1].system

    async def test_only_a_model_that_is_listed_as_unable_goes_over_text(
        self, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import litellm

        monkeypatch.setitem(litellm.model_cost, "openai/unable", {"supports_function_calling": False})
        client = LiteLLMClient("openai/unable", ["openai/unknown"])
        model.add(text('{"final": "a"}'), text("b"))
        try:
            assert (await client.answer(HELLO)).text == "a"
            second = ModelRequest(HELLO.messages, HELLO.tools, timeout=10, layer=1)
            assert (await client.answer(second)).text == "b"
        finally:
            await client.close()
        assert [call.tools for call in model.calls] == [[], ["add"]]


class TestLayers:
    def test_keys_effort_and_fallbacks_stand_in_this_order(self) -> None:
        client = LiteLLMClient("openai/a", ["openai/b", "anthropic/c"], ["k1", "k2"], reasoning_effort="high")
        assert list(client.layers) == [
            ModelLayer("openai/a", 0, "high"),
            ModelLayer("openai/a", 1, "high"),
            ModelLayer("openai/a", 0, "low"),
            ModelLayer("openai/b", 0, "high"),
            ModelLayer("openai/b", 1, "high"),
            ModelLayer("anthropic/c", 0, "high"),
        ]

    async def test_thinking_goes_back_only_to_the_model_that_thought(
        self, model: ScriptedModel, client: LiteLLMClient
    ) -> None:
        thought = ({"type": "reasoning_content", "text": "hm"},)
        call = (ToolCall("1", "add", "{}"),)
        for name in ("openai/scripted", "openai/other"):
            model.add(text("ok"))
            message = ChatMessage(Role.ASSISTANT, "", call, thinking=thought, model=name)  # type: ignore[arg-type]
            result = ChatMessage(Role.TOOL, "3", tool_call_id="1")
            await client.answer(ModelRequest((user("x"), message, result), tools=(ADD,)))
        sent = [call.messages[1].get("reasoning_content") for call in model.calls]
        assert sent == ["hm", None]


class TestClosing:
    async def test_what_embedded_is_closed_too(self, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(litellm_library, "_calls_loaded", False)
        client = LiteLLMClient("openai/scripted")
        await client.embed("openai/embedder", ["Hello"])
        assert model.connections == 1
        await client.close()
        await eventually(lambda: not model.connections, "the end of the connection, of which the server learns later")

    async def test_another_one_goes_on_where_litellm_makes_the_calls(self, model: ScriptedModel) -> None:
        model.add(text("Hello."), text("Hello again."))
        for said in ("Hello.", "Hello again."):
            client = LiteLLMClient("openai/scripted", direct=False)
            assert (await client.answer(HELLO)).text == said
            await client.close()


def test_a_conversation_we_started_opens_with_a_user_message_if_required() -> None:
    began = (SYSTEM, ChatMessage(Role.ASSISTANT, "Your dentist, at 3."), user("Thanks"))
    assert [message["role"] for message in format_messages(began, "openai/x")] == ["system", "assistant", "user"]
    messages = format_messages(began, "anthropic/claude-x")
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert [message["role"] for message in format_messages((SYSTEM, user("Hi")), "anthropic/claude-x")] == [
        "system",
        "user",
    ]


def test_retry_after_may_be_a_date() -> None:
    from providers.models.provider_errors import seconds

    delay = seconds(format_datetime(datetime.now(UTC) + timedelta(seconds=60)), 1.0)
    assert delay is not None
    assert 50 < delay.total_seconds() <= 60
    assert seconds("soon", 1.0) is None


def test_usage_with_a_field_of_a_newer_version_is_read() -> None:
    usage = TokenUsage(3, 2, cost=0.5)
    assert TokenUsage.from_json({**usage.to_json(), "reasoning_tokens": 7}) == usage


def test_a_model_that_is_signed_in_for_at_a_terminal_is_refused() -> None:
    for model in ("github_copilot/gpt-4o", "chatgpt/gpt-5"):
        with pytest.raises(ConfigError, match=f"{model} cannot be used: litellm signs in for it at a terminal"):
            LiteLLMClient("openai/mine", fallback_models=[model])
        with pytest.raises(ConfigError, match="at a terminal"):
            LiteLLMClient("openai/mine").has_provider(model)
