"""The agents of one turn: what they share, and which of them the turn leaves in the pool."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Protocol

from core.agents.pool_entry import PoolEntry
from core.agents.standard_agent import AgentResult, StandardAgent, Thinking
from core.agents.valet import Valet
from core.approvals.consent import Consents, place_order
from core.approvals.types import NewApproval
from core.budgets.types import NoBudget, TurnBudget
from core.clock import Clock
from core.hooks.hooks import HookContext, Hooks
from core.journal.types import Journal, StepKey, StepRecord
from core.llm.types import TokenUsage
from core.loop.config import ReactLoopConfig
from core.loop.control import TurnControl, TurnMessage
from core.loop.loop import LoopTask, ReactLoop
from core.loop.result import ReactLoopResult
from core.tools.context import ToolExecutionContext

MAX_NESTING = 3
"""How deep agents may use agents."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """How long an agent may wait for a person unless it says so itself, and how many may wait for one person."""

    ttl: timedelta = timedelta(hours=24)
    most: int = 10


class MakeAgent(Protocol):
    """Make an agent: the orchestrator's `create_agent`."""

    async def __call__(
        self,
        valet: Valet,
        context: ToolExecutionContext,
        thinking: Thinking,
        values: Mapping[str, Any],
        instruction: str,
    ) -> StandardAgent: ...


async def make_agent(
    valet: Valet, context: ToolExecutionContext, thinking: Thinking, values: Mapping[str, Any], instruction: str
) -> StandardAgent:
    """Make an agent of its class."""
    return valet.agent(context, thinking, values=values, instruction=instruction)


class ExecuteAgent(Protocol):
    """Run an agent's handler, which `run` does: the orchestrator's `execute_agent`."""

    async def __call__(self, agent: StandardAgent, run: Callable[[], Awaitable[AgentResult]]) -> AgentResult: ...


async def execute_agent(agent: StandardAgent, run: Callable[[], Awaitable[AgentResult]]) -> AgentResult:
    """Run it."""
    return await run()


@dataclass(slots=True)
class TurnAgents:
    """What the agents of one turn share. `entries` are the turn's own in the pool, by agent path."""

    loop: ReactLoop
    where: HookContext
    journal: Journal
    make_context: Callable[[str, str], ToolExecutionContext]
    config: ReactLoopConfig
    clock: Clock
    conversation_id: str = ""
    entries: Mapping[str, PoolEntry] = field(default_factory=dict)
    control: TurnControl | None = None
    budget: TurnBudget = field(default_factory=NoBudget)
    limits: PoolLimits = field(default_factory=PoolLimits)
    make_agent: MakeAgent = make_agent
    execute_agent: ExecuteAgent = execute_agent
    hooks: Hooks = field(default_factory=Hooks)
    consents: Consents | None = None
    new_approvals: Mapping[str, NewApproval] = field(default_factory=dict)
    """What this run of the turn asks consent to, by place."""
    waiting: dict[str, PoolEntry] = field(default_factory=dict)
    """Those that wait when the turn stops, by agent path."""
    used: bool = False
    """Whether any agent was called."""
    _recorded: dict[StepKey, StepRecord] | None = None

    async def recorded(self) -> Mapping[StepKey, StepRecord]:
        """Return what the journal held before any agent of this run wrote to it."""
        if self._recorded is None:
            self._recorded = {record.key: record for record in await self.journal.recorded()}
        return self._recorded

    @property
    def cards(self) -> tuple[NewApproval, ...]:
        """Return what the person is to be shown, in the order of the calls, which may have asked side by side."""
        return tuple(sorted(self.new_approvals.values(), key=lambda one: place_order(one.place)))

    async def run_loop(self, task: LoopTask) -> ReactLoopResult:
        """Run an agent's own loop: the turn's loop, journal and budget, under the agent's path."""
        control = _StopOnly(self.control) if self.control else None
        return await self.loop.run(replace(task, control=control, consents=self.consents))


async def used_tokens(journal: Journal) -> TokenUsage:
    """Add up what all loops of a turn have used."""
    return sum((one.usage for one in await journal.recorded()), TokenUsage())


def agent_path(key: StepKey, name: str) -> str:
    """Return the path of an agent that a call of a loop runs."""
    return f"{key.agent_path}/" * bool(key.agent_path) + f"{key.step}.{key.call_index}/{name}"


def nesting(agent_path: str) -> int:
    """Count the agents that a path leads through."""
    return (agent_path.count("/") + 1) // 2


@dataclass(frozen=True, slots=True)
class _StopOnly:
    """Let an agent's own loop be stopped; what the person writes meanwhile is for the turn's."""

    control: TurnControl

    async def stopped(self) -> str | None:
        return await self.control.stopped()

    async def absorb(self) -> Sequence[TurnMessage]:
        return ()
