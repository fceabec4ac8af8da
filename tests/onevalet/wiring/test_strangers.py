"""A stranger costs nothing: every registered address is asked as they ask it, over HTTP, with the limits as shipped."""

import base64
import os
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from aiohttp import web

from abilities.accounts.links import ConnectLinkStore
from core.credentials.own_tokens import OwnTokens
from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from core.errors import RequestRefused
from core.files.links import FileLinks
from operations.console.sign_in import ConsoleSignIn
from operations.tenants.links import ExportLinks
from tests.core.harness import opened
from tests.examples import scaled, sized
from tests.onevalet.wiring.served import KEYS, PUBLIC_URL, Address, Served, open_served, raw
from tests.postgres_meter import PostgresMeter, metered

REQUESTS = sized(330, full=1000)
"""To each address: some more than are answered of one source."""
BAD_A_MINUTE, BAD_OF_A_PROOF = 300, 60
"""What docs/access.md promises; not what the code says of itself."""
MOST_TRANSACTIONS = 10
OTHERS_KEYS = SecretKeys.from_text(base64.b64encode(os.urandom(32)).decode())
ALWAYS_ANSWERED = {"/healthz", "/readyz", "/place/here.js"}
"""Probes, and a script that is the same for everybody."""


def _forged() -> Iterator[tuple[str, str, str]]:
    """Yield what a stranger makes up for a link, a session and a bearer: by keys of their own, and by chance."""
    links = FileLinks.of(OTHERS_KEYS, "")
    while True:
        for kind in ("connect link", "connect state", "console link", "console session", "export link"):
            made = OwnTokens.of(OTHERS_KEYS, kind, plain=kind.endswith(" link")).make("tn_1")
            yield made, made, f"ovt_{OwnTokens.of(OTHERS_KEYS, kind).make('tn_1')}"
        for made in (secrets.token_hex(16), secrets.token_urlsafe(32), f"07.{secrets.token_hex(16)}"):
            yield made, made, f"ovt_{secrets.token_urlsafe(32)}"
        made = links.make("tn_1", "f0123456789", datetime.now(UTC)).rpartition("/")[2]
        yield made, secrets.token_urlsafe(32), "ovt_x"


def _knocks(address: Address, number: int) -> Iterator[bytes]:
    forged = _forged()
    for turn in range(number):
        link, session, bearer = next(forged)
        headers = [
            (
                "Cookie",
                f"__Host-onevalet-console={session}; __Host-onevalet-connect={secrets.token_urlsafe(32)}".encode(),
            ),
            ("Authorization", f"Bearer {bearer}".encode()),
        ]
        body = b"" if address.method in ("GET", "HEAD") else b"go=on"
        if body:
            headers.append(("Content-Type", b"application/x-www-form-urlencoded"))
        query = f"?state={session}&code=x" if turn % 2 or address.pattern.endswith("/callback") else ""
        yield raw("POST" if address.method == "*" else address.method, address.path(link) + query, headers, body)


class Walk:
    """Asks one address after the other, each from a source of its own, and counts what that cost."""

    def __init__(self, served: Served, meter: PostgresMeter) -> None:
        self.served = served
        self.meter = meter
        self._sources = 0

    def source(self) -> str:
        self._sources += 1
        return f"127.0.{1 + self._sources // 250}.{1 + self._sources % 250}"

    async def knock(self, address: Address, number: int) -> tuple[int, Counter[int]]:
        """Return the transactions that so many requests cost, and their statuses."""
        self.meter.clear()
        statuses = Counter(await self.served.statuses(_knocks(address, number), self.source()))
        return self.meter.transactions, statuses


@asynccontextmanager
async def walking(
    database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch, *plant: web.RouteDef
) -> AsyncIterator[Walk]:
    """Yield a walk over a real web process, whose wire to Postgres counts."""
    async with (
        metered(database_url) as meter,
        open_served(meter.url, redis_url, monkeypatch, plant=plant) as served,
    ):
        yield Walk(served, meter)


async def test_promise_12_strangers_reach_postgres_by_no_registered_address(
    database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with walking(database_url, redis_url, monkeypatch) as walk:
        addresses = walk.served.addresses()
        assert {"/readyz", "/metrics", "/mcp", "/connect/callback", "/webhooks/sms", "/console/live"} <= {
            address.pattern for address in addresses
        }
        for address in addresses:
            number = scaled(REQUESTS)
            transactions, statuses = await walk.knock(address, number)
            assert transactions <= MOST_TRANSACTIONS, (address, transactions, statuses)
            if address.pattern in ALWAYS_ANSWERED:
                assert set(statuses) == {200}, (address, statuses)
            else:
                assert all(400 <= status < 500 for status in statuses), (address, statuses)
                assert statuses[429] == max(0, number - BAD_A_MINUTE), (address, statuses)


async def test_promise_12_a_page_without_a_proof_is_found(
    database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Database] = []

    async def look_up(request: web.Request) -> web.Response:
        await asked[0].rows("select 1")
        raise RequestRefused("no such page", status=404)

    async with walking(database_url, redis_url, monkeypatch, web.get("/new/{token}", look_up)) as walk:
        asked.append(Database(walk.meter.url, size=1, name="onevalet planted"))
        try:
            address = Address("GET", "/new/{token}")
            assert address in walk.served.addresses()
            transactions, statuses = await walk.knock(address, REQUESTS)
        finally:
            await asked[0].close()
        assert transactions > MOST_TRANSACTIONS
        # The limit as shipped refuses the others before its handler: were it higher, this would be too.
        assert BAD_A_MINUTE <= transactions <= BAD_A_MINUTE + MOST_TRANSACTIONS
        assert statuses == {404: BAD_A_MINUTE, 429: REQUESTS - BAD_A_MINUTE}


async def test_promise_12_who_shows_a_proof_is_answered_behind_the_same_proxy(
    database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    async with (
        opened(database_url) as store,
        walking(database_url, redis_url, monkeypatch) as walk,
    ):
        await store.say("hello")
        person = await store.db.person()
        sign_in = ConsoleSignIn(store.database, PUBLIC_URL, KEYS)
        links = [
            await ConnectLinkStore(store.database, PUBLIC_URL, KEYS).make(person, None, now),
            await ExportLinks(store.database, PUBLIC_URL, KEYS).link(person, now),
            await sign_in.link(person, now),
            await sign_in.link(person, now),
        ]
        paths = [str(link).removeprefix(PUBLIC_URL) for link in links]
        session = await sign_in.begin(paths.pop().rpartition("/")[2], now)
        source = walk.source()
        flood = _knocks(Address("GET", "/connect/{token}"), BAD_A_MINUTE + 1)
        assert (await walk.served.statuses(flood, source))[-1] == 429
        assert await walk.served.statuses([raw("GET", path) for path in paths], source) == [200] * len(paths)
        cookie = [("Cookie", f"__Host-onevalet-console={session}".encode())]
        assert await walk.served.statuses([raw("GET", "/console", cookie)], source) == [200]
        # A link of ours that leads nowhere any more is refused by itself, and shuts out nobody else.
        await store.db.connect_links.delete()
        walk.meter.clear()
        again = await walk.served.statuses([raw("GET", paths[0])] * REQUESTS, source)
        assert Counter(again) == {404: BAD_OF_A_PROOF, 429: REQUESTS - BAD_OF_A_PROOF}
        assert walk.meter.transactions <= 3 * BAD_OF_A_PROOF
        assert await walk.served.statuses([raw("GET", "/console", cookie)], source) == [200]
