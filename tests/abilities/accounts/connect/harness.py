"""The pages on a port of this machine, and browsers that keep their cookies."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from html import unescape

import aiohttp
from pydantic import SecretStr

from abilities.accounts.connect.routes import ConnectRoutes
from abilities.accounts.connecting import Connecting
from abilities.accounts.kinds import CALENDAR, CONTACTS, MAIL
from abilities.accounts.opening import account_trials, build_accounts, build_connecting
from abilities.accounts.services import Services, openid
from abilities.accounts.trials import Trials
from abilities.accounts.types import OAuthClient, Scope, Service
from channels.http.app import build_app, serve
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.credentials.types import Ability
from core.db.database import Database
from core.http.guarded_client import GuardedClient
from core.ids import make_id
from core.queue.wakeups import NoWakeups, Wakeups
from onevalet.foundations import WebFoundation
from onevalet.settings import Settings
from onevalet.wiring.http import guarded_client
from tests.ports import free_port
from tests.servers.nanoidp import CLIENT, SECRET, Nanoidp

LINK = re.compile(r"http://127\.0\.0\.1:[0-9]+/connect/[0-9a-f]{32}")
SERVERS = {"imap": "imaps://imap.example.org:993", "caldav": "https://dav.example.org/{address}/"}


def work(server: Nanoidp) -> Service:
    """Return a service of nanoidp's accounts."""
    client = OAuthClient(CLIENT, SECRET, server.url, always=("openid", "email", "offline_access"))
    return openid("work", "Work", client, SERVERS)


def scoped(server: Nanoidp, name: str = "google", label: str = "Google") -> Service:
    """Return a service of nanoidp's accounts that has scopes, of its calendars a narrower one as well."""
    client = OAuthClient(CLIENT, SECRET, server.url, always=("openid", "email", "offline_access"))
    scopes = (
        Scope("mail", MAIL),
        Scope("calendar.readonly", frozenset({Ability.CALENDAR_READ})),
        Scope("calendar", CALENDAR),
        Scope("contacts", CONTACTS),
    )
    servers = SERVERS | {"smtp": "smtps://smtp.example.org:465", "carddav": "https://dav.example.org/{address}/"}
    return openid(name, label, client, servers, scopes)


@dataclass
class Pages:
    """The running pages."""

    url: str
    connecting: Connecting
    store: CredentialStore

    async def link(self, tenant: str = "ann", service: str = "work", account: str = "", **more: object) -> str:
        """Return a new link of a person's."""
        links, now = self.connecting.links, self.connecting.clock.now()
        url = await links.make(tenant, None, now, service=service, account_name=account, **more)  # type: ignore[arg-type]
        assert url is not None
        return url


@dataclass
class Browser:
    """A browser: one cookie jar, no redirect followed by itself."""

    session: aiohttp.ClientSession
    page: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    async def get(self, url: str) -> str:
        async with self.session.get(url, allow_redirects=False) as response:
            return await self._keep(response)

    async def submit(
        self, url: str, form: Mapping[str, str] | None = None, *, headers: dict[str, str] | None = None, **typed: str
    ) -> str:
        """Send the form of the page that is shown, as its button does; return where it leads, or the page."""
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', self.page))
        data = {name: unescape(value) for name, value in fields.items()} | {"go": "on"} | dict(form or {}) | typed
        async with self.session.post(url, data=data, headers=headers, allow_redirects=False) as response:
            await self._keep(response)
        return self.headers.get("Location", self.page)

    async def _keep(self, response: aiohttp.ClientResponse) -> str:
        self.status, self.headers, self.page = response.status, dict(response.headers), await response.text()
        return self.page


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """Yield a browser of its own."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield Browser(session)


@asynccontextmanager
async def served(
    database: Database, store: CredentialStore, services: Services, *hosts: str, wakeups: Wakeups | None = None
) -> AsyncIterator[Pages]:
    """Serve the pages inside the block. `hosts`: of servers on this machine that may be reached."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = Settings(_env_file=None, public_url=url, onevalet_secret_keys=(SecretStr("A" * 43 + "="),))
    http, clock = GuardedClient(allowed_hosts=hosts), Clock()
    guarded = partial(guarded_client, settings)
    foundation = WebFoundation(settings, database, guarded, clock, store, "", wakeups or NoWakeups())
    accounts = build_accounts(foundation, http)
    accounts.services = services
    assert accounts.offers is not None
    accounts.offers = replace(accounts.offers, services=services)
    connecting = build_connecting(foundation, accounts, http)
    app = build_app(
        (),
        ready=_ready,
        extra_routes=ConnectRoutes(connecting, http, Trials(account_trials())).routes(),
        make_request_id=make_id,
    )
    try:
        async with serve(app, "127.0.0.1", port):
            yield Pages(url, connecting, store)
    finally:
        await http.close()


async def _ready() -> bool:
    return True
