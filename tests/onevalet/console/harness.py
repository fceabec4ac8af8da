"""The console on a port of this machine, two people who have talked, and browsers."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import unescape

import aiohttp

from channels.http.app import build_app, serve
from core.clock import Clock
from core.console.sign_in import ConsoleSignIn
from core.ids import make_id
from onevalet.console.access import ConsoleAccess
from onevalet.console.door import ConsoleDoor
from onevalet.console.routes import ConsoleRoutes
from onevalet.console.texts import Texts
from tests.core.harness import Store

ANN, BOB = "+15550000001", "+15550000002"


class MovedClock(Clock):
    """The system's time, moved on by a test."""

    def __init__(self) -> None:
        super().__init__()
        self.later = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.later


@dataclass
class Browser:
    """A browser with one cookie jar, which follows no redirect by itself."""

    session: aiohttp.ClientSession
    url: str
    page: str = ""
    status: int = 0

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> int:
        async with self.session.get(self._at(path), headers=headers, allow_redirects=False) as answer:
            return await self._kept(answer)

    async def post(
        self, path: str, fields: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> int:
        async with self.session.post(self._at(path), data=fields, headers=headers, allow_redirects=False) as answer:
            return await self._kept(answer)

    async def sign_in(self, link: str) -> int:
        """Open a link and press its button."""
        await self.get(link)
        return await self.post(link)

    @property
    def proof(self) -> str:
        """Return the proof in the form of the last page."""
        match = re.search(r'name="proof" value="(\w+)"', self.page)
        assert match is not None
        return match[1]

    @property
    def text(self) -> str:
        """Return what the last page says, without its markup."""
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", self.page)).split())

    def links(self, part: str) -> list[str]:
        """Return the addresses on the last page that contain a text."""
        return [unescape(href) for href in re.findall(r'href="([^"]+)"', self.page) if part in href]

    def _at(self, path: str) -> str:
        return path if path.startswith("http") else f"{self.url}{path}"

    async def _kept(self, answer: aiohttp.ClientResponse) -> int:
        self.page, self.status = await answer.text(), answer.status
        return self.status


@dataclass
class Console:
    """The running console."""

    store: Store
    sign_in: ConsoleSignIn
    clock: MovedClock
    texts: Texts
    url: str

    async def link(self, sender: str) -> str:
        """Return a new link of a person's."""
        link = await self.sign_in.link(await self.tenant(sender), self.clock.now())
        assert link is not None
        return link

    async def tenant(self, sender: str) -> str:
        return str(await self.store.one("select tenant_id from identities where user_key = $1", sender))

    @asynccontextmanager
    async def browser(self, sender: str = "") -> AsyncIterator[Browser]:
        """Yield a browser, of somebody who has signed in where a sender is given."""
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            browser = Browser(session, self.url)
            if sender:
                assert await browser.sign_in(await self.link(sender)) == 303
            yield browser


@asynccontextmanager
async def open_console(store: Store, *, local: bool = False, texts: bool = False) -> AsyncIterator[Console]:
    """Serve the console to Ann, who is an owner, and Bob, who is a member; both have talked."""
    clock = MovedClock()
    for sender, said, answered in ((ANN, "What is on today?", "The dentist."), (BOB, "My secret is tea.", "Noted.")):
        await store.say(said, sender=sender)
        lease, turn = await store.claim_turn()
        await store.finish(lease, turn, answered)
        await store.send(await store.claim_sending(answered))
    await store.admin.execute(
        "update tenants set role = 'owner' where tenant_id = (select tenant_id from identities where user_key = $1)",
        ANN,
    )
    app = build_app([], ready=store.database.ready)
    sign_in = ConsoleSignIn(store.database, "http://console.test")
    seen = Texts(make_id, for_operators=texts)
    access = ConsoleAccess(sign_in, store.database, clock, local=local)
    app.add_routes(ConsoleDoor(ConsoleRoutes(access, store.database, seen).handlers).routes())
    async with serve(app, "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        yield Console(store, ConsoleSignIn(store.database, url), clock, seen, url)
