"""The assistant of a worker: the orchestrator, and the stores that it shares with the rest of the worker."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from core.accounts.accounts import Accounts
from core.approvals.store import ApprovalStore
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.files.store import FileStore
from core.llm.types import ModelClient
from core.tools.storage import Storage
from core.triggers.engine import TriggerEngine
from core.turns.orchestrator import Orchestrator
from onevalet.wiring.abilities import open_past_mail, open_sources
from onevalet.wiring.accounts import build_account_http, build_accounts
from onevalet.wiring.connections import Connections, redis_url
from onevalet.wiring.files import open_files
from onevalet.wiring.http import build_http
from onevalet.wiring.models import build_models
from onevalet.wiring.orchestrator import Rooms, build_orchestrator
from onevalet.wiring.secret_keys import secret_keys
from onevalet.wiring.triggers import build_engine


@dataclass(frozen=True, slots=True)
class Assistant:
    """An orchestrator and what it was built from."""

    orchestrator: Orchestrator
    engine: TriggerEngine
    approvals: ApprovalStore
    accounts: Accounts
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
    engine = build_engine(redis_url(settings), database, wakeups, clock)
    credentials = CredentialStore(database, secret_keys(settings))
    async with AsyncExitStack() as stack:
        account_http = build_account_http(settings)
        stack.push_async_callback(account_http.close)
        accounts = build_accounts(settings, database, credentials, account_http, clock)
        if engine.event_bus is not None:
            stack.push_async_callback(engine.event_bus.close)
        http = build_http(settings)
        stack.push_async_callback(http.close)
        engine.mail = open_past_mail(accounts.for_tenant, http)
        files = await stack.enter_async_context(open_files(settings, database, clock))
        models = build_models(settings)
        further = await open_sources(stack, settings, database)
        rooms = replace(
            rooms or Rooms(),
            approvals=approvals,
            engine=engine,
            files=files,
            sources=further.sources,
            prefixes=further.prefixes,
        )
        orchestrator = await stack.enter_async_context(
            build_orchestrator(settings, clock, Storage(database), accounts, rooms, models)
        )
        yield Assistant(orchestrator, engine, approvals, accounts, credentials, files.intake.store, models.behind)
