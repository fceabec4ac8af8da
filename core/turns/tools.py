"""The tools and agents of a turn, and the state that they share: its loop, its budget, its requests for approval."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from core.agents.held_calls import earlier_holds
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import Valet
from core.agents.tool import agent_tool
from core.agents.turn_agents import ExecuteAgent, MakeAgent, PoolLimits, TurnAgents
from core.approvals.requests import ApprovalRequests
from core.approvals.store import ApprovalStore
from core.budgets.store import DailyBudgets
from core.budgets.types import NoBudget
from core.credentials.needs import serves
from core.credentials.types import Account
from core.hooks.hooks import HookContext, Hooks
from core.loop.account_check import EarlierHold, TurnAccounts
from core.loop.config import ReactLoopConfig
from core.loop.loop import ReactLoop
from core.loop.outside import OutsideText
from core.loop.scope import TurnScope
from core.people.tiers import Tiers
from core.tools.context import ToolExecutionContext
from core.tools.doing import doing_in_words
from core.tools.person_access import AccountAccess
from core.tools.tool import AnyTool, ToolSource
from core.tools.toolbox import ToolRegistry
from core.turns.consents import turn_consents
from core.turns.decide_tool import decide_tool
from core.turns.services import TurnServices
from core.turns.types import TurnRequest
from core.turns.undo import Undo, undo_tool

SEVERAL_ACCOUNTS = "several_accounts"
"""The name under which an ability's `sql/open_turn.sql` brings whether the person has more than one account."""
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
        if asker is not None and not request.kept.among:
            prompts = asker.for_turn(tenant_id, request.turn_id, request.place.conversation_id, in_run=in_run)
        return TurnAccounts(access, prompts, earlier, RUN_PATIENCE if in_run else None)

    def _approval_requests(self, request: TurnRequest) -> ApprovalRequests | None:
        if self.approvals is None or not request.place.conversation_id or request.kept.among:
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
            others=self.services.other_deciders(request.tenant.id, request.turn_id),
        )


def where(request: TurnRequest) -> HookContext:
    """Return the turn's identity as hooks get it with each event."""
    return HookContext(request.turn_id, request.tenant.id, request.channel)


class ToolOffer:
    """The tools and agents of a deployment. Raises `ConfigError` for names that are unknown or taken twice.

    `tool_names` and `agent_names` limit the tools and agents that the model is offered; None: all of that kind. An
    agent's name may also be that of a tool that is marked as an agent.
    """

    def __init__(
        self,
        tools: Iterable[AnyTool],
        agents: AgentRegistry,
        services: TurnServices,
        *,
        tiers: Tiers | None = None,
        tool_names: Sequence[str] | None = None,
        agent_names: Sequence[str] | None = None,
        sources: Sequence[ToolSource] = (),
    ) -> None:
        every = ToolRegistry(tools)
        self.inverses = ToolRegistry(tool for tool in every if tool.inverse)
        registry = ToolRegistry(tool for tool in every if not tool.inverse)
        agents.check_names(registry)
        plain = None if agent_names is None else [name for name in agent_names if not agents.get(name)]
        self.tools = _exposed(registry, tool_names, plain)
        self.agents = agents
        self._offered = agents.offered(agent_names)
        self._services = services
        self._tiers = tiers
        self._sources = sources

    async def for_turn(self, request: TurnRequest, agents: TurnAgents, own: Sequence[AnyTool]) -> ToolRegistry:
        """Return the tools of a turn. `own` are the turn's own, which are never left out."""
        names = self._tiers.tools_of(request.tenant.role, request.tenant.tier) if self._tiers else None
        if group := request.kept.among:
            names = tuple(group.tools.intersection(names or group.tools))
        tools = [tool for tool in self.tools if (names is None or tool.name in names) and self._equipped(tool)]
        for source in self._sources:
            further = await source.tools_for(request.tenant.id, request.kept.described)
            tools += [tool for tool in further if names is None or tool.name in names]
        tools += [agent_tool(valet, agents) for valet in self._valets(request, names)]
        if self._services.undo is not None:
            tools.append(undo_tool(Undo(self._services.undo, self.inverses, agents, request.tenant)))
        if request.kept.brought.get(SEVERAL_ACCOUNTS, True):
            tools = [*await self._with_accounts(tools, agents.scope.accounts.access)]
        return ToolRegistry([*tools, *own])

    def _valets(self, request: TurnRequest, names: Collection[str] | None) -> Sequence[Valet]:
        """Return the agents of a turn: those that are offered, and the agent with which the turn begins."""
        offered = [valet for valet in self._offered if names is None or valet.name in names]
        started = self.agents.get(request.starts.call.name) if request.starts else None
        return offered if started is None or started in offered else [*offered, started]

    def _equipped(self, tool: AnyTool) -> bool:
        """Return whether this deployment has the memory and the setting that a tool needs."""
        if tool.needs_setting and not self._services.settings.get(tool.needs_setting):
            return False
        memory = self._services.memory
        return not tool.needs_memory or (memory is not None and (tool.needs_memory == "on" or memory.as_tool))

    def doing(self, name: str) -> str:
        """Return the activity of a tool's or an agent's call, in words for the person who waits."""
        return doing_in_words(self.tools.get(name), name)

    async def _with_accounts(self, tools: Sequence[AnyTool], access: AccountAccess | None) -> Sequence[AnyTool]:
        """Show the model the argument that names an account, if several of the person's accounts could serve."""
        if access is None or not any(tool.accounts for tool in tools):
            return tools
        accounts = [account for account in await access.list() if not account.revoked]
        return [replace(tool, shown=None) if _several(tool, accounts) else tool for tool in tools]


def _several(tool: AnyTool, accounts: Sequence[Account]) -> bool:
    return any(sum(serves(account, need) for account in accounts) > 1 for need in tool.accounts)


def _exposed(registry: ToolRegistry, tools: Sequence[str] | None, agents: Sequence[str] | None) -> ToolRegistry:
    """Return the registry with only the named tools and agents; None keeps all of a kind."""
    if tools is None and agents is None:
        return registry
    names = [tool.name for tool in registry if (agents if tool.agent else tools) is None]
    return registry.only([*names, *(tools or ()), *(agents or ())])
