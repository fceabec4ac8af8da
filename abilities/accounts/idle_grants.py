"""Grants that end while nobody uses them: refreshed ahead of their end, and reported to their people, once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from abilities.accounts.accounts import Accounts
from abilities.accounts.prompts import note_prompt, sentence
from abilities.accounts.token_refresh import attend_in, expiry
from core.clock import Clock
from core.credentials.choice import account_name
from core.credentials.types import Account, StoredAccount
from core.db.database import Database
from core.errors import ToolFailed
from core.language.catalogue import gettext, speaking
from core.notifications.types import Notification, PersonNotifier
from core.tools.account_access import MissingAccess

CATEGORY = "account"
AT_ONCE = 8
"""The number of people whose accounts are checked at the same time."""
LEASE = timedelta(minutes=10)
"""The pause before an account is checked again, if its server does not answer or its worker died."""
SEALED = timedelta(days=1)
"""The same pause for an account that does not open: its secret key may come back."""
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Revoked:
    """An account that has to be connected again, for the operator."""

    tenant_id: str
    service: str


async def find_revoked(database: Database) -> Sequence[Revoked]:
    """Return the accounts of all people that have to be connected again."""
    rows = await database.rows("select * from find_revoked_accounts()")
    return [Revoked(row["tenant_id"], row["service"]) for row in rows]


@dataclass(frozen=True, slots=True)
class Renewals:
    """Look after the accounts of all people. Any number of workers may: each account is claimed first."""

    database: Database
    accounts: Accounts
    notifier: PersonNotifier
    clock: Clock

    async def once(self) -> int:
        """Look after the due accounts; return their number."""
        total = 0
        while tenants := await self.database.rows("select * from find_due_accounts($1)", AT_ONCE):
            # Not a group that cancels the others: a token that a server has just given to another would be lost.
            counts = await asyncio.gather(
                *(self._look_after(row["tenant_id"]) for row in tenants), return_exceptions=True
            )
            for count in counts:
                if isinstance(count, BaseException):
                    raise count
                total += count
            if not any(counts):
                break  # other workers have them
        return total

    async def _look_after(self, tenant_id: str) -> int:
        rows = await self.database.rows("select * from claim_due_accounts($1,$2)", tenant_id, LEASE)
        due = {(row["service"], row["account_name"]) for row in rows}
        stored = await self.accounts.credentials.stored(tenant_id) if due else ()
        for account in stored:
            if (account.service, account.name) in due:
                await self._refresh(tenant_id, account)
        return len(due)

    async def _refresh(self, tenant_id: str, stored: StoredAccount) -> None:
        service, tokens = self.accounts.services.get(stored.service), self.accounts.tokens
        if stored.revoked:
            await self._tell(tenant_id, stored)
        elif service is None or service.client is None or tokens is None:
            await self._again(tenant_id, stored, None)
        elif stored.credentials is None:
            await self._again(tenant_id, stored, SEALED)
        else:
            try:
                fresh = await tokens.fresh(tenant_id, stored, service.client)
            except ToolFailed:
                _log.info("refresh_delayed", tenant=tenant_id, service=stored.service)
                return
            if fresh is not None and fresh.revoked:
                await self._tell(tenant_id, fresh)
            elif fresh is not None:
                await self._again(tenant_id, fresh, attend_in(expiry(fresh), self.clock.now()))

    async def _tell(self, tenant_id: str, stored: StoredAccount) -> None:
        """Tell a person that an account has to be connected again; in quiet hours at their end, with a link of then."""
        if (until := await self.notifier.quiet_until(tenant_id)) is not None:
            await self._again(tenant_id, stored, until - self.clock.now())
            return
        account = self.accounts.account_of(stored)
        chat = await self.notifier.chat_of(tenant_id)
        key = f"renew {stored.service} {stored.name} {stored.written_at.isoformat()}"
        notification = Notification(
            await self._text(tenant_id, account, chat), CATEGORY, dedupe_key=key, conversation_id=chat
        )
        told = await self.notifier.notify(tenant_id, notification)
        _log.info("renewal_told", tenant=tenant_id, service=stored.service, fate=told.fate.value)
        await note_prompt(self.database, tenant_id, MissingAccess.again(account), told.id)

    async def _text(self, tenant_id: str, account: Account, chat: str | None) -> str:
        person = await self.database.tenant_row(
            tenant_id,
            "select nullif(language, '') as language, hears_of_mail($1,$2,$3) as watched from tenants"
            " where tenant_id = $1",
            account.service,
            account.name,
        )
        with speaking(person["language"] if person else None):
            wanted = MissingAccess.again(account)
            link = await self.accounts.link(tenant_id, chat, wanted)
            name = account_name(account)
            said = sentence(wanted, link) if link else _without_link(name)
            unread = gettext("Until then I do not see new mail there.") if person and person["watched"] else ""
            return "\n".join(filter(None, [said, unread]))

    async def _again(self, tenant_id: str, stored: StoredAccount, wait: timedelta | None) -> None:
        """Set the wait before an account's next check, None for none, unless the account has changed meanwhile."""
        await self.database.repeat(
            tenant_id,
            "update credentials set attend_at = clock_timestamp() + $6::interval where tenant_id = $1 and service = $2"
            " and account_name = $3 and updated_at = $4 and (revoked_at is not null) = $5",
            stored.service,
            stored.name,
            stored.written_at,
            stored.revoked,
            wait,
        )


def _without_link(name: str) -> str:
    return gettext("I no longer have access to your account {account}: it has to be connected again.", account=name)
