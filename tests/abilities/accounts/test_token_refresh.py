"""Fresh tokens: one refresh for all processes, none lost to a kill, a revoked grant noticed."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.oauth import OAuthServers
from abilities.accounts.services import Services, openid
from abilities.accounts.token_refresh import LEASE, FreshTokens
from abilities.accounts.types import Endpoints, OAuthClient
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.errors import AccountMissing, ToolFailed
from core.http.types import HttpResponse
from core.ids import make_id
from core.json_types import Json, JsonObject

type Admin = asyncpg.Connection[asyncpg.Record]
ISSUER = "https://id.example"
CLIENT = OAuthClient(
    "us", "secret", ISSUER, Endpoints(ISSUER, f"{ISSUER}/a", f"{ISSUER}/t", f"{ISSUER}/k", f"{ISSUER}/r")
)
WORK = openid("work", "Work", CLIENT, {"imap": "imaps://imap.example:993"})


class RotatingServer:
    """An OAuth server that changes refresh tokens each time. `grace`: it accepts the one of before as well."""

    def __init__(self, *, grace: bool = True) -> None:
        self.grace = grace
        self.number = 1
        self.asked: list[str] = []
        self.revoked: list[str] = []
        self.away = False
        self.heard = asyncio.Event()
        self.hold = asyncio.Event()
        self.hold.set()

    async def request(self, method: str, url: str, *, body: bytes | None = None, **more: object) -> HttpResponse:
        form = dict(part.split("=", 1) for part in (body or b"").decode().split("&"))
        if url.endswith("/r"):
            self.revoked.append(form["token"])
            return _json(200, {})
        self.asked.append(form["refresh_token"])
        if self.away:
            raise ToolFailed("away")
        known = {f"r{self.number}"} | ({f"r{self.number - 1}"} if self.grace else set())
        if form["refresh_token"] not in known:
            return _json(400, {"error": "invalid_grant"})
        self.number += 1
        self.heard.set()
        given = self.number
        await self.hold.wait()
        fresh: JsonObject = {"access_token": f"a{given}", "refresh_token": f"r{given}", "expires_in": 3600}
        return _json(200, fresh | {"token_type": "Bearer"})


def _json(status: int, value: Json) -> HttpResponse:
    return HttpResponse(status, {"Content-Type": "application/json"}, json.dumps(value).encode())


def process(database: Database, store: CredentialStore, server: RotatingServer) -> Accounts:
    """Return the accounts as one worker has them."""
    tokens = FreshTokens(database, store, OAuthServers(server, Clock()), Clock(), make_id)
    return Accounts(store, Services.of([WORK]), tokens)


async def keep(store: CredentialStore, minutes: float) -> None:
    until = datetime.now(UTC) + timedelta(minutes=minutes)
    stored: JsonObject = {"access_token": "a1", "refresh_token": "r1", "expires_at": until.isoformat()}
    await store.save("ann", "work", stored | {"scopes": [], "address": "ann@work.example"})


async def test_a_token_is_refreshed_ahead_of_its_end_only(database: Database, store: CredentialStore) -> None:
    server = RotatingServer()
    accounts = process(database, store, server)
    await keep(store, 10)
    assert (await accounts.open("ann", "mail.read")).secret == "a1"
    assert server.asked == []
    await keep(store, 4)
    assert (await accounts.open("ann", "mail.read")).secret == "a2"
    assert (await accounts.open("ann", "mail.read")).secret == "a2"
    assert server.asked == ["r1"]
    kept = await store.get("ann", "work")
    assert kept is not None
    assert (kept["refresh_token"], kept["address"]) == ("r2", "ann@work.example")


async def test_two_workers_that_need_one_token_refresh_it_once(database: Database, store: CredentialStore) -> None:
    server = RotatingServer(grace=False)
    await keep(store, -1)
    workers = [process(database, store, server) for _ in range(2)]
    server.hold.clear()
    opening = [asyncio.create_task(worker.open("ann", "mail.read")) for worker in workers for _ in range(3)]
    await server.heard.wait()
    server.hold.set()
    assert {opened.secret for opened in await asyncio.gather(*opening)} == {"a2"}
    assert server.asked == ["r1"]


async def test_while_another_refreshes_a_token_that_is_still_good_is_used(
    database: Database, store: CredentialStore
) -> None:
    server = RotatingServer()
    await keep(store, 4)
    server.hold.clear()
    first = asyncio.create_task(process(database, store, server).open("ann", "mail.read"))
    await server.heard.wait()
    assert (await process(database, store, server).open("ann", "mail.read")).secret == "a1"
    server.hold.set()
    assert (await first).secret == "a2"


@pytest.mark.parametrize("grace", [True, False])
async def test_a_death_after_the_servers_answer_loses_no_account(
    database: Database, store: CredentialStore, admin: Admin, grace: bool
) -> None:
    server = RotatingServer(grace=grace)
    await keep(store, -1)
    server.hold.clear()
    dying = asyncio.create_task(process(database, store, server).open("ann", "mail.read"))
    await server.heard.wait()
    dying.cancel()  # the server has changed the token, and nobody has stored the new one
    await asyncio.gather(dying, return_exceptions=True)
    server.hold.set()
    await admin.execute("update credentials set refreshing_until = refreshing_until - $1::interval", LEASE)
    if grace:
        assert (await process(database, store, server).open("ann", "mail.read")).secret == "a3"
        assert server.asked == ["r1", "r1"]
        return
    with pytest.raises(AccountMissing, match="has to be connected again"):
        await process(database, store, server).open("ann", "mail.read")
    assert await admin.fetchval("select revoked_at is not null from credentials")
    with pytest.raises(AccountMissing):
        await process(database, store, server).open("ann", "mail.read")
    assert server.asked == ["r1", "r1"]  # a revoked account asks no more


async def test_a_server_that_is_away_revokes_nothing(database: Database, store: CredentialStore, admin: Admin) -> None:
    server = RotatingServer()
    server.away = True
    accounts = process(database, store, server)
    await keep(store, 3)
    assert (await accounts.open("ann", "mail.read")).secret == "a1"
    await keep(store, -1)
    with pytest.raises(ToolFailed, match="away"):
        await accounts.open("ann", "mail.read")
    assert await admin.fetchval("select revoked_at is null and refreshing_until is null from credentials")
    server.away = False
    assert (await accounts.open("ann", "mail.read")).secret == "a2"


async def test_what_is_connected_anew_meanwhile_is_not_overwritten(database: Database, store: CredentialStore) -> None:
    server = RotatingServer()
    await keep(store, -1)
    server.hold.clear()
    slow = asyncio.create_task(process(database, store, server).open("ann", "mail.read"))
    await server.heard.wait()
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    anew: JsonObject = {"access_token": "anew", "refresh_token": "other", "expires_at": until, "scopes": []}
    await store.save("ann", "work", anew)
    server.hold.set()
    assert (await slow).secret == "anew"


async def test_an_account_that_is_ended_meanwhile_is_ended_at_its_server_too(
    database: Database, store: CredentialStore
) -> None:
    server = RotatingServer()
    await keep(store, -1)
    server.hold.clear()
    slow = asyncio.create_task(process(database, store, server).open("ann", "mail.read"))
    await server.heard.wait()
    await store.delete("ann", "work")
    server.hold.set()
    with pytest.raises(AccountMissing):
        await slow
    assert server.revoked == ["r2"]


async def test_disconnecting_ends_the_grant_and_forgets(database: Database, store: CredentialStore) -> None:
    server = RotatingServer()
    accounts = process(database, store, server)
    await keep(store, 30)
    said = await accounts.for_tenant("ann").disconnect("ann@work.example")
    assert "is disconnected" in said
    assert server.revoked == ["r1"]
    assert await store.get("ann", "work") is None
    assert "no account" in await accounts.for_tenant("ann").disconnect("work")
