"""The orchestrator of a worker: model, tools, agents and hooks, built from the settings."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from core.agents.registry import AgentRegistry, read_exposed
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.people.rate_limit import Rates
from core.tools.account_access import PeoplesAccounts
from core.tools.storage import Storage
from core.turns.checks import ordered_checks
from core.turns.orchestrator import Orchestrator
from onevalet.settings import Settings
from onevalet.wiring.http import build_http
from onevalet.wiring.loop import hooks_of_abilities, loop_config
from onevalet.wiring.models import Models, build_budgets, build_models, check_models
from onevalet.wiring.people import build_people
from onevalet.wiring.plugins import load_plugins
from onevalet.wiring.recall import open_recall
from onevalet.wiring.rooms import Rooms as Rooms
from onevalet.wiring.senses import open_senses
from onevalet.wiring.tenants import build_person_data

AGENT_REGISTRY = Path("agent_registry.yaml")
"""The file in which an operator overrides which agents the model is offered."""


@asynccontextmanager
async def build_orchestrator(
    settings: Settings,
    clock: Clock,
    storage: Storage,
    credentials: CredentialStore,
    rooms: Rooms | None = None,
    models: Models | None = None,
    accounts: PeoplesAccounts | None = None,
) -> AsyncIterator[Orchestrator]:
    """Load the plugins and yield the orchestrator; without a configured model the demo model answers.

    `models`: those of the settings unless given; they are closed at the end.
    """
    rooms = rooms or Rooms()
    approvals, engine, files = rooms.approvals, rooms.engine, rooms.files
    plugins = load_plugins(settings.onevalet_plugins, rooms.brought)
    config = loop_config(settings.loop)
    if not settings.onevalet_model:
        config = replace(config, summarise_dropped=False)  # the demo model can only play its part
    models = models or build_models(settings)
    client = models.main
    hooks = (*hooks_of_abilities(settings, config, client, storage), *plugins.hooks)
    http = build_http(settings)
    settings.tiers.check_tools(plugins.names, rooms.prefixes)
    plugins.check_prefixes(rooms.prefixes)
    plugins.check_groups(config.groups_in_full, rooms.prefixes)
    tiers, rates = settings.tiers, Rates(settings.redis_url.get_secret_value() if settings.redis_url else "")
    # This takes seconds of CPU, so it is done before the first lease is taken, while no person waits.
    await client.warm_up()
    check_models(settings, client)
    budgets = build_budgets(settings, client, storage.database, clock)
    stack = AsyncExitStack()
    try:
        momex = open_recall(stack, settings, storage.database, clock, models, budgets)
        if files is not None:
            files = await stack.enter_async_context(open_senses(files, settings, client, storage.database, budgets))
        data = (
            build_person_data(settings, storage.database, files, clock, credentials.keys, accounts) if files else None
        )
        yield plugins.orchestrator(
            client,
            settings.system_prompt,
            momex,
            trigger_engine=engine,
            name=settings.assistant_name,
            tools=plugins.tools,
            tool_sources=rooms.sources,
            agents=AgentRegistry(plugins.agents, read_exposed(AGENT_REGISTRY), plugins.groups),
            hooks=hooks,
            checks=ordered_checks(settings.access, rates, tiers, clock=clock, safety=plugins.checks),
            tiers=tiers,
            config=config,
            storage=storage,
            budgets=budgets,
            credentials=credentials,
            accounts=accounts,
            account_asker=accounts.asker if accounts else None,
            data=data,
            approvals=approvals,
            http=http,
            settings=settings.for_tools,
            clock=clock,
            people=build_people(settings, storage.database, clock),
            files=files,
            notify=rooms.notify,
            services=rooms.services,
        )
    finally:
        await stack.aclose()
        await rates.close()
        await http.close()
        await models.close()
