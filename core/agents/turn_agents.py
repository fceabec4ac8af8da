"""The agents of one turn: what they share, and which of them the turn leaves in the pool."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from core.agents.pool_entry import PoolEntry
from core.agents.standard_agent import AgentResult, StandardAgent, Thinking, Valet
from core.approvals.consent import call_order
from core.approvals.requests import ApprovalRequests
from core.approvals.types import NewApproval
from core.budgets.types import NoBudget, TurnBudget
from core.clock import Clock
from core.hooks.hooks import HookContext, Hooks
from core.journal.types import Journal, StepKey, StepRecord
from core.loop.account_check import TurnAccounts
from core.loop.attached import TurnFiles
from core.loop.config import ReactLoopConfig
from core.loop.control import StopOnly, TurnControl
from core.loop.loop import ReactLoop
from core.loop.outside import OutsideText
from core.loop.result import ReactLoopResult
from core.loop.task import LoopTask
from core.tools.context import ToolExecutionContext

MAX_NESTING = 3
"""How deeply agents may use agents."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """How long an agent without a `ttl` may wait for a person, and how many may wait for one person."""

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
    """What the agents of one turn share. `entries` are the turn's pool entries by agent path."""

    loop: ReactLoop
    where: HookContext
    journal: Journal
    make_context: Callable[[str, str], ToolExecutionContext]
    config: ReactLoopConfig
    clock: Clock
    conversation_id: str | None = None
    entries: Mapping[str, PoolEntry] = field(default_factory=dict)
    control: TurnControl | None = None
    budget: TurnBudget = field(default_factory=NoBudget)
    limits: PoolLimits = field(default_factory=PoolLimits)
    make_agent: MakeAgent = make_agent
    execute_agent: ExecuteAgent = execute_agent
    hooks: Hooks = field(default_factory=Hooks)
    approval_requests: ApprovalRequests | None = None
    outside: OutsideText = field(default_factory=OutsideText)
    files: TurnFiles = field(default_factory=TurnFiles)
    accounts: TurnAccounts = field(default_factory=TurnAccounts)
    waiting: dict[str, PoolEntry] = field(default_factory=dict)
    """The pool entries of the agents that wait when the turn stops, by agent path."""
    used: bool = False
    """True once any agent was called."""
    _recorded: dict[StepKey, StepRecord] | None = None

    async def recorded(self) -> Mapping[StepKey, StepRecord]:
        """Return the rows that the journal held before any agent of this run wrote to it."""
        if self._recorded is None:
            self._recorded = {record.key: record for record in await self.journal.recorded()}
        return self._recorded

    @property
    def cards(self) -> tuple[NewApproval, ...]:
        """Return the new requests for approval in the order of the calls, which may have asked side by side."""
        asked = self.approval_requests.new.values() if self.approval_requests else ()
        return tuple(sorted(asked, key=lambda approval: call_order(approval.call_id)))

    async def run_loop(self, task: LoopTask) -> ReactLoopResult:
        """Run an agent's own loop: the turn's loop with its journal and budget, under the agent's path."""
        control = StopOnly(self.control) if self.control else None
        return await self.loop.run(replace(task, control=control, approval_requests=self.approval_requests))


def agent_path(key: StepKey, name: str) -> str:
    return f"{key.agent_path}/" * bool(key.agent_path) + f"{key.step}.{key.call_index}/{name}"


def nesting(agent_path: str) -> int:
    return (agent_path.count("/") + 1) // 2
