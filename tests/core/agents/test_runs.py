"""Agents inside the loop: their own tools and loop, what happens once, and what may go wrong."""

import asyncio
from collections import Counter
from datetime import UTC, datetime

import pytest

from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, StandardAgent
from core.agents.turn_agents import MAX_NESTING
from core.agents.valet import valet
from core.errors import ConfigError, ToolFailed
from core.journal.in_memory import MemoryJournal
from core.journal.types import Journal, StepRecord
from core.llm.types import ToolCall
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.people.tenant import TurnTenant
from core.tools.tool import AnyTool, tool
from core.turns.orchestrator import Orchestrator
from core.turns.types import FirstCall, FromPerson, Place, TurnRequest, TurnState, TurnWork
from tests.core.builders import FakeModel, Step, says, wants
from tests.eventually import never

CONFIG = ReactLoopConfig(llm_retry_base_delay=0.001)
DONE: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    DONE.clear()


@tool
async def send(to: str) -> str:
    """Send."""
    DONE[f"send {to}"] += 1
    return f"sent to {to}"


@tool(effect="read")
async def look(at: str) -> str:
    """Look."""
    return f"saw {at}"


@valet(name="Worker")
class Worker(StandardAgent):
    """Work with tools."""

    tools = (send, look)


@valet(name="Writer")
class Writer(StandardAgent):
    """Write once."""

    async def on_running(self, msg: str) -> AgentResult:
        DONE["written"] += 1
        return self.make_result(raw_message="written")


class Killed(BaseException):
    """Stands for kill -9: nothing of ours may catch it."""


class DyingJournal(MemoryJournal):
    """Keep rows over the death of the process that wrote them; die before or after the n-th write."""

    def __init__(self, dies_at: int, *, after: bool) -> None:
        super().__init__()
        self.left, self.after = dies_at, after

    async def write(self, *records: StepRecord) -> None:
        self.left -= 1
        if self.left < 0 or (self.left == 0 and not self.after):
            raise Killed
        await super().write(*records)
        if self.left == 0:
            raise Killed


async def turn(
    script: list[Step] | FakeModel,
    *agents: type[StandardAgent],
    journal: Journal | None = None,
    tools: tuple[AnyTool, ...] = (),
    starts: ToolCall | None = None,
    config: ReactLoopConfig = CONFIG,
) -> tuple[str, FakeModel]:
    """Run one turn; give what is said, and the model."""
    model = script if isinstance(script, FakeModel) else FakeModel(script)
    orchestrator = Orchestrator(model, tools=tools, agents=AgentRegistry(agents), config=config)
    messages = (TurnMessage("m1", "Go", datetime(2026, 11, 21, tzinfo=UTC)),)
    inbound, first = ((), FirstCall(starts)) if starts else (messages, None)
    request = TurnRequest(
        TurnWork("turn1", journal or MemoryJournal()), TurnTenant("t1"), Place("sms"), FromPerson(inbound), starts=first
    )
    result = await orchestrator.handle_message(request)
    assert result.state is TurnState.DONE
    return result.reply, model


SCRIPT: tuple[Step, ...] = (
    wants(("Worker", {"task_instruction": "send a and b"})),
    wants(("send", {"to": "a"}), ("look", {"at": "x"})),
    wants(("send", {"to": "b"})),
    says("Both sent"),
    says("All done"),
)


async def test_an_agent_works_with_its_own_tools_in_the_same_loop_and_journal() -> None:
    journal = MemoryJournal()
    answer, model = await turn(list(SCRIPT), Worker, journal=journal)
    assert answer == "All done"
    assert DONE == {"send a": 1, "send b": 1}
    assert [tool.name for tool in model.requests[1].tools] == ["send", "look"]
    assert [tool.name for tool in model.requests[4].tools] == ["Worker"]
    assert model.told() == ["Both sent"]
    paths = {(record.key.agent_path, record.key.step, record.key.call_index) for record in await journal.recorded()}
    inside = "0.1/Worker"
    assert {path for path in paths if path[0]} == {
        (inside, -1, 1), (inside, 0, 0), (inside, 0, 1), (inside, 0, 2), (inside, 1, 0), (inside, 1, 1), (inside, 2, 0)
    }  # fmt: skip


# 5 answers, 2 once calls and the agent's own run with two rows each, 1 read call and the agent's call with one.
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("dies_at", range(1, 14))
async def test_promise_5_each_step_inside_an_agent_happens_once_under_kills(dies_at: int, after: bool) -> None:
    journal = DyingJournal(dies_at, after=after)
    with pytest.raises(Killed):
        await turn(list(SCRIPT), Worker, journal=journal)
    rows = list(await journal.recorded())
    answered = sum(1 for row in rows if row.key.call_index == 0)
    answer, model = await turn(list(SCRIPT[answered:]), Worker, journal=MemoryJournal(rows))
    assert answer == "All done"
    assert not model.script
    assert all(count == 1 for count in DONE.values())
    started = {f"send {'ab'[row.key.step]}" for row in rows if row.state == "started" and row.name == "send"}
    assert set(DONE) | started == {"send a", "send b"}


