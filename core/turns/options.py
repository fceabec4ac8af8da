"""What an orchestrator may be given beyond model, persona, memory and trigger engine, and the services of that."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from core.accounts.prompts import AccountAsker
from core.agents.registry import AgentRegistry
from core.agents.standard_agent import StandardAgent
from core.agents.turn_agents import PoolLimits
from core.approvals.store import ApprovalStore
from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.files.access import Files
from core.hooks.hooks import Hook
from core.http.types import HttpClient
from core.loop.config import ReactLoopConfig
from core.outreach.outreach import Outreach
from core.people.people import People
from core.people.tiers import Tiers
from core.tools.storage import Storage
from core.tools.tool import AnyTool, ToolSource
from core.turns.context import Check
from core.turns.links import LinkCheck
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


class OrchestratorOptions(TypedDict, total=False):
    """The keywords of `Orchestrator`; each may be left out, and None stands for its default.

    `tools` may hold agents, too. `tool_names` and `agent_tool_filter` name the tools and agents that the model is
    offered, None for all. `checks` are asked in order. `approvals` and `budgets` are kept in a database. `tool_sources`
    bring further tools to each turn. `settings` are for tools, as `context.settings`. `name` is what the assistant is
    called, where the persona does not say it. `services` are what abilities bring, as `context.service` finds it.
    """

    name: str | None
    tools: Iterable[AnyTool | type[StandardAgent]]
    tool_names: Sequence[str] | None
    tool_sources: Sequence[ToolSource]
    agents: AgentRegistry | Iterable[type[StandardAgent]] | None
    agent_tool_filter: Sequence[str] | None
    pool_limits: PoolLimits | None
    approvals: ApprovalStore | None
    config: ReactLoopConfig | None
    hooks: Iterable[Hook]
    checks: Iterable[Check]
    tiers: Tiers | None
    credentials: CredentialStoreAccess | None
    accounts: AccountsAccess | None
    account_asker: AccountAsker | None
    data: DataProvider | None
    storage: Storage | None
    budgets: DailyBudgets | None
    http: HttpClient | None
    settings: Mapping[str, str] | None
    clock: Clock | None
    people: People | None
    files: Files | None
    outreach: Outreach | None
    notify: Notify | None
    links: LinkCheck | None
    services: Mapping[type, ForTurn] | None


def services_of(memory: Recall | None, tasks: TaskEngine | None, options: OrchestratorOptions) -> TurnServices:
    """Return the services that an orchestrator's tools may use."""
    return TurnServices(
        clock=options.get("clock") or Clock(),
        http=options.get("http"),
        credentials=options.get("credentials"),
        accounts=options.get("accounts"),
        account_asker=options.get("account_asker"),
        data=options.get("data"),
        storage=options.get("storage"),
        people=options.get("people"),
        files=options.get("files"),
        tasks=tasks,
        memory=memory,
        outreach=options.get("outreach"),
        notify=options.get("notify"),
        settings=dict(options.get("settings") or {}),
        of_abilities=dict(options.get("services") or {}),
    )
