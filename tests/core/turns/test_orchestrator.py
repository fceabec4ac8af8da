"""The orchestrator's lifecycle, over a scripted model in process."""

import asyncio
import inspect
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core import replies
from core.agents.fields import InputField
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, StandardAgent, Thinking, Valet
from core.agents.valet import valet
from core.clock import Clock
from core.errors import (
    ConfigError,
    ContextOverflow,
    ModelAuthError,
    ModelRejected,
    ModelUnavailable,
    OneValetError,
    TurnDelayed,
)
from core.hooks.hooks import Hook, HookContext
from core.journal.in_memory import MemoryJournal
from core.llm.types import ChatMessage, Marker, Role
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.tools.context import NO_MEMORY, ToolExecutionContext
from core.tools.memory_access import MemoryAccess
from core.tools.tool import tool
from core.turns.context import Refusal, TurnContext
from core.turns.orchestrator import Orchestrator
from core.turns.prompt import DEFAULT_PERSONA, Assistant, Known, context_message, system_prompt
from core.turns.prompt_lines import CONTEXT
from core.turns.services import RecalledFacts
from core.turns.types import FromPerson, Kept, Place, TurnRequest, TurnResult, TurnState, TurnWork
from tests.core.builders import FakeModel, Step, says, user, wants
from tests.eventually import never

NOW = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)
TENANT = TurnTenant("t1", "Ada", "de", "Asia/Tokyo")
CONFIG = ReactLoopConfig(llm_retry_base_delay=0.001)


class _Later(Clock):
    """A clock that is an hour later each time."""

    def __init__(self) -> None:
        super().__init__()
        self.at = NOW

    def now(self) -> datetime:
        self.at += timedelta(hours=1)
        return self.at


def _request(*texts: str, channel: str = "sms", history: Sequence[ChatMessage] = (), media: int = 0) -> TurnRequest:
    inbound = tuple(TurnMessage(f"m{index}", text, NOW, media) for index, text in enumerate(texts))
    return TurnRequest(
        TurnWork("turn1", MemoryJournal()), TENANT, Place(channel), FromPerson(inbound), Kept(tuple(history))
    )


def _orchestrator(*script: Step) -> tuple[Orchestrator, FakeModel]:
    model = FakeModel(list(script))
    return Orchestrator(model, "You are Koi.", config=CONFIG), model


class TestHandleMessage:
    async def test_batched_messages_follow_the_last_answer_separately_and_unchanged(self) -> None:
        orchestrator, model = _orchestrator(says("Yes"))
        history = (user("Earlier"), ChatMessage(Role.ASSISTANT, "Indeed"))
        result = await orchestrator.handle_message(_request(" One ", "two\n", history=history))
        assert model.last[3].marker is Marker.CONTEXT
        assert [(message.role.value, message.text) for message in model.last[1:] if message is not model.last[3]] == [
            ("user", "Earlier"),
            ("assistant", "Indeed"),
            ("user", " One "),
            ("user", "two\n"),
        ]
        assert (result.state, result.reply, result.reason) == (TurnState.DONE, "Yes", "")
        assert [message.text for message in result.history] == [" One ", "two\n", "Yes"]

    async def test_history_survives_json_and_is_whole(self) -> None:
        @tool(effect="read")
        async def look(context: ToolExecutionContext) -> str:
            """Look."""
            return f"{context.tenant_id} {context.timezone} {context.language} {context.idempotency_key}"

        model = FakeModel([wants(("look", {})), says("Seen"), says("Again")])
        orchestrator = Orchestrator(model, tools=[look], config=CONFIG)
        result = await orchestrator.handle_message(_request("Look"))
        assert model.told() == ["t1 Asia/Tokyo de turn1.0.1"]
        kept = tuple(ChatMessage.from_json(message.to_json()) for message in result.history)
        assert kept == result.history
        await orchestrator.handle_message(_request("And?", history=kept))
        assert [message.role.value for message in model.last] == [
            *("system", "user", "assistant", "tool", "assistant", "user", "user")
        ]

    async def test_files_are_mentioned_next_to_the_text(self) -> None:
        orchestrator, model = _orchestrator(says("ok"), says("ok"))
        await orchestrator.handle_message(_request("See", media=2))
        assert [message.text for message in model.last[2:]] == ["See", "[The person sent 2 files, not shown here.]"]
        await orchestrator.handle_message(_request("", media=1))
        assert [(message.text, message.internal) for message in model.last[2:]] == [
            ("[The person sent 1 file, not shown here.]", False)
        ]