@pytest.mark.parametrize(("dies_at", "after", "times"), [(2, False, 1), (2, True, 0), (3, False, 1), (3, True, 1)])
async def test_promise_5_an_agents_own_code_is_not_run_twice(dies_at: int, after: bool, times: int) -> None:
    journal = DyingJournal(dies_at, after=after)
    with pytest.raises(Killed):
        await turn([wants(("Writer", {}))], Writer, journal=journal)
    _, model = await turn([says("ok")], Writer, journal=MemoryJournal(await journal.recorded()))
    assert DONE["written"] == times
    unknown = (dies_at, after) in ((2, True), (3, False))
    assert ("outcome of this call is unknown" in model.told()[0]) is unknown


async def test_promise_14_what_an_agent_raises_is_not_told() -> None:
    @valet(name="Broken")
    class Broken(StandardAgent):
        """Break."""

        async def on_running(self, msg: str) -> AgentResult:
            raise RuntimeError("password=hunter2")

    _, model = await turn([wants(("Broken", {})), says("ok")], Broken)
    assert "hunter2" not in model.told()[0]
    assert "Broken failed with an internal error" in model.told()[0]


async def test_an_agents_own_error_is_told_and_the_loop_goes_on() -> None:
    @valet(name="Sorry")
    class Sorry(StandardAgent):
        """Fail."""

        async def on_running(self, msg: str) -> AgentResult:
            raise ToolFailed("The mailbox is full.")

    answer, model = await turn([wants(("Sorry", {})), says("It is full")], Sorry)
    assert (answer, model.told()) == ("It is full", ["The mailbox is full."])


async def test_an_agent_past_its_own_time_limit_has_an_unknown_outcome() -> None:
    @valet(name="Slow", timeout=0.05)
    class Slow(StandardAgent):
        """Be slow."""

        async def on_running(self, msg: str) -> AgentResult:
            await never()
            return self.make_result()

    script: list[Step] = [wants(("Slow", {})), wants(("Slow", {})), says("ok")]
    _, model = await turn(script, Slow)
    assert "gave no answer within 0.05 seconds" in model.told()[0]
    assert "unknown" in model.told()[0]
    assert model.told()[1].startswith("Not run: an earlier call with the same arguments")


async def test_an_agent_may_outlast_the_time_of_tools() -> None:
    @valet(name="Steady")
    class Steady(StandardAgent):
        """Take a while."""

        async def on_running(self, msg: str) -> AgentResult:
            await asyncio.sleep(0.1)
            return self.make_result(raw_message="there")

    config = ReactLoopConfig(tool_execution_timeout=0.02, agent_tool_execution_timeout=5)
    _, model = await turn([wants(("Steady", {})), says("ok")], Steady, config=config)
    assert model.told() == ["there"]
    assert config.agent_tool_execution_timeout == 5
    assert CONFIG.agent_tool_execution_timeout == 120


async def test_agents_use_agents_only_so_deep() -> None:
    @valet(name="Deep")
    class Deep(StandardAgent):
        """Go deeper."""

    Deep.tools = (Deep,)
    script: list[Step] = [wants(("Deep", {})) for _ in range(MAX_NESTING + 1)]
    script += [says("bottom") for _ in range(MAX_NESTING + 1)]
    answer, model = await turn(script, Deep)
    assert answer == "bottom"
    offered = [[tool.name for tool in request.tools] for request in model.requests]
    assert offered[: MAX_NESTING + 1] == [["Deep"]] * MAX_NESTING + [[]]


async def test_an_agent_that_needs_approval_does_not_run_where_none_can_be_asked() -> None:
    @valet(name="Careful")
    class Careful(Writer):
        """Ask first."""

        def needs_approval(self) -> bool:
            return True

    _, model = await turn([wants(("Careful", {})), says("ok")], Careful)
    assert "needs an approval" in model.told()[0]
    assert not DONE


async def test_an_unexposed_agent_is_never_offered_but_may_start_a_turn() -> None:
    @valet(name="Hidden", expose_as_tool=False)
    class Hidden(Writer):
        """Work in the dark."""

    _, model = await turn([wants(("Hidden", {})), says("no")], Hidden)
    assert "There is no tool named 'Hidden'" in model.told()[0]
    assert not model.requests[0].tools
    answer, model = await turn([says("It is written")], Hidden, starts=ToolCall("c1", "Hidden", "{}"))
    assert (answer, model.told(), DONE["written"]) == ("It is written", ["written"], 1)


async def test_an_unknown_parameter_is_the_models_to_mend() -> None:
    _, model = await turn([wants(("Worker", {"nope": 1})), says("ok")], Worker)
    assert model.told() == ["Worker has no parameter 'nope'. It takes: task_instruction."]


def test_an_agent_and_a_tool_of_one_name_are_an_error() -> None:
    @tool(name="Worker", effect="read")
    async def same() -> str:
        """Be the same."""
        return ""

    with pytest.raises(ConfigError, match="An agent and a tool are named 'Worker'"):
        Orchestrator(FakeModel([]), tools=[same], agents=AgentRegistry([Worker]))
