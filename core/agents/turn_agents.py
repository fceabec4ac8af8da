"""The agents of a turn: their shared state, and the pool entries that the turn leaves."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from core.agents.pool_entry import PoolEntry
from core.agents.standard_agent import AgentResult, StandardAgent, Thinking, Valet
from core.approvals.consent import call_order
from core.approvals.types import NewApproval
from core.clock import Clock
from core.hooks.hooks import Hooks
from core.journal.types import StepKey, StepRecord
from core.loop.context_window import Messages
from core.loop.control import StopOnly
from core.loop.loop import ReactLoop
from core.loop.result import ReactLoopResult
from core.loop.scope import LoopTask, TurnScope
from core.tools.context import ToolExecutionContext
from core.tools.toolbox import ToolRegistry

MAX_NESTING = 3
"""The depth to which agents may use agents."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """The longest wait of an agent without a `ttl`, and the number of agents that may wait for a person."""

    ttl: timedelta = timedelta(hours=24)
    max_waiting: int = 10


type MakeAgent = Callable[[Valet, ToolExecutionContext, Thinking, Mapping[str, Any], str], Awaitable[StandardAgent]]
"""Makes an agent from its values and instruction: the orchestrator's `create_agent`."""
type ExecuteAgent = Callable[[StandardAgent, Callable[[], Awaitable[AgentResult]]], Awaitable[AgentResult]]
"""Runs an agent's handler, which is the second argument: the orchestrator's `execute_agent`."""


async def make_agent(
    valet: Valet, context: ToolExecutionContext, thinking: Thinking, values: Mapping[str, Any], instruction: str
) -> StandardAgent:
    return valet.agent(context, thinking, values=values, instruction=instruction)


async def execute_agent(agent: StandardAgent, run: Callable[[], Awaitable[AgentResult]]) -> AgentResult:
    return await run()


@dataclass(slots=True)
class TurnAgents:
    """The shared state of the agents of a turn. `entries` are the turn's pool entries by agent path."""

    loop: ReactLoop
    scope: TurnScope
    clock: Clock
    conversation_id: str | None = None
    entries: Mapping[str, PoolEntry] = field(default_factory=dict)
    limits: PoolLimits = field(default_factory=PoolLimits)
    make_agent: MakeAgent = make_agent
    execute_agent: ExecuteAgent = execute_agent
    loop_hooks: Hooks = field(default_factory=Hooks)
    """The hooks of every turn, which run in an agent's own loop too; the turn's own hooks run in its own loop only."""
    waiting: dict[str, PoolEntry] = field(default_factory=dict)
    """The pool entries of the agents that wait when the turn stops, by agent path."""
    used: bool = False
    """True once any agent was called."""
    _recorded: dict[StepKey, StepRecord] | None = None

    async def recorded(self) -> Mapping[StepKey, StepRecord]:
        """Return the rows that the journal held before any agent of this run wrote to it."""
        if self._recorded is None:
            self._recorded = {record.key: record for record in await self.scope.journal.recorded()}
        return self._recorded

    @property
    def cards(self) -> tuple[NewApproval, ...]:
        """Return the new requests for approval in the order of the calls, which may have asked at the same time."""
        asked = self.scope.approval_requests.new.values() if self.scope.approval_requests else ()
        return tuple(sorted(asked, key=lambda approval: call_order(approval.call_id)))

    async def run_loop(self, path: str, messages: Messages, tools: ToolRegistry) -> ReactLoopResult:
        """Run an agent's own loop: the turn's loop with its journal and budget, under the agent's path."""
        scope = self.scope
        control, where = StopOnly(scope.control) if scope.control else None, replace(scope.where, agent_path=path)
        scope = replace(scope, where=where, control=control, hooks=self.loop_hooks)
        return await self.loop.run(LoopTask(scope, messages, tools))


def agent_path(key: StepKey, name: str) -> str:
    return f"{key.agent_path}/" * bool(key.agent_path) + f"{key.step}.{key.call_index}/{name}"


def nesting(agent_path: str) -> int:
    return (agent_path.count("/") + 1) // 2
