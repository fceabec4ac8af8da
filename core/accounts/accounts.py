"""The door of this room: which accounts a person has connected, and what opens one."""

import builtins
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from core.accounts.abilities import read_need
from core.accounts.choice import choose
from core.accounts.passwords import open_password
from core.accounts.services import CALDAV, EMAIL, Services
from core.accounts.types import Opened
from core.credentials.store import CredentialsSealed, CredentialStore
from core.credentials.types import Account, OpenAccount, StoredAccount
from core.errors import RefusedLogin, ToolFailed
from core.language.catalogue import gettext


class Accounts:
    """The accounts of all people, for jobs; `for_tenant` has one person's, for tools."""

    def __init__(self, credentials: CredentialStore, services: Services) -> None:
        self.credentials = credentials
        self._services = services

    def for_tenant(self, tenant_id: str) -> "TenantAccounts":
        return TenantAccounts(self, tenant_id)

    async def list(self, tenant_id: str, need: str = "") -> Sequence[Account]:
        """Return the accounts that can do what is needed, the preferred ones first; all without a need."""
        service, ability = read_need(need) if need else ("", None)
        accounts = [self._account(stored) for stored in await self._stored(tenant_id, service)]
        return [account for account in accounts if ability is None or ability in account.abilities]

    async def open(self, tenant_id: str, need: str, account_name: str = "") -> OpenAccount:
        """Return what opens an account now. Raises as `core.tools.person_access.AccountAccess.open`.

        `CredentialsSealed` is raised where the only accounts are those that do not open.
        """
        service, ability = read_need(need)
        all_stored = await self._stored(tenant_id, service)
        by_account = {self._account(stored): stored for stored in all_stored}
        if all_stored and all(stored.credentials is None for stored in all_stored):
            raise CredentialsSealed("A person's credentials do not open.")
        account = choose(tuple(by_account), ability, need, account_name)
        opened = self._opened(by_account[account])
        if opened is None:
            raise CredentialsSealed("A person's credentials do not open.")
        return OpenAccount(account, opened.login, opened.secret, opened.bearer, opened.servers, opened.sender)

    async def refused(self, tenant_id: str, login: RefusedLogin) -> bool:
        """Note that a service refuses what opens an account; False where something else opens it by now."""
        for stored in await self._stored(tenant_id, login.service):
            opened = self._opened(stored)
            if stored.name == login.account and opened is not None and opened.secret == login.secret:
                await self.credentials.revoke(tenant_id, stored)
                return True
        return False

    async def _stored(self, tenant_id: str, service: str) -> "builtins.list[StoredAccount]":
        stored = await self.credentials.stored(tenant_id)
        return [account for account in stored if not service or account.service == service]

    def _account(self, stored: StoredAccount) -> Account:
        opened = self._opened(stored)
        address, abilities = (opened.address, opened.abilities) if opened else ("", frozenset())
        return Account(stored.service, stored.name, address, abilities, stored.preferred, stored.revoked)

    def _opened(self, stored: StoredAccount) -> Opened | None:
        """Return what stored credentials open; None for a service that only its own tools know."""
        if stored.credentials is None or stored.service not in (EMAIL.name, CALDAV.name):
            return None
        return open_password(stored.service, stored.credentials)


@dataclass(frozen=True, slots=True)
class TenantAccounts:
    """The accounts of one person. Implements `core.tools.person_access.AccountAccess`."""

    accounts: Accounts
    tenant_id: str

    async def list(self, need: str = "") -> Sequence[Account]:
        with _told():
            return await self.accounts.list(self.tenant_id, need)

    async def refused(self, login: RefusedLogin) -> bool:
        with _told():
            return await self.accounts.refused(self.tenant_id, login)

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        with _told():
            return await self.accounts.open(self.tenant_id, need, account_name)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except CredentialsSealed as error:
        raise ToolFailed(gettext("What is stored for this service cannot be read at the moment.")) from error
