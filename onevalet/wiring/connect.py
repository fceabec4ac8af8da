"""The pages on which people connect accounts. Light: `web` opens them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from abilities.accounts.accounts import Accounts
from abilities.accounts.connect.routes import ConnectRoutes
from abilities.accounts.opening import build_account_http, build_accounts, build_connecting
from abilities.accounts.trials import Trials
from core.clock import Clock
from core.credentials.store import CredentialStore
from onevalet.wiring.abilities import account_trials
from onevalet.wiring.connections import Connections


@asynccontextmanager
async def open_connect(
    connections: Connections, credentials: CredentialStore, clock: Clock
) -> AsyncIterator[tuple[ConnectRoutes, Accounts]]:
    """Yield the pages, with a way to the servers that people name, and the accounts that they connect."""
    settings, database = connections.settings, connections.database
    http = build_account_http(settings)
    accounts = build_accounts(settings, database, credentials, http, clock)
    try:
        connecting = build_connecting(settings, database, accounts, http, clock, connections.wakeups)
        yield ConnectRoutes(connecting, http, Trials(account_trials())), accounts
    finally:
        await http.close()
