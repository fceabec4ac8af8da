"""The agents of a turn and the state they share: its loop, its budget, its requests for approval."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from core.agents.held_calls import earlier_holds
from core.agents.turn_agents import ExecuteAgent, MakeAgent, PoolLimits, TurnAgents
from core.approvals.requests import ApprovalRequests
from core.approvals.store import ApprovalStore
from core.budgets.store import DailyBudgets
from core.budgets.types import NoBudget
from core.hooks.hooks import HookContext, Hooks
from core.loop.account_check import EarlierHold, TurnAccounts
from core.loop.config import ReactLoopConfig
from core.loop.loop import ReactLoop
from core.loop.outside import OutsideText
from core.loop.scope import TurnScope
from core.tools.context import ToolExecutionContext
from core.tools.tool import AnyTool
from core.turns.consents import turn_consents
from core.turns.decide_tool import decide_tool
from core.turns.services import TurnServices
from core.turns.types import TurnRequest

RUN_PATIENCE = timedelta(days=30)
"""The time that a task's run waits for an account: nobody was there, and its next run takes its place."""


@dataclass(frozen=True, slots=True)
class AgentSteps:
    """The orchestrator's own steps for agents, which a subclass may replace."""

    make: MakeAgent
    execute: ExecuteAgent
    make_context: Callable[[TurnRequest, str, str], ToolExecutionContext]


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """The parts that an orchestrator hands to the agents of each turn. `limits` bound the pool."""

    loop: ReactLoop
    config: ReactLoopConfig
    hooks: Hooks
    services: TurnServices
    limits: PoolLimits
    steps: AgentSteps
    approvals: ApprovalStore | None = None
    budgets: DailyBudgets | None = None

    def for_turn(self, request: TurnRequest) -> TurnAgents:
        """Return the state that the agents of a turn share."""
        own = {entry.agent_path: entry for entry in request.kept.pool if entry.turn_id == request.turn_id}
        scope = TurnScope(
            where=where(request),
            journal=request.work.journal,
            make_context=lambda tool, key: self.steps.make_context(request, tool, key),
            config=self.config,
            hooks=self.hooks.plus(request.work.hooks),
            control=request.work.control,
            budget=self.budgets.of(request.payer) if self.budgets else NoBudget(),
            approval_requests=self._approval_requests(request),
            accounts=self._accounts(request, earlier_holds(own.values()) if own else {}),
            outside=OutsideText(passed_on=request.passed_on, client=request.by_client),
        )
        return TurnAgents(
            loop=self.loop,
            scope=scope,
            clock=self.services.clock,
            conversation_id=request.place.conversation_id,
            entries=own,
            limits=self.limits,
            make_agent=self.steps.make,
            execute_agent=self.steps.execute,
            loop_hooks=self.hooks,
        )

    def decide_tools(self, request: TurnRequest, offered: Collection[str] = ()) -> Sequence[AnyTool]:
        """Return the tool that hands on decisions in words; nothing if the turn's messages can decide nothing.

        `offered`: the tools of earlier turns that the conversation goes on to be offered.
        """
        if self.approvals is None:
            return ()
        tool = decide_tool(request, self.approvals, self.services.clock, request.kept.approvals, offered)
        return () if tool is None else (tool,)

    def _accounts(self, request: TurnRequest, earlier: Mapping[str, EarlierHold]) -> TurnAccounts:
        tenant_id, in_run, asker = request.tenant.id, request.sender is None, self.services.account_asker
        access = self.services.accounts.for_tenant(tenant_id) if self.services.accounts else None
        prompts = None
        if asker is not None:
            prompts = asker.for_turn(tenant_id, request.turn_id, request.place.conversation_id, in_run=in_run)
        return TurnAccounts(access, prompts, earlier, RUN_PATIENCE if in_run else None)

    def _approval_requests(self, request: TurnRequest) -> ApprovalRequests | None:
        if self.approvals is None or not request.place.conversation_id:
            return None
        return ApprovalRequests(
            self.approvals,
            request.tenant.id,
            request.turn_id,
            self.services.clock,
            request.kept.approvals,
            "message" if request.sender is not None else "trigger",
            max_at_once=self.config.max_cards_per_answer,
            too_long=request.place.too_long,
            open_for=timedelta(minutes=self.config.approval_timeout_minutes),
            standing=turn_consents(request, self.services),
        )


def where(request: TurnRequest) -> HookContext:
    """Return the turn's identity as hooks get it with each event."""
    return HookContext(request.turn_id, request.tenant.id, request.channel)
