"""What can be seen of an agent's run from outside: its states, its record, and code of an operator's own around it."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from core.agents.fields import InputField
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import AgentResult, AgentStatus, StandardAgent
from core.agents.valet import valet
from core.errors import ToolFailed
from core.hooks.hooks import Hook, HookContext
from core.journal.in_memory import MemoryJournal
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnMessage
from core.loop.result import ReactLoopResult
from core.people.tenant import TurnTenant
from core.turns.context import TurnContext
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Place, TurnRequest, TurnWork
from tests.core.builders import FakeModel, Step, says, wants

CONFIG = ReactLoopConfig(llm_retry_base_delay=0.001)


@valet(name="Writer")
class Writer(StandardAgent):
    """Write to somebody."""

    recipient = InputField("To whom?")

    async def on_running(self, msg: str) -> AgentResult:
        if self.recipient == "nobody":
            raise ToolFailed("There is nobody of that name.")
        return self.make_result(raw_message=f"written to {self.recipient}")


class States(Hook):
    """Note each state: (agent path, state)."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    async def state_changed(self, context: HookContext, state: str) -> None:
        self.seen.append((context.agent_path, state))


class Watching(Orchestrator):
    """Run agents with something around them, and keep what the loop gave."""

    ran: list[str]
    loop_result: ReactLoopResult

    async def execute_agent(self, agent: StandardAgent, run: Callable[[], Awaitable[AgentResult]]) -> AgentResult:
        self.ran = [*getattr(self, "ran", []), agent.valet.name]
        result = await run()
        return AgentResult(result.status, f"{result.raw_message}, and checked", result.outputs)

    async def react_loop(self, request: TurnRequest, context: TurnContext) -> ReactLoopResult:
        self.loop_result = await super().react_loop(request, context)
        return self.loop_result


async def turn(*script: Step) -> tuple[Watching, States, FakeModel]:
    states, model = States(), FakeModel(list(script))
    orchestrator = Watching(model, agents=AgentRegistry([Writer]), config=CONFIG, hooks=[states])
    messages = (TurnMessage("m1", "Go", datetime(2026, 11, 21, tzinfo=UTC)),)
    await orchestrator.handle_message(
        TurnRequest(TurnWork("turn1", MemoryJournal()), TurnTenant("t1"), Place("sms"), FromPerson(messages))
    )
    return orchestrator, states, model


async def test_turn_and_agent_states_are_visible_and_the_record_has_the_last() -> None:
    orchestrator, states, _ = await turn(
        wants(("Writer", {"recipient": "ann"}), ("Writer", {"recipient": "nobody"}), ("other", {})), says("ok")
    )
    assert sorted(states.seen[1:-1]) == [
        *(("0.1/Writer", "COMPLETED"), ("0.1/Writer", "RUNNING")),
        *(("0.2/Writer", "ERROR"), ("0.2/Writer", "RUNNING")),
    ]
    assert (states.seen[0], states.seen[-1]) == (("", "running"), ("", "done"))
    records = orchestrator.loop_result.tool_calls
    assert [record.result_status for record in records] == ["COMPLETED", "ERROR", None]
    assert [record.success for record in records] == [True, False, False]
    assert all(record.token_attribution and record.token_attribution.total == 110 for record in records)


async def test_an_agent_that_asks_is_seen_to_wait() -> None:
    orchestrator, states, _ = await turn(wants(("Writer", {})))
    assert states.seen == [("", "running"), ("0.1/Writer", "WAITING_FOR_INPUT"), ("", "waiting")]
    assert [tool_call.result_status for tool_call in orchestrator.loop_result.tool_calls] == [
        AgentStatus.WAITING_FOR_INPUT.value
    ]


async def test_a_subclass_puts_its_own_code_around_an_agents_run() -> None:
    orchestrator, _, model = await turn(wants(("Writer", {"recipient": "ann"})), says("ok"))
    assert orchestrator.ran == ["Writer"]
    assert model.told() == ["written to ann, and checked"]
