"""Fresh tokens: refreshed ahead of their expiry, by a single process for all, and never lost."""

import asyncio
import json
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from abilities.accounts.oauth import GrantRevoked, OAuthServers, Tokens
from abilities.accounts.types import OAuthClient
from core.clock import Clock
from core.credentials.store import TELL_AFTER, CredentialStore
from core.credentials.types import StoredAccount
from core.db.database import Database
from core.errors import StoreUnavailable, ToolFailed
from core.ids import IdMaker
from core.json_types import JsonObject
from core.language.catalogue import gettext

AHEAD = timedelta(minutes=5)
"""The time before its end at which a token is refreshed."""
LEFT = timedelta(seconds=60)
"""Minimum remaining lifetime of a token that is handed out."""
OFTEN = timedelta(minutes=1)
"""Minimum interval between background refreshes of a token."""
LEASE = timedelta(seconds=60)
"""Longer than two requests and the commit; after it, others take over from a worker that died."""
PATIENCE = 75.0
PAUSE = 0.1
COMMITS = 3
_log = structlog.get_logger()


class FreshTokens:
    """Keep the tokens of all accounts fresh.

    A single process at a time asks for new tokens (a lease in the account's row, which ends by itself). The server's
    answer is committed before it is used. If a process dies between the answer and its commit, the next process asks
    with the refresh token of before: Google and Microsoft accept it still; a server that changes it each time either
    accepts it for a while, or takes it for stolen and ends the grant, which is noticed here and reported to the person.
    """

    def __init__(
        self, database: Database, credentials: CredentialStore, servers: OAuthServers, clock: Clock, make_id: IdMaker
    ) -> None:
        self._database = database
        self._credentials = credentials
        self.servers = servers
        self._clock = clock
        self._make_id = make_id

    async def fresh(self, tenant_id: str, stored: StoredAccount, client: OAuthClient) -> StoredAccount | None:
        """Return the account with a token that is valid for a while; None if it is gone.

        An account whose grant was revoked is returned so. Raises `ToolFailed` while its server does not answer.
        """
        by = self._make_id("rf")
        deadline = asyncio.get_running_loop().time() + PATIENCE
        account: StoredAccount | None = stored
        while account is not None and not account.revoked and self._left(account) <= AHEAD:
            match await self._begin(tenant_id, account, by):
                case "ours":
                    return await self._refresh(tenant_id, account, client)
                case "busy" if self._left(account) > LEFT:
                    return account
                case "busy" if asyncio.get_running_loop().time() > deadline:
                    raise ToolFailed(gettext("The service does not answer at the moment."))
                case "busy":
                    await asyncio.sleep(PAUSE)
            account = await self._again(tenant_id, account)
        return account

    async def _refresh(self, tenant_id: str, account: StoredAccount, client: OAuthClient) -> StoredAccount | None:
        known = account.credentials or {}
        try:
            given = await self._granted(account, client)
        except GrantRevoked:
            _log.warning("grant_revoked", tenant=tenant_id, service=account.service)
            await self._end(tenant_id, account, again_in=TELL_AFTER, revoked=True)
            return await self._again(tenant_id, account)
        except ToolFailed:
            await self._end(tenant_id, account)
            if self._left(account) > timedelta():
                return account
            raise
        await self._commit(tenant_id, account, renewed(known, given), attend_in(given.expires_at, self._clock.now()))
        now_stored = await self._again(tenant_id, account)
        if now_stored is None:  # disconnected meanwhile: nobody may use the new grant
            await self.servers.revoke(client, given.refresh or given.access)
        return now_stored

    async def _granted(self, account: StoredAccount, client: OAuthClient) -> Tokens:
        token = str((account.credentials or {}).get("refresh_token") or "")
        if not token and self._left(account) <= timedelta():
            raise GrantRevoked("it has run out, and there is nothing to refresh it with")
        if not token:
            raise ToolFailed("There is nothing to refresh it with.")
        return await self.servers.refresh(client, token)

    async def _commit(
        self, tenant_id: str, account: StoredAccount, credentials: JsonObject, again_in: timedelta
    ) -> None:
        plain = json.dumps(credentials).encode()
        for attempt in range(1, COMMITS + 1):  # the new tokens are nowhere else
            try:
                version, sealed = await self._credentials.seal_for(tenant_id, plain, account.service, account.name)
                await self._end(tenant_id, account, version, sealed, again_in=again_in)
            except StoreUnavailable:
                if attempt == COMMITS:
                    raise
            else:
                return

    async def _begin(self, tenant_id: str, account: StoredAccount, by: str) -> str:
        row = await self._database.one(
            "select begin_refresh($1,$2,$3,$4,$5,$6) as begun",
            tenant_id,
            account.service,
            account.name,
            account.written_at,
            by,
            LEASE,
        )
        return str(row["begun"])

    async def _end(
        self,
        tenant_id: str,
        account: StoredAccount,
        key_version: int | None = None,
        sealed: bytes | None = None,
        *,
        again_in: timedelta | None = None,
        revoked: bool = False,
    ) -> None:
        await self._database.rows(
            "select end_refresh($1,$2,$3,$4,$5,$6,$7,$8)",
            tenant_id,
            account.service,
            account.name,
            account.written_at,
            key_version,
            sealed,
            revoked,
            again_in,
        )

    async def _again(self, tenant_id: str, account: StoredAccount) -> StoredAccount | None:
        return next(
            (
                stored
                for stored in await self._credentials.stored(tenant_id)
                if (stored.service, stored.name) == (account.service, account.name)
            ),
            None,
        )

    def _left(self, account: StoredAccount) -> timedelta:
        return expiry(account) - self._clock.now()


def expiry(account: StoredAccount) -> datetime:
    """Return the end of an account's access token."""
    return datetime.fromisoformat(str((account.credentials or {})["expires_at"]))


def attend_in(expires_at: datetime, now: datetime) -> timedelta:
    """Return the time until a token is refreshed, whether anybody uses it or not."""
    return max(expires_at - AHEAD - now, OFTEN)


def stored_form(tokens: Tokens) -> JsonObject:
    """Return tokens as they are stored."""
    return {
        "access_token": tokens.access,
        "refresh_token": tokens.refresh,
        "expires_at": tokens.expires_at.isoformat(),
        "scopes": list(tokens.scopes),
    }


def renewed(known: JsonObject, given: Tokens) -> JsonObject:
    """Return the credentials to store after a refresh: a server that gives no new refresh token means the old token."""
    scopes = given.scopes or tuple(str(scope) for scope in _list(known.get("scopes")))
    kept = replace(given, refresh=given.refresh or str(known.get("refresh_token") or ""), scopes=scopes)
    return known | stored_form(kept)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
