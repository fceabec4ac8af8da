"""The door of this room: the accounts that a person has connected, and the access to an account."""

import builtins
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from abilities.accounts.choice import choose, with_defaults
from abilities.accounts.granted import open_granted
from abilities.accounts.kinds import KIND_NAMES, KINDS
from abilities.accounts.offers import ConnectOffers, listing
from abilities.accounts.passwords import open_password
from abilities.accounts.prompts import ConnectLink, LinkAsker, ask_for
from abilities.accounts.services import Services
from abilities.accounts.token_refresh import FreshTokens
from abilities.accounts.types import Opened
from abilities.accounts.waiting import needs_that_wait
from core.credentials.choice import find, shown
from core.credentials.needs import read_need, serves
from core.credentials.store import CredentialsSealed, CredentialStore
from core.credentials.types import Ability, Account, OpenAccount, StoredAccount
from core.errors import AccountMissing, RefusedLogin, ToolFailed, ToolRetry
from core.language.catalogue import gettext, listed
from core.tools.account_access import AccountAsker, MissingAccess


class Accounts:
    """The accounts of all people, for jobs; `for_tenant` has a person's own, for tools."""

    def __init__(
        self,
        credentials: CredentialStore,
        services: Services,
        tokens: FreshTokens | None = None,
        offers: ConnectOffers | None = None,
    ) -> None:
        """`tokens` keeps OAuth tokens fresh; without it they are handed out as they are stored.

        `offers` makes links to connect further accounts.
        """
        self.offers = offers
        self.credentials = credentials
        self.services = services
        self.tokens = tokens

    @property
    def asker(self) -> AccountAsker | None:
        """Return the asker for accounts that calls need, or None if no account can be connected."""
        if self.offers is None or not self.offers.links.public_url or not self.services.by_name:
            return None
        return LinkAsker(self.offers.links.database, self)

    def for_tenant(self, tenant_id: str, turn_id: str | None = None) -> "TenantAccounts":
        return TenantAccounts(self, tenant_id, turn_id)

    async def list(self, tenant_id: str, need: str = "") -> Sequence[Account]:
        """Return the accounts that have the needed ability, the preferred accounts first; all without a need."""
        service, ability = read_need(need) if need else ("", None)
        accounts = with_defaults([self.account_of(stored) for stored in await self._stored(tenant_id)], ability)
        return [
            account
            for account in accounts
            if service in ("", account.service) and (ability is None or ability in account.abilities)
        ]

    async def open(self, tenant_id: str, need: str, account_name: str = "") -> OpenAccount:
        """Return the opened account. Raises as `core.tools.person_access.AccountAccess.open`.

        `CredentialsSealed` is raised if the credentials of all such accounts fail to open.
        """
        service, ability = read_need(need)
        everything = await self._stored(tenant_id)
        by_name = {(stored.service, stored.name): stored for stored in everything if service in ("", stored.service)}
        if by_name and all(stored.credentials is None for stored in by_name.values()):
            raise CredentialsSealed("A person's credentials do not open.")
        known = with_defaults([self.account_of(stored) for stored in everything], ability)
        account = choose([one for one in known if service in ("", one.service)], ability, need, account_name)
        opened = self._opened(await self._fresh(tenant_id, by_name[account.service, account.name], need))
        if opened is None:
            raise CredentialsSealed("A person's credentials do not open.")
        return OpenAccount(
            account, opened.login, opened.secret, opened.bearer, opened.servers, opened.sender, tenant_id
        )

    async def wanted(self, tenant_id: str) -> MissingAccess | None:
        """Return the access that a person should connect: for a waiting call, or to renew an account; else None."""
        if self.offers is None:
            return None
        accounts = await self.list(tenant_id)
        needs = [
            need
            for need in await needs_that_wait(self.offers.links.database, tenant_id)
            if not any(serves(account, need) and not account.revoked for account in accounts)
        ]
        revoked = [account for account in accounts if account.revoked]
        if needs:
            able = (account for account in revoked if all(serves(account, need) for need in needs))
            return MissingAccess(tuple(needs), next(able, None))
        return MissingAccess.again(revoked[0]) if revoked else None

    async def parts(self, tenant_id: str, wanted: MissingAccess) -> Sequence[MissingAccess]:
        """Return the missing access in parts that a single service can serve each. Implements `ConnectLinks`."""
        if self.offers is None or len(wanted.needs) < 2 or self.offers.able(wanted):
            return (wanted,)
        groups = list[tuple[str, ...]]()
        for need in wanted.needs:
            at = next((at for at, group in enumerate(groups) if self.offers.able(MissingAccess((*group, need)))), None)
            if at is None:
                groups.append((need,))
            else:
                groups[at] += (need,)
        revoked = [account for account in await self.list(tenant_id) if account.revoked]
        return tuple(
            MissingAccess(group, next((one for one in revoked if all(serves(one, need) for need in group)), None))
            for group in groups
        )

    async def link(self, tenant_id: str, conversation_id: str | None, wanted: MissingAccess) -> ConnectLink | None:
        """Return a link for the missing access, to extend an existing account rather than to connect another.

        Implements `abilities.accounts.prompts.ConnectLinks`.
        """
        if self.offers is None:
            return None
        if wanted.account is None:
            wanted = replace(wanted, account=await self._to_extend(tenant_id, wanted.needs))
        return await self.offers.link(tenant_id, conversation_id, wanted)

    async def refused(self, tenant_id: str, login: RefusedLogin) -> bool:
        """Note that a service refuses an account's password or grant; return False if that was replaced already."""
        for stored in await self._stored(tenant_id, login.service):
            opened = self._opened(stored)
            if stored.name == login.account and opened is not None and opened.secret == login.secret:
                await self.credentials.revoke(tenant_id, stored)
                return True
        return False

    async def prefer(self, tenant_id: str, account: Account, kinds: Sequence[str] = ()) -> Sequence[str]:
        """Make an account the default for these kinds, or for all its kinds.

        Return the kinds; there are none for a service that only its own tools know, whose default it becomes.
        """
        able = [kind for kind, abilities in KINDS.items() if abilities & account.abilities]
        chosen = [kind for kind in able if not kinds or kind in kinds]
        if chosen:
            await self.credentials.prefer_for(tenant_id, account.service, account.name, chosen)
        if not kinds:
            await self.credentials.prefer(tenant_id, account.service, account.name)
        return chosen

    async def disconnect(self, tenant_id: str, account: Account) -> bool:
        """Forget an account, and end its grant at its service; return False if only its person can end it there."""
        stored = await self._stored(tenant_id, account.service)
        known = next((one.credentials for one in stored if one.name == account.name), None) or {}
        service = self.services.get(account.service)
        client = service.client if service else None
        ended = client is None
        if client is not None and self.tokens is not None:
            token = str(known.get("refresh_token") or known.get("access_token") or "")
            ended = await self.tokens.servers.revoke(client, token)
        await self.credentials.delete(tenant_id, account.service, account.name)
        return ended

    async def _fresh(self, tenant_id: str, stored: StoredAccount, need: str) -> StoredAccount:
        service = self.services.get(stored.service)
        if self.tokens is None or service is None or service.client is None:
            return stored
        fresh = await self.tokens.fresh(tenant_id, stored, service.client)
        if fresh is None or fresh.revoked:
            again = gettext("The account {account} has to be connected again.", account=shown(self.account_of(stored)))
            raise AccountMissing(again, need, stored.name)
        return fresh

    async def _stored(self, tenant_id: str, service: str = "") -> "builtins.list[StoredAccount]":
        stored = await self.credentials.stored(tenant_id)
        return [account for account in stored if not service or account.service == service]

    async def _to_extend(self, tenant_id: str, needs: Sequence[str]) -> Account | None:
        """Return the account whose service has the needed abilities, once its person allows them as well."""
        able = [
            account
            for account in await self.list(tenant_id)
            if (service := self.services.get(account.service)) is not None
            and service.client is not None
            and not account.revoked
            and all(serves(replace(account, abilities=service.offers), need) for need in needs)
        ]
        preferred = [account for account in able if account.preferred]
        return next(iter(preferred or able), None) if len(able) == 1 or len(preferred) == 1 else None

    def account_of(self, stored: StoredAccount) -> Account:
        """Return the account of stored credentials, without secrets."""
        opened = self._opened(stored)
        address, abilities = (opened.address, opened.abilities) if opened else ("", frozenset())
        return Account(
            stored.service, stored.name, address, abilities, stored.preferred, stored.revoked, stored.preferred_for
        )

    def _opened(self, stored: StoredAccount) -> Opened | None:
        """Return the access of stored credentials; None for a service that only its own tools know."""
        service = self.services.get(stored.service)
        if stored.credentials is None or service is None:
            return None
        if service.client is None:
            return open_password(service, stored.credentials)
        return open_granted(service, stored.credentials)


