"""The options of an orchestrator, in a single object, and the parts that are built of them."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Concatenate

from core.agents.registry import AgentRegistry
from core.agents.standard_agent import StandardAgent
from core.agents.turn_agents import PoolLimits
from core.approvals.store import ApprovalStore
from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.consents.store import ConsentStore
from core.errors import ConfigError
from core.files.access import Files
from core.hooks.hooks import Hook, Hooks
from core.http.types import HttpClient
from core.llm.types import ModelClient
from core.loop.config import ReactLoopConfig
from core.loop.loop import ReactLoop
from core.loop.reasoning import ModelCaller
from core.messaging.search import PersonMessages
from core.people.people import People
from core.people.tiers import Tiers
from core.tools.account_access import AccountAsker
from core.tools.storage import Storage
from core.tools.tool import AnyTool, Tool, ToolSource
from core.tools.undo_store import UndoStore
from core.turns.agent_decisions import AgentDecisions
from core.turns.consents import ConsentOffer
from core.turns.context import Check
from core.turns.endings import Endings
from core.turns.preparation import Preparation
from core.turns.prompt import Assistant
from core.turns.services import (
    AccountsAccess,
    CredentialStoreAccess,
    DataProvider,
    ForTurn,
    Notify,
    Recall,
    TaskEngine,
    TurnServices,
)
from core.turns.tools import AgentSetup, AgentSteps, ToolOffer
from core.turns.waits import Waits


@dataclass(frozen=True, slots=True)
class OrchestratorOptions:
    """The options of `Orchestrator`: all but the model may be left out, and None stands for the default."""

    llm_client: ModelClient
    system_prompt: str = ""
    momex: Recall | None = None
    trigger_engine: TaskEngine | None = None
    _: KW_ONLY
    name: str | None = None
    """The assistant's name, if the persona does not say it."""
    tools: Iterable[AnyTool | type[StandardAgent]] = ()
    """May hold agents, too."""
    tool_names: Sequence[str] | None = None
    """The tools that the model is offered; None for all."""
    tool_sources: Sequence[ToolSource] = ()
    """Bring further tools to each turn."""
    agents: AgentRegistry | Iterable[type[StandardAgent]] | None = None
    agent_tool_filter: Sequence[str] | None = None
    """The agents that the model is offered; None for all."""
    pool_limits: PoolLimits | None = None
    approvals: ApprovalStore | None = None
    config: ReactLoopConfig | None = None
    hooks: Iterable[Hook] = ()
    checks: Iterable[Check] = ()
    """They run in this order."""
    tiers: Tiers | None = None
    credentials: CredentialStoreAccess | None = None
    accounts: AccountsAccess | None = None
    account_asker: AccountAsker | None = None
    data: DataProvider | None = None
    storage: Storage | None = None
    budgets: DailyBudgets | None = None
    http: HttpClient | None = None
    settings: Mapping[str, str] | None = None
    """For tools, as `context.settings`."""
    clock: Clock | None = None
    people: People | None = None
    files: Files | None = None
    notify: Notify | None = None
    services: Mapping[type, ForTurn] | None = None
    """The services of abilities, as `context.service` finds them."""

    def for_tools(self) -> TurnServices:
        """Return the services that the orchestrator's tools may use."""
        database = self.storage.database if self.storage else None
        return TurnServices(
            clock=self.clock or Clock(),
            http=self.http,
            credentials=self.credentials,
            accounts=self.accounts,
            account_asker=self.account_asker,
            data=self.data,
            storage=self.storage,
            people=self.people,
            files=self.files,
            tasks=self.trigger_engine,
            memory=self.momex,
            notify=self.notify,
            settings=dict(self.settings or {}),
            of_abilities=dict(self.services or {}),
            undo=UndoStore(database) if database else None,
            consents=ConsentStore(database) if database else None,
            said=partial(PersonMessages, database) if database else None,
        )


def takes[**P, O](options: Callable[P, O]) -> Callable[[Callable[[Any, O], None]], Callable[Concatenate[Any, P], None]]:
    """Return an `__init__` that takes each option of its options object, by position or by name."""

    def with_each(build: Callable[[Any, O], None]) -> Callable[Concatenate[Any, P], None]:
        def __init__(self: Any, /, *args: P.args, **named: P.kwargs) -> None:
            build(self, options(*args, **named))

        given = inspect.signature(options)
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        __init__.__doc__ = build.__doc__
        setattr(__init__, "__signature__", given.replace(parameters=[own, *given.parameters.values()]))  # noqa: B010
        return __init__

    return with_each


@dataclass(frozen=True, slots=True)
class OrchestratorParts:
    """The parts that do the work of an orchestrator's steps."""

    given: OrchestratorOptions
    config: ReactLoopConfig
    services: TurnServices
    offer: ToolOffer
    hooks: Hooks
    loop: ReactLoop
    preparation: Preparation
    endings: Endings
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
    caller = ModelCaller(options.llm_client, config)
    loop = ReactLoop(caller)
    agents = AgentSetup(loop, config, hooks, services, limits, steps, options.approvals, options.budgets)
    return OrchestratorParts(
        given=options,
        config=config,
        services=services,
        offer=offer,
        hooks=hooks,
        loop=loop,
        preparation=Preparation(Assistant(persona, options.name or ""), services, offer, agents, caller.context),
        endings=Endings(Waits(persona, caller, limits), services.files),
        consents=ConsentOffer.of(offer.tools, offer.agents, services),
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
            raise ConfigError(f"{value!r} is not a tool: mark the function with @tool, or the class with @valet(...).")
    return tools, agents


def _registry(
    agents: AgentRegistry | Iterable[type[StandardAgent]], among_tools: list[type[StandardAgent]]
) -> AgentRegistry:
    """Return the agents as a registry. Raises `ConfigError` for a class that is no agent, or a name taken twice."""
    if not isinstance(agents, AgentRegistry):
        return AgentRegistry([*agents, *among_tools])
    if among_tools:
        raise ConfigError("Give all agents in the AgentRegistry, or all as classes.")
    return agents
