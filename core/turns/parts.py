"""The parts of an orchestrator, built from its options."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.agents.registry import AgentRegistry
from core.agents.standard_agent import StandardAgent
from core.agents.turn_agents import PoolLimits
from core.approvals.store import ApprovalStore
from core.budgets.store import DailyBudgets
from core.errors import ConfigError
from core.hooks.hooks import Hooks
from core.loop.config import ReactLoopConfig
from core.loop.context_window import ContextManager
from core.loop.loop import ReactLoop
from core.loop.model_caller import ModelCaller
from core.tools.tool import AnyTool, Tool
from core.turns.agent_decisions import AgentDecisions
from core.turns.agents import AgentSetup, AgentSteps
from core.turns.consents import ConsentOffer
from core.turns.context import Check
from core.turns.endings import Endings
from core.turns.options import OrchestratorOptions
from core.turns.preparation import Preparation
from core.turns.services import TurnServices
from core.turns.tool_offer import ToolOffer


@dataclass(frozen=True, slots=True)
class OrchestratorParts:
    """What does the work of an orchestrator's steps."""

    config: ReactLoopConfig
    services: TurnServices
    offer: ToolOffer
    hooks: Hooks
    loop: ReactLoop
    preparation: Preparation
    endings: Endings
    approvals: ApprovalStore | None
    budgets: DailyBudgets | None
    checks: tuple[Check, ...]
    consents: ConsentOffer
    agent_decisions: AgentDecisions | None = None


def build_parts(options: OrchestratorOptions, steps: AgentSteps) -> OrchestratorParts:
    """Build the parts. Raises `ConfigError` for tools and agents that do not go together."""
    services, persona = options.for_tools(), options.system_prompt
    config = options.config or ReactLoopConfig()
    limits = options.pool_limits or PoolLimits()
    tools, agents_among = _told_apart(options.tools)
    offer = ToolOffer(
        tools,
        _registry(options.agents or (), agents_among),
        services,
        tiers=options.tiers,
        tool_names=options.tool_names,
        agent_names=options.agent_tool_filter,
        sources=options.tool_sources,
    )
    hooks = Hooks(options.hooks)
    window = ContextManager(config)
    caller = ModelCaller(options.llm_client, config, window)
    loop = ReactLoop(caller, config)
    agents = AgentSetup(loop, config, hooks, services, limits, steps, options.approvals, options.budgets)
    return OrchestratorParts(
        config=config,
        services=services,
        offer=offer,
        hooks=hooks,
        loop=loop,
        preparation=Preparation(persona, services, offer, agents, window, options.name or ""),
        endings=Endings(persona, caller, limits, options.links or "drop", services.files),
        approvals=options.approvals,
        budgets=options.budgets,
        checks=tuple(options.checks),
        consents=ConsentOffer.of(offer, services),
        agent_decisions=AgentDecisions(offer.agents, options.approvals, services.clock) if options.approvals else None,
    )


def _told_apart(given: Iterable[AnyTool | type[StandardAgent]]) -> tuple[list[AnyTool], list[type[StandardAgent]]]:
    """Return the tools and the agents of a mixed list; raise `ConfigError` for anything else."""
    tools: list[AnyTool] = []
    agents: list[type[StandardAgent]] = []
    for value in given:
        if isinstance(value, Tool):
            tools.append(value)
        elif isinstance(value, type) and issubclass(value, StandardAgent):
            agents.append(value)
        else:
            raise ConfigError(f"{value!r} is no tool: mark the function with @tool, or the class with @valet(...).")
    return tools, agents


def _registry(
    agents: AgentRegistry | Iterable[type[StandardAgent]], among_tools: list[type[StandardAgent]]
) -> AgentRegistry:
    """Return the agents as a registry. Raises `ConfigError` for what is no agent, and for a name taken twice."""
    if not isinstance(agents, AgentRegistry):
        return AgentRegistry([*agents, *among_tools])
    if among_tools:
        raise ConfigError("Give all agents in the AgentRegistry, or all as classes.")
    return agents
