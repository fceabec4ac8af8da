"""People's accounts elsewhere, from the ability that declares them."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.database import Database
from onevalet.ability_registry import all_abilities
from onevalet.foundations import AccountsFoundation
from onevalet.settings import Settings
from onevalet.wiring.extras import require_extras
from onevalet.wiring.http import guarded_client

if TYPE_CHECKING:  # unused by `web`
    from core.tools.account_access import PeoplesAccounts
    from core.tools.person_access import AccountAccess


def open_accounts(
    stack: AsyncExitStack, settings: Settings, database: Database, credentials: CredentialStore, clock: Clock
) -> "PeoplesAccounts | None":
    """Return people's accounts, which `stack` closes; None if no ability opens accounts."""
    for ability in all_abilities():
        if ability.accounts is not None:
            require_extras(ability, settings)
            http = partial(guarded_client, settings)
            return ability.accounts(stack, AccountsFoundation(settings, database, http, clock, credentials))
    return None


def access_to(accounts: "PeoplesAccounts | None") -> "Callable[[str], AccountAccess]":
    """Return an opener of a person's accounts; without accounts, its requests say that there are none."""
    if accounts is not None:
        return accounts.for_tenant

    def nobodys(_: str) -> "AccountAccess":
        from core.tools.context import NO_ACCOUNTS

        access: AccountAccess = NO_ACCOUNTS
        return access

    return nobodys
