"""A card that is decided in the console runs and is redrawn in the chat that has it, on every channel."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from channels.http.app import build_app, serve
from core.json_types import Json
from operations.console.pages.base import Kit
from operations.console.routes import ConsoleRoutes
from operations.console.sign_in import ConsoleSignIn
from operations.console.texts import Texts
from operations.console.visits import ConsoleVisits
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import says, wants
from tests.core.credentials.harness import KEYS, store_with
from tests.operations.console.browser import Browser, open_browser
from tests.operations.console.harness import build_services

MAIL: Json = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday at noon?"}


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system on an empty database."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        yield system


@pytest.mark.parametrize("verb", ["approve", "cancel"])
async def test_promise_10_a_card_decided_in_the_console_is_redrawn(system: Approving, verb: str) -> None:
    system.model.script = [wants(("send_mail", MAIL)), says("That is settled.")]
    await system.say("mail sam about lunch")
    shown, code = system.card(), await system.code()
    async with _console(system) as browser:
        await browser.get("/console/waiting")
        [page] = browser.links("/approvals/")
        await browser.get(page)
        for part in (code, "sam@example.com", "Lunch", "Friday at noon?"):
            assert part in browser.text
        assert await browser.post(f"{page}/{verb}", browser.form) == 303
    await system.work()
    assert system.sent == ([MAIL] if verb == "approve" else [])
    assert system.last() == "That is settled."
    drawn = next(bubble for bubble in system.delivery.channel.bubbles() if bubble.id == shown.id)
    if system.delivery.channel.has_buttons:
        assert ("Approved at" if verb == "approve" else "Cancelled at") in drawn.text
        assert drawn.buttons == ()
    await system.say(f"OK {code}")
    assert "by you in the console" in system.last()


@asynccontextmanager
async def _console(system: Approving) -> AsyncIterator[Browser]:
    """Yield a browser in which the system's only person has signed in."""
    store = system.delivery.store
    visits = ConsoleVisits(ConsoleSignIn(store.database, "http://console.test", KEYS), store.database, system.clock)
    app = build_app([], ready=store.database.ready)
    services = build_services(store, store_with(store.database, *KEYS.all), system.clock)
    kit = Kit.build(visits, store.database, Texts(store.make_id), store.wakeups, services)
    app.add_routes(ConsoleRoutes(kit).routes())
    async with serve(app, "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        tenant = await store.db.person()
        link = await ConsoleSignIn(store.database, url, KEYS).link(tenant, system.clock.now())
        assert link is not None
        async with open_browser(url) as browser:
            assert await browser.sign_in(link) == 303
            yield browser