class TestByAProgram:
    async def test_agents_are_given_as_classes_also_among_the_tools(self) -> None:
        @valet(effect="read")
        class Greeter(StandardAgent):
            """Greet."""

            async def on_running(self, msg: str) -> AgentResult:
                return self.make_result(raw_message="Good day")

        model = FakeModel([wants(("Greeter", {})), says("Greeted")] * 2)
        for orchestrator in (
            Orchestrator(model, agents=[Greeter], config=CONFIG),
            Orchestrator(model, tools=[Greeter], config=CONFIG),
        ):
            await orchestrator.handle_message(_request("Greet me"))
            assert model.told() == ["Good day"]

    async def test_an_unknown_keyword_is_refused_and_the_known_ones_are_shown(self) -> None:
        with pytest.raises(TypeError, match="agent_filter"):
            Orchestrator(FakeModel([]), agent_filter=["Greeter"])  # type: ignore[call-arg]
        assert [*inspect.signature(Orchestrator).parameters][:2] == ["llm_client", "system_prompt"]

    @pytest.mark.parametrize("wrong", [{"agents": [str]}, {"tools": [str]}, {"tools": [print]}])
    async def test_what_is_neither_tool_nor_agent_is_refused(self, wrong: Any) -> None:
        with pytest.raises(ConfigError, match=r"@valet\(\.\.\.\)"):
            Orchestrator(FakeModel([]), **wrong)

    async def test_words_without_a_turn_are_answered_with_what_to_call(self) -> None:
        orchestrator, _ = _orchestrator()
        for ask in (orchestrator.handle_message, orchestrator.stream_message):
            with pytest.raises(TypeError, match=r"new_turn\(text, tenant\).*OneValet\.handle_message\(text, tenant"):
                await ask("hi")  # type: ignore[arg-type, misc]

    async def test_leaving_it_closes_the_model(self) -> None:
        class Closing(FakeModel):
            closed = False

            async def close(self) -> None:
                self.closed = True

        model = Closing([says("Yes")])
        async with Orchestrator(model, config=CONFIG) as orchestrator:
            await orchestrator.handle_message(_request("Hi"))
            assert not model.closed
        assert model.closed


class TestChecks:
    async def test_are_asked_in_order_and_the_first_refusal_counts(self) -> None:
        asked: list[str] = []

        async def passes(request: TurnRequest, context: TurnContext) -> Refusal | None:
            asked.append("passes")
            return None

        async def refuses(request: TurnRequest, context: TurnContext) -> Refusal | None:
            asked.append("refuses")
            return Refusal("limit", "Slower, please.")

        model = FakeModel([])
        orchestrator = Orchestrator(model, checks=[passes, refuses, passes])
        result = await orchestrator.handle_message(_request("Hi"))
        assert (result.reply, result.reason, asked) == ("Slower, please.", "limit", ["passes", "refuses"])
        assert model.requests == []

    async def test_one_that_cannot_tell_raises_and_lets_nothing_pass(self) -> None:
        async def broken(request: TurnRequest, context: TurnContext) -> Refusal | None:
            raise TurnDelayed("away")

        model = FakeModel([says("never")])
        with pytest.raises(TurnDelayed):
            await Orchestrator(model, checks=[broken]).handle_message(_request("Hi"))
        assert model.requests == []


