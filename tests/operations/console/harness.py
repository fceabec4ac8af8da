"""The console on a port of this machine, two people who have talked, and browsers."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from aiohttp import web

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from channels.http.app import build_app, serve
from channels.http.penalties import BadRequests
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.ids import make_id
from core.tools.memory_access import MemoryAccess
from onevalet.settings import Settings
from onevalet.wiring.abilities import service_foundation
from onevalet.wiring.ability_pages import load_pages
from onevalet.wiring.accounts import access_to
from onevalet.wiring.memories import open_memories
from onevalet.wiring.people import build_linking
from operations.console.door import ConsoleDoor
from operations.console.live import Doing, nothing_told
from operations.console.pages.base import Kit
from operations.console.routes import ConsoleRoutes
from operations.console.services import PersonServices
from operations.console.sign_in import ConsoleSignIn
from operations.console.texts import Texts
from operations.console.visits import ConsoleVisits
from operations.programs.tokens import ClientTokens
from tests.core.credentials.harness import KEYS, store_with
from tests.core.harness import Store
from tests.operations.console.browser import Browser, open_browser

ANN, BOB = "+15550000001", "+15550000002"
TOKEN_KEY = b"key of tokens"
_MANY = 1_000_000


class MovedClock(Clock):
    """The system's time, moved on by a test."""

    def __init__(self) -> None:
        super().__init__()
        self.later = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.later


@dataclass
class Console:
    """The running console."""

    store: Store
    sign_in: ConsoleSignIn
    clock: MovedClock
    texts: Texts
    url: str
    routes: Sequence[web.RouteDef]
    credentials: CredentialStore
    memory: Callable[[str], MemoryAccess] | None

    async def link(self, sender: str) -> str:
        """Return a new link of a person's."""
        link = await self.sign_in.link(await self.tenant(sender), self.clock.now())
        assert link is not None
        return link

    async def tenant(self, sender: str) -> str:
        return await self.store.db.person(sender)

    @asynccontextmanager
    async def browser(self, sender: str = "") -> AsyncIterator[Browser]:
        """Yield a browser, of somebody who has signed in where a sender is given."""
        async with open_browser(self.url) as browser:
            if sender:
                assert await browser.sign_in(await self.link(sender)) == 303
            yield browser


@asynccontextmanager
async def open_console(
    store: Store, *, local: bool = False, texts: bool = False, doing: Doing = nothing_told
) -> AsyncIterator[Console]:
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
    # Walks ask for more that is missing than the usual limit allows.
    app = build_app([], ready=store.database.ready, bad_requests=BadRequests(_MANY, of_a_proof=_MANY))
    sign_in = ConsoleSignIn(store.database, "http://console.test", KEYS)
    seen = Texts(make_id, for_operators=texts)
    visits = ConsoleVisits(sign_in, store.database, clock, local=local)
    credentials = store_with(store.database, *KEYS.all)
    services = build_services(store, credentials, clock)
    foundation = service_foundation(Settings(_env_file=None), store.database, clock, access_to(services.accounts))
    further = load_pages(foundation)
    kit = Kit.build(
        visits,
        store.database,
        seen,
        store.wakeups,
        services,
        renderer=further.renderer(),
        said=further.said,
        doing=doing,
    )
    routes = ConsoleRoutes(kit, further.makes).routes()
    app.add_routes(ConsoleDoor(lambda: routes, sign_in).routes())
    async with serve(app, "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        opens = ConsoleSignIn(store.database, url, KEYS)
        yield Console(store, opens, clock, seen, url, routes, credentials, services.memory)


def build_services(store: Store, credentials: CredentialStore, clock: Clock) -> PersonServices:
    """Return what the pages about people act through; nothing is connected."""
    memory = open_memories(Settings(_env_file=None), store.database, clock)
    accounts, linking = Accounts(credentials, Services.of()), build_linking(store.database, credentials, clock)
    tokens = ClientTokens(store.database, make_id, [TOKEN_KEY])
    return PersonServices(accounts, linking, ("guest", "member", "owner", "patron"), memory, tokens)
