"""The pages on which accounts are connected, in headless Chromium: by keyboard, and as wide as a phone."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from abilities.accounts.kinds import CALENDAR, CONTACTS, MAIL
from abilities.accounts.services import Services, openid
from abilities.accounts.types import Endpoints, OAuthClient, Scope, Service
from core.credentials.store import CredentialStore
from core.credentials.types import Ability
from core.db.database import Database
from core.json_types import JsonObject
from tests.abilities.accounts.connect.harness import SERVERS, Pages, served
from tests.core.credentials.conftest import admin as admin
from tests.core.credentials.conftest import database as database
from tests.core.credentials.conftest import key as key
from tests.core.credentials.conftest import store as store
from tests.page.chromium import NARROW, WIDE, Page

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]

STICKING_OUT = (
    "[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth)"
)
NAMELESS = """[...document.querySelectorAll('input:not([type=hidden]), select, button')]
    .filter((one) => !(one.labels?.length || one.innerText)).map((one) => one.name)"""
FOCUSED = "document.activeElement.name"


@pytest.fixture
async def provider() -> AsyncIterator[TestServer]:
    """Yield what stands for a service of another origin."""

    async def ask(request: web.Request) -> web.Response:
        scope = request.query.get("scope", "")
        return web.Response(text=f"<title>Elsewhere</title>{scope}", content_type="text/html")

    application = web.Application()
    application.router.add_get("/{any}", ask)  # its icon, too
    server = TestServer(application)
    async with server:
        yield server


def google(provider: TestServer) -> Service:
    """Return a service as Google is, whose pages are at another origin."""
    url = str(provider.make_url("/authorize"))
    client = OAuthClient("valet", "secret", "https://id.example", Endpoints("https://id.example", url, url, url))
    calendar_read = frozenset({Ability.CALENDAR_READ})
    scopes = (Scope("mail", MAIL), Scope("calendar.readonly", calendar_read), Scope("calendar", CALENDAR))
    servers = SERVERS | {"smtp": "smtps://smtp.example.org:465", "carddav": "https://dav.example.org/"}
    return openid("google", "Google", client, servers, (*scopes, Scope("contacts", CONTACTS)))


@pytest.fixture
async def pages(
    database: Database, store: CredentialStore, provider: TestServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Pages]:
    """Yield the pages."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    async with served(database, store, Services.of([google(provider)]), "127.0.0.1:9") as pages:
        yield pages


async def test_what_is_wrong_about_a_typed_mailbox_stands_at_its_field(page: Page, pages: Pages) -> None:
    await page.resize(NARROW)
    await page.visit(await pages.link(service="email"))
    assert await page.evaluate(NAMELESS) == []
    await page.evaluate("document.querySelector('#address').focus()")
    for typed in ("ann@example.org", "", "s3cret-word", "127.0.0.1"):
        await page.insert(typed)
        await page.press("Tab")
    assert await page.evaluate(FOCUSED) == "imap_port"
    await page.evaluate("document.activeElement.select()")
    await page.insert("9")
    await page.press("Enter")
    await page.until("document.querySelector('#problem')")
    assert "127.0.0.1 cannot be reached" in await page.evaluate("document.querySelector('#problem').innerText")
    await page.until(f"{FOCUSED} === 'imap_host'")
    assert await page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "problem"
    assert await page.evaluate("document.querySelector('#address').value") == "ann@example.org"
    assert await page.evaluate("document.querySelector('[name=imap_port]').value") == "9"
    assert await page.evaluate("document.querySelector('#password').value") == ""
    assert "s3cret" not in await page.evaluate("document.documentElement.outerHTML")
    assert await page.evaluate(f"{STICKING_OUT}.length") == 0
    page.problems.clear()  # the 422 of the page
    await page.leave()


async def test_the_button_leads_to_a_service_of_another_origin(page: Page, pages: Pages, provider: TestServer) -> None:
    for size in (NARROW, WIDE):
        await page.resize(size)
        await page.visit(await pages.link(service=""))
        assert await page.evaluate(NAMELESS) == []
        await page.click("button", "Google")
        await page.until("document.querySelector('[name=calendar]')")
        assert await page.evaluate(NAMELESS) == []
        assert await page.evaluate(f"{STICKING_OUT}.length") == 0
        await page.click("label.tick", "calendars")
        await page.click("button", "Continue to Google")
        await page.until("document.title === 'Elsewhere'")
        assert await page.evaluate("document.body.innerText") == "openid email calendar"
    await page.leave()


async def test_more_is_asked_for_apart_from_what_is_allowed(page: Page, pages: Pages) -> None:
    kept: JsonObject = {"access_token": "x", "expires_at": "2099-01-01T00:00:00+00:00", "scopes": ["mail"]}
    await pages.store.save("ann", "google", kept | {"address": "ann@example.org"}, "ann@example.org")
    await page.visit(await pages.link(service="google", abilities=[Ability.CALENDAR_READ]))
    shown = await page.evaluate("document.querySelector('.card').innerText")
    before, _, more = shown.partition("For what you asked I need more")
    assert "It lets me already:\n\nread and search your mail" in before
    assert "see your calendars" in more
    assert "create and change events" not in more
    await page.click("button", "Continue to Google")
    await page.until("document.title === 'Elsewhere'")
    assert await page.evaluate("document.body.innerText") == "openid email calendar.readonly mail"
    await page.leave()