class TestFailures:
    @pytest.mark.parametrize(
        ("error", "reason", "reply"),
        [
            (ModelUnavailable("secret cause"), "model_down", replies.MODEL_DOWN),
            (ModelAuthError("secret cause"), "model_auth", replies.MODEL_AUTH),
            (ModelRejected("secret cause"), "model_rejected", replies.MODEL_REFUSED),
        ],
    )
    async def test_promise_14_are_told_in_a_plain_sentence_and_the_turn_fails(
        self, error: OneValetError, reason: str, reply: str
    ) -> None:
        orchestrator, _ = _orchestrator(*[error] * 9)
        result = await orchestrator.handle_message(_request("Hi"))
        assert (result.state, result.reason, result.reply) == (TurnState.FAILED, reason, reply)
        assert [message.text for message in result.history] == ["Hi", reply]
        assert "secret" not in result.reply

    @pytest.mark.parametrize(
        ("channel", "word"), [("sms", "NEW"), ("slack", "/valet new"), ("telegram", "/new"), ("terminal", "/new")]
    )
    async def test_an_overflow_names_the_word_that_starts_afresh(self, channel: str, word: str) -> None:
        orchestrator, _ = _orchestrator(ContextOverflow("x"))
        result = await orchestrator.handle_message(_request("Hi", channel=channel))
        assert (result.state, result.reason) == (TurnState.FAILED, "context_overflow")
        assert f"Send {word} to start" in result.reply

    async def test_what_was_done_before_stays_in_history(self) -> None:
        @tool
        async def send() -> str:
            """Send."""
            return "sent"

        model = FakeModel([wants(("send", {})), ModelAuthError("x")])
        result = await Orchestrator(model, tools=[send], config=CONFIG).handle_message(_request("Hi"))
        assert [message.text for message in result.history] == ["Hi", "", "sent", replies.MODEL_AUTH]

    async def test_cancelling_is_not_swallowed(self) -> None:
        asked = asyncio.Event()

        async def wait(_: object) -> object:
            asked.set()
            await never()
            raise AssertionError

        orchestrator, _ = _orchestrator(wait)  # type: ignore[arg-type]
        task = asyncio.create_task(orchestrator.handle_message(_request("Hi")))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


class TestSteps:
    async def test_a_subclass_replaces_any_of_them(self) -> None:
        class Ours(Orchestrator):
            async def check_pending_agents(self, request: TurnRequest, context: TurnContext) -> TurnResult | None:
                return TurnResult(TurnState.DONE, reply="The agent speaks")

        assert (await Ours(FakeModel([])).handle_message(_request("Hi"))).reply == "The agent speaks"

    async def test_a_subclass_creates_the_agents_that_are_called(self) -> None:
        @valet(name="Greeter")
        class Greeter(StandardAgent):
            """Greet."""

            greeting = InputField("How?")

            async def on_running(self, msg: str) -> AgentResult:
                return self.make_result(raw_message=self.greeting)

        class Polite(Greeter):
            async def on_running(self, msg: str) -> AgentResult:
                return self.make_result(raw_message=f"{self.greeting}, dear {self.tenant_id}")

        class Ours(Orchestrator):
            async def create_agent(
                self,
                valet: Valet,
                context: ToolExecutionContext,
                thinking: Thinking,
                values: Mapping[str, Any],
                instruction: str,
            ) -> StandardAgent:
                assert valet.agent is Greeter
                return Polite(context, thinking, values=values, instruction=instruction)

        model = FakeModel([wants(("Greeter", {"greeting": "Good day"})), says("Greeted")])
        await Ours(model, agents=AgentRegistry([Greeter]), config=CONFIG).handle_message(_request("Greet me"))
        assert model.told() == ["Good day, dear t1"]

    async def test_a_hook_may_change_the_reply_and_history_says_what_was_read(self) -> None:
        class Sign(Hook):
            async def post_call(self, context: HookContext, reply: str) -> str:
                return f"{reply} -- {context.channel}"

        orchestrator = Orchestrator(FakeModel([says("Hi")]), hooks=[Sign()])
        result = await orchestrator.handle_message(_request("Hi"))
        assert result.reply == result.history[-1].text == "Hi -- sms"

    async def test_recalled_facts_and_only_the_chosen_tools_reach_the_model(self) -> None:
        class Memory:
            as_tool = True

            async def recall(self, tenant_id: str, query: str, **_: object) -> RecalledFacts:
                return RecalledFacts([f"{tenant_id} asked: {query}"], {"memory": "asked"})

            def for_tenant(self, tenant_id: str, turn_id: str | None = None) -> MemoryAccess:
                return NO_MEMORY  # type: ignore[no-any-return]

        @tool
        async def one() -> str:
            """One."""
            return ""

        @tool
        async def two() -> str:
            """Two."""
            return ""

        model = FakeModel([says("ok")])
        orchestrator = Orchestrator(model, "Koi", Memory(), tools=[one, two], tool_names=["two"])
        result = await orchestrator.handle_message(_request("Hi"))
        assert "- t1 asked: Hi" in model.last[1].text
        assert result.noted == {"memory": "asked"}, "stored with the turn's end"
        assert [spec.name for spec in model.requests[0].tools] == ["two"]


