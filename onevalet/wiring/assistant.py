"""The assistant of a worker: the orchestrator, and the stores that it shares with the rest of the worker."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from core.approvals.store import ApprovalStore
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.files.store import FileStore
from core.files.types import FileReader
from core.llm.types import ModelClient
from core.tools.account_access import PeoplesAccounts
from core.tools.storage import Storage
from core.turns.orchestrator import Orchestrator
from core.turns.services import TaskEngine
from onevalet.foundations import Opened, OpeningFoundation
from onevalet.wiring.abilities import open_abilities, open_services, open_sources
from onevalet.wiring.accounts import access_to, open_accounts
from onevalet.wiring.connections import Connections, redis_url
from onevalet.wiring.files import open_files
from onevalet.wiring.http import build_http, guarded_client
from onevalet.wiring.models import build_models
from onevalet.wiring.orchestrator import Rooms, build_orchestrator
from onevalet.wiring.plugin_checks import FoundClasses
from onevalet.wiring.plugins import plugin_values
from onevalet.wiring.secret_keys import secret_keys


@dataclass(frozen=True, slots=True)
class Assistant:
    """An orchestrator and the parts that it was built from."""

    orchestrator: Orchestrator
    foundation: OpeningFoundation
    """The dependencies of the abilities, and the objects that they have opened."""
    approvals: ApprovalStore
    accounts: PeoplesAccounts | None
    credentials: CredentialStore
    files: FileStore
    small_model: ModelClient
    """The model for work behind the reply."""


@asynccontextmanager
async def open_assistant(
    connections: Connections, clock: Clock, rooms: Rooms | None = None
) -> AsyncIterator[Assistant]:
    settings, database, wakeups = connections.settings, connections.database, connections.wakeups
    approvals = ApprovalStore(database, wakeups, settings.codes_only)
    credentials = CredentialStore(database, secret_keys(settings))
    async with AsyncExitStack() as stack:
        accounts = open_accounts(stack, settings, database, credentials, clock)
        rooms = rooms or Rooms()
        foundation = OpeningFoundation(
            settings,
            database,
            partial(guarded_client, settings),
            clock,
            access_to(accounts),
            wakeups,
            redis_url(settings),
            partial(build_http, settings),
            FoundClasses(plugin_values(settings.onevalet_plugins, rooms.brought)),
            Opened(),
            rooms.channels,
        )
        if accounts is not None:
            foundation.opened.add(PeoplesAccounts, accounts)
        open_abilities(stack, foundation)
        reader = foundation.opened.find(FileReader)
        files = await stack.enter_async_context(open_files(settings, database, clock, reader))
        models = build_models(settings)
        further = await open_sources(stack, settings, database)
        services = open_services(stack, foundation)
        rooms = replace(
            rooms,
            approvals=approvals,
            engine=foundation.opened.find(TaskEngine),
            files=files,
            sources=further.sources,
            prefixes=further.prefixes,
            services=services,
        )
        orchestrator = await stack.enter_async_context(
            build_orchestrator(settings, clock, Storage(database), credentials, rooms, models, accounts)
        )
        yield Assistant(orchestrator, foundation, approvals, accounts, credentials, files.intake.store, models.behind)
