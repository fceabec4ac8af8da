"""Each error class of a turn, whole: orchestrator, loop and litellm against a scripted server, read as a stream."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pytest

from core import replies
from core.journal.in_memory import MemoryJournal
from core.llm.types import ChatMessage, Role
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.tools.tool import AnyTool, tool
from core.turns.event_stream import StreamEventType
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Kept, Place, TurnRequest, TurnResult, TurnState, TurnWork
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import user
from tests.core.turns.test_orchestrator import NOW
from tests.eventually import never
from tests.patience import PATIENCE
from tests.scripted_model import Reply, ScriptedModel, calls, cut, error, hang, malformed, text

# litellm 1.106 looks through the last piece of a stream in a way that pydantic will drop.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

QUICK = ReactLoopConfig(
    llm_retry_base_delay=0.01, llm_first_token_timeout=0.5, llm_timeout=0.5, tool_execution_timeout=0.2
)
PATIENT = ReactLoopConfig(llm_retry_base_delay=0.01)


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(effect="read")
async def hangs() -> str:
    """Never come back."""
    await never()
    return "never"


@tool(effect="read")
async def explodes() -> str:
    """Raise."""
    raise RuntimeError("password=hunter2")


@dataclass
class Line:
    """A scripted server and the way to it."""

    model: ScriptedModel
    client: LiteLLMClient

    async def turn(
        self,
        *replies: Reply,
        tools: Sequence[AnyTool] = (add, hangs, explodes),
        history: Sequence[ChatMessage] = (),
        config: ReactLoopConfig = PATIENT,
    ) -> TurnResult:
        """Run one turn, and see that its end is told exactly once."""
        self.model.add(*replies)
        messages = (TurnMessage("m", "What is it?", NOW),)
        request = TurnRequest(
            TurnWork("turn", MemoryJournal()), TurnTenant("t"), Place("sms"), FromPerson(messages), Kept(tuple(history))
        )
        orchestrator = Orchestrator(self.client, "You are Koi.", tools=tools, config=config)
        events = [event async for event in orchestrator.stream_message(request)]
        assert [event.type for event in events].count(StreamEventType.EXECUTION_END) == 1
        assert self.model.waiting == 0
        result = events[-1].result
        assert result is not None
        for secret in ("scripted error", "sk-test-secret", "Error", "hunter2"):
            assert secret not in result.reply
        return result


@pytest.fixture
async def line(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Line]:
    async with ScriptedModel([]) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
        client = LiteLLMClient("openai/scripted")
        await client.warm_up()
        line = Line(model, client)
        yield line
        await client.close()
        await line.client.close()


class TestTheModel:
    async def test_a_rate_limit_is_waited_out_as_long_as_it_says(self, line: Line) -> None:
        await line.turn(text("warm"))
        began = time.monotonic()
        assert (await line.turn(error(429, retry_after=0.6), text("Seven"))).reply == "Seven"
        assert time.monotonic() - began >= 0.6
        assert (await line.turn(error(429), error(429), text("Seven"))).reply == "Seven"

    async def test_one_beyond_our_patience_goes_to_the_next_layer_at_once_or_is_told(self, line: Line) -> None:
        async with asyncio.timeout(PATIENCE):  # a fraction of what the provider asks for
            result = await line.turn(error(429, retry_after=300))
            assert (result.state, result.reason, result.reply) == (TurnState.FAILED, "model_down", replies.MODEL_DOWN)
            line.client = LiteLLMClient("openai/scripted", ["openai/other"])
            assert (await line.turn(error(429, retry_after=300), text("Seven"))).reply == "Seven"
        assert line.model.calls[-1].body["model"] == "other"

    async def test_a_refused_key_is_the_operators_to_mend(self, line: Line) -> None:
        result = await line.turn(error(401, message="Incorrect API key provided: sk-test-secret"))
        assert (result.state, result.reason, result.reply) == (TurnState.FAILED, "model_auth", replies.MODEL_AUTH)

    async def test_a_spent_quota_is_the_operators_to_mend_and_asked_once(self, line: Line) -> None:
        spent = error(429, code="insufficient_quota", message="You exceeded your current quota.")
        result = await line.turn(spent)
        assert (result.state, result.reason) == (TurnState.FAILED, "model_quota")
        assert result.reply == replies.MODEL_QUOTA
        assert "minutes" not in result.reply
        assert len(line.model.calls) == 1

    @pytest.mark.parametrize(
        "overflow",
        [
            error(400, code="context_length_exceeded", message="This model's maximum context length is 8192 tokens."),
            error(400, message="prompt is too long: 210000 tokens > 200000 maximum"),
            error(
                400, message="The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
            ),
        ],
    )
    async def test_an_overflow_is_answered_from_less_and_else_names_the_way_out(
        self, line: Line, overflow: Reply
    ) -> None:
        history = [user(f"m{n}") if n % 2 == 0 else ChatMessage(Role.ASSISTANT, f"a{n}") for n in range(60)]
        assert (await line.turn(overflow, text("Seven"), history=history)).reply == "Seven"
        first, second = line.model.calls
        assert len(second.messages) < len(first.messages)
        assert (second.system, second.last_user) == (first.system, "What is it?")
        result = await line.turn(*[overflow] * 3, history=history)
        assert (result.state, result.reason) == (TurnState.FAILED, "context_overflow")
        assert "NEW" in result.reply

    @pytest.mark.parametrize("trouble", [error(500), error(503), cut(), malformed(), hang(10 * PATIENCE)])
    async def test_what_passes_is_tried_again_and_what_stays_is_told(self, line: Line, trouble: Reply) -> None:
        await line.turn(text("warm"))
        times = 2 if trouble.delay else 3
        async with asyncio.timeout(PATIENCE):
            assert (await line.turn(trouble, text("Seven"), config=QUICK)).reply == "Seven"
            result = await line.turn(*[trouble] * times, config=QUICK)
        assert (result.state, result.reason, result.reply) == (TurnState.FAILED, "model_down", replies.MODEL_DOWN)

    async def test_empty_answers_are_asked_again_and_owned_up_to(self, line: Line) -> None:
        assert (await line.turn(text(""), text("Seven"))).reply == "Seven"
        assert line.model.calls[-1].last_user == replies.SAY_SOMETHING
        result = await line.turn(text(" "), text("\n"))
        assert (result.state, result.reason, result.reply) == (TurnState.DONE, "empty", replies.NOTHING_SAID)


class TestCalls:
    async def test_a_model_that_goes_away_after_a_tool_ran_does_not_run_it_again(self, line: Line) -> None:
        ran: list[int] = []

        @tool
        async def send() -> str:
            """Send."""
            ran.append(1)
            return "sent"

        line.client = LiteLLMClient("openai/scripted", ["openai/other"])
        result = await line.turn(calls(("send", {})), error(401), text("It is sent"), tools=[send])
        assert (result.reply, ran) == ("It is sent", [1])
        assert list(line.model.calls[-1].tool_results.values()) == ["sent"]

    async def test_of_parallel_calls_one_hangs_one_raises_and_the_others_count(self, line: Line) -> None:
        wanted = calls(("hangs", {}), ("explodes", {}), ("add", {"a": 3, "b": 4}), ("add", {"a": 1, "b": 1}))
        result = await line.turn(wanted, text("Seven"), config=QUICK)
        assert result.reply == "Seven"
        late, failed, seven, two = line.model.calls[-1].tool_results.values()
        assert "no answer within 0.2 seconds" in late
        assert "failed with an internal error" in failed
        assert (seven, two) == ("7", "2")
        assert "hunter2" not in repr(line.model.calls)

    async def test_malformed_calls_and_unknown_tools_are_answered_with_what_is_right(self, line: Line) -> None:
        result = await line.turn(
            calls(("add", '{"a": 1, "b"'), ("add", {"a": "x", "b": 2, "c": 3}), ("addd", {}), ("add", "[]")),
            calls(("add", {"a": 3, "b": 4})),
            text("Seven"),
        )
        assert result.reply == "Seven"
        results = list(line.model.calls[1].tool_results.values())
        assert "not valid JSON" in results[0]
        assert "a: Input should be a valid integer" in results[1]
        assert "no tool named 'addd'. Did you mean add?" in results[2]
        assert "must be one JSON object" in results[3]
        assert len(line.model.calls) == 3

    @pytest.mark.parametrize(
        "wrong", ['{"a": ' * 2000 + "1" + "}" * 2000, '{"a": ' * 300 + "1" + "}" * 300, '{"a": NaN}']
    )
    async def test_arguments_nested_without_end_are_the_models_to_mend(self, line: Line, wrong: str) -> None:
        result = await line.turn(calls(("add", wrong)), calls(("add", {"a": 3, "b": 4})), text("Seven"))
        assert (result.state, result.reply) == (TurnState.DONE, "Seven")
        assert "not valid JSON" in next(iter(line.model.calls[1].tool_results.values()))

    async def test_calls_that_keep_failing_end_in_what_is_known(self, line: Line) -> None:
        result = await line.turn(*[calls(("explodes", {}))] * 3, text("It does not work."))
        assert (result.reply, result.reason) == ("It does not work.", "errors")
        assert line.model.calls[-1].tools == []