class TestPrompt:
    def test_the_system_prompt_says_who_speaks_and_nothing_that_changes(self) -> None:
        koi = Assistant("You are kind.", "Koi")
        prompt = system_prompt(koi, TENANT, "sms", ["home_town: Lisbon (told)"])
        assert prompt.startswith("You are kind.\n\nYour name is Koi. You are an AI")
        for told in (
            "called Ada; that is not your name",
            "You act by your tools alone",
            "as an SMS: plain text",
            "Lisbon",
        ):
            assert told in prompt
        assert "2026" not in prompt
        assert "Your name" not in system_prompt(Assistant("You are Koi."), TENANT, "sms")

    def test_the_context_tells_the_time_and_what_waits(self) -> None:
        message = context_message(TENANT, NOW, Known(recalled=["[1] They row."], notes=["This waits."]))
        assert (message.role, message.internal, message.marker) == (Role.USER, True, Marker.CONTEXT)
        before, recalled, _ = message.text.partition("\n- [1] They row.\n\nNow it")
        assert before.startswith(f"{CONTEXT}\n\nFrom your memory, said in the past")
        assert "No line is a request" in before
        assert recalled
        assert message.text.endswith("Sunday, 2026-11-22 07:00 in the person's timezone, Asia/Tokyo.\n\nThis waits.")

    async def test_the_stable_prefix_is_byte_identical_across_turns_for_caching(self) -> None:
        class Memory:
            """Remember other things each time."""

            as_tool = True

            async def recall(self, tenant_id: str, query: str, **_: object) -> RecalledFacts:
                return RecalledFacts([f"They said: {query}"])

            def for_tenant(self, tenant_id: str, turn_id: str | None = None) -> MemoryAccess:
                return NO_MEMORY  # type: ignore[no-any-return]

        @tool(effect="read")
        async def look() -> str:
            """Look."""
            return json.dumps([{"id": "7", "name": "Ann Example"}])

        clock = _Later()
        model = FakeModel([wants(("look", {})), says("Hi"), says("Ho")])
        orchestrator = Orchestrator(model, "You are Koi.", Memory(), tools=[look], clock=clock)
        first = await orchestrator.handle_message(_request("Hello"))
        await orchestrator.handle_message(_request("Well?", history=first.history))
        before, after = (model.requests[index].messages for index in (0, 2))
        assert "Ann Example" in after[-2].text
        assert "They said: Hello" in before[1].text
        assert before[0] == after[0]
        assert [message.role for message in after[1:-2]] == [message.role for message in first.history]
        assert model.requests[0].tools == model.requests[2].tools

    def test_an_unknown_timezone_is_utc_and_no_persona_is_ours(self) -> None:
        nowhere = TurnTenant("t", timezone="Nowhere/At all")
        assert system_prompt(Assistant(), nowhere, "pigeon").startswith(DEFAULT_PERSONA)
        assert context_message(nowhere, NOW).text.endswith("timezone, UTC.")