@dataclass(frozen=True, slots=True)
class TenantAccounts:
    """The accounts of a person. Implements `core.tools.person_access.PersonAccounts`."""

    accounts: Accounts
    tenant_id: str
    turn_id: str | None = None

    async def list(self, need: str = "") -> Sequence[Account]:
        with _told():
            return await self.accounts.list(self.tenant_id, need)

    async def refused(self, login: RefusedLogin) -> bool:
        with _told():
            return await self.accounts.refused(self.tenant_id, login)

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        with _told():
            return await self.accounts.open(self.tenant_id, need, account_name)

    async def connect(self, service: str = "", account_name: str = "", abilities: Sequence[str] = ()) -> str:
        if not service and not account_name and not abilities and (asked := await self._asked()):
            return asked
        wanted = [Ability(ability) for ability in abilities]
        return await self._offers().by_turn(self.tenant_id, self.turn_id, service, account_name, wanted)

    async def overview(self) -> str:
        accounts = await self.list()
        return self.accounts.offers.overview(accounts) if self.accounts.offers else listing(accounts)

    async def prefer(self, account_name: str, kinds: Sequence[str] = ()) -> str:
        account = await self._one(account_name)
        with _told():
            chosen = await self.accounts.prefer(self.tenant_id, account, kinds)
        if chosen:
            has = listed([gettext(KIND_NAMES[kind]) for kind in chosen])
            return gettext(
                "From now on {account} is used for {kinds} if no account is named.",
                account=shown(account),
                kinds=has,
            )
        if kinds:
            raise ToolRetry(gettext("The account {account} offers none of that.", account=shown(account)))
        return gettext(
            "From now on {account} is the default account for {service}.",
            account=shown(account),
            service=account.service,
        )

    async def find(self, account_name: str) -> Sequence[Account]:
        return find(await self.list(), account_name)

    async def disconnect(self, account_name: str) -> str:
        if not await self.find(account_name):
            return gettext("There is no account {account} any more.", account=account_name)
        account = await self._one(account_name)
        with _told():
            ended = await self.accounts.disconnect(self.tenant_id, account)
        gone = gettext("{account} is disconnected, and its password or token is deleted.", account=shown(account))
        service = self.accounts.services.get(account.service)
        if ended or service is None:
            return gone
        where = service.manage_url or service.label
        return f"{gone} {gettext('To end it there as well, remove my access at {where}.', where=where)}"

    async def _one(self, account_name: str) -> Account:
        """Return the account that a person means. Raises `ToolRetry` if there is none, or several."""
        everything = await self.list()
        found = find(everything, account_name)
        if len(found) == 1:
            return found[0]
        if found:
            choices = listed([f"{account.service} {account.name}" for account in found], "or")
            raise ToolRetry(gettext("Which account: {accounts}?", accounts=choices))
        if not everything:
            raise ToolFailed(gettext("Nothing is connected."))
        there = listed([shown(account) for account in everything])
        raise ToolRetry(
            gettext("There is no account {account}, only {accounts}.", account=account_name, accounts=there)
        )

    async def _asked(self) -> str:
        """Return the request for the account that something waits for, with a new link; empty if nothing waits."""
        wanted = await self.accounts.wanted(self.tenant_id)
        if wanted is None:
            return ""
        conversation_id = await self._offers().conversation_of(self.tenant_id, self.turn_id)
        return await ask_for(self.accounts, self.tenant_id, conversation_id, wanted) or ""

    def _offers(self) -> ConnectOffers:
        if self.accounts.offers is None:
            raise ToolFailed(gettext("Accounts cannot be connected here."))
        return self.accounts.offers


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except CredentialsSealed as error:
        raise ToolFailed(gettext("The stored data of this service cannot be read at the moment.")) from error
