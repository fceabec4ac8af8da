"""Every page of the console as it is registered: one that somebody adds and that forgets what pages owe is found."""

import inspect
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import FunctionType, MethodType

import pytest
from aiohttp import web

from core.db.database import Database
from core.errors import ConfigError
from onevalet.ability import Ability, ConsolePages
from onevalet.wiring import ability_pages
from operations.console.pages.base import Kit, MakePages, Pages, entered, signed_in
from operations.console.pages.every import PAGES
from operations.console.sign_in import PATH
from operations.console.visits import Visit
from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, Console, open_console
from tests.operations.console.lives import HIS, NAMED, belongings, two_lives
from tests.operations.console.walks import given_of_another, registered, walk

OF_OPERATORS = {
    "GET /console/health",
    "POST /console/people/admit",
    "POST /console/people/{tenant}/address",
    "POST /console/people/{tenant}/delete",
    "POST /console/people/{tenant}/role",
}
"""Nothing is there for a member, as docs/console.md says."""
WITHOUT_TEXTS = {
    "GET /console/deliveries/stops",
    "GET /console/people",
    "GET /console/spared",
    "GET /console/spared/answers",
    "GET /console/webhooks",
}
"""Pages without a text of a member: their own line of the ledger, the way to their page, numbers, and ids."""


async def open_to_strangers(console: Console) -> list[str]:
    """Return the pages and forms that do not say to somebody without a session how to get one."""
    found = set[str]()
    async with console.browser() as stranger:
        for session in ("", "A" * 43):
            stranger.session.cookie_jar.update_cookies({"onevalet-console": session})
            for page in registered(console, "GET"):
                if await stranger.get(page) != 401 or "Write console to your assistant" not in stranger.text:
                    found.add(page)
            found |= {form for form in registered(console, "POST") if await stranger.post(form) != 401}
    return sorted(found)


async def taken_without_a_proof(console: Console) -> list[str]:
    """Return the forms that are taken without the proof of our page, from another site, or from anybody with it."""
    async with console.browser(ANN) as victim, console.browser() as stranger:
        await victim.get(PATH)
        proof, elsewhere = {"proof": victim.proof}, {"Origin": "https://evil.test"}
        found = [
            form
            for form in registered(console, "POST")
            if (await victim.post(form), await victim.post(form, proof, elsewhere)) != (403, 403)
            or await stranger.post(form, proof) != 401
        ]
        assert await victim.get(PATH) == 200
    return found


def readers(routes: Sequence[web.RouteDef]) -> dict[str, FunctionType]:
    """Return the functions and methods of all pages, and those of the console that these name, by their names."""
    pages = {type(handler.__self__) for route in routes if isinstance(handler := route.handler, MethodType)}
    modules, found = {page.__module__ for page in pages}, dict[str, FunctionType]()
    seen = set[str]()
    while waiting := modules - seen:
        seen |= waiting
        for named in (value for name in waiting for value in vars(sys.modules[name]).values()):
            home = getattr(named, "__module__", None)
            if isinstance(named, FunctionType | type) and home is not None and (home in seen or _is_reading(home)):
                modules.add(home)
                inner = vars(named).values() if isinstance(named, type) else [named]
                found |= {f"{home}.{one.__qualname__}": one for one in inner if isinstance(one, FunctionType)}
    return found


def _is_reading(module: str) -> bool:
    return module.startswith(("operations.console.reading", "operations.console.pages"))


def takes_database(reader: Callable[..., object]) -> bool:
    """Return whether a function is given the database, or reaches for one that something else has."""
    inner = inspect.unwrap(reader)
    given = [inspect.formatannotation(each.annotation) for each in inspect.signature(inner).parameters.values()]
    return any("Database" in annotation for annotation in given) or "database" in inspect.getclosurevars(inner).unbound


class Forgetful(Pages):
    """A page and a form for anybody, and those with a database of their own, which nobody asks whose it is."""

    def __init__(self, kit: Kit, database: Database) -> None:
        super().__init__(kit)
        self._database = database

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get(f"{PATH}/open", self._open),
            web.post(f"{PATH}/act", self._act),
            web.get(f"{PATH}/said/{{tenant}}", self._said),
            web.get(f"{PATH}/names", self._names),
            web.post(f"{PATH}/rename", self._rename),
        ]

    async def _open(self, request: web.Request) -> web.Response:
        return web.Response(text="hello")

    async def _act(self, request: web.Request) -> web.Response:
        return web.Response(text="done")

    @signed_in
    async def _said(self, request: web.Request, visit: Visit) -> web.Response:
        rows = await self._database.tenant_rows(
            request.match_info["tenant"], "select text from inbound where tenant_id = $1"
        )
        return web.Response(text="\n".join(row["text"] for row in rows))

    @signed_in
    async def _names(self, request: web.Request, visit: Visit) -> web.Response:
        people = await self._database.rows("select tenant_id from console_people(null, '', 10)")
        return web.Response(headers={"X-People": " ".join(row["tenant_id"] for row in people)})

    @signed_in
    async def _rename(self, request: web.Request, visit: Visit) -> web.Response:
        tenant = (await entered(request)).get("tenant", "")
        await self._database.tenant_rows(tenant, "update tenants set name = 'Eve' where tenant_id = $1")
        return web.Response(status=404)


class Pets(Pages):
    """A page with what a person said, in an ability's way, which leaves it to the scope whose it is."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/pets/{{tenant}}", self._pets)]

    @signed_in
    async def _pets(self, request: web.Request, visit: Visit) -> web.Response:
        async with visit.scope.tenant(request.match_info["tenant"]) as connection:
            rows = await connection.fetch("select text from inbound")
        return self.kit.page("pets/pets.html", visit, here="pets", said=[row["text"] for row in rows])


def brings(monkeypatch: pytest.MonkeyPatch, folder: Path, *makes: MakePages) -> None:
    """Have one ability, which brings these pages."""
    (folder / "templates").mkdir()
    (folder / "templates" / "pets.html").write_text(
        '{% extends "layout.html" %}{% block main %}<h1>Pets</h1>{{ said | join(" ") }}{% endblock %}'
    )
    pages = ConsolePages(makes, menu=[("pets", "Pets")])
    monkeypatch.setattr(ability_pages, "all_abilities", lambda: (Ability(name="pets", pages=lambda _: pages),))
    monkeypatch.setattr(ability_pages, "folder_of", lambda _: folder)


@asynccontextmanager
async def planted(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Console]:
    """Yield the console with the pages of somebody who forgot everything."""
    async with opened(database_url) as store:
        monkeypatch.setattr("operations.console.routes.PAGES", (*PAGES, lambda kit: Forgetful(kit, store.database)))
        async with open_console(store) as console:
            yield console


async def test_promise_12_no_page_or_form_answers_a_stranger(console: Console) -> None:
    assert {"/console", "/console/turns/t1", "/console/tasks/t1/t1", "/console/live"} <= set(registered(console, "GET"))
    assert await open_to_strangers(console) == []


async def test_promise_12_no_form_is_taken_without_its_proof(console: Console) -> None:
    assert "/console/waiting/approvals/t1/t1/approve" in registered(console, "POST")
    assert await taken_without_a_proof(console) == []


async def test_promise_11_nobody_gets_or_changes_what_is_anothers(console: Console) -> None:
    assert await given_of_another(console) == []


async def test_people_get_their_own_and_members_no_operators_page(console: Console) -> None:
    _, bob = await two_lives(console)
    his = await belongings(console, bob, HIS)
    async with console.browser(BOB) as browser:
        answers = await walk(console, browser, bob, his.ids, HIS)
    answered = {answer.route for answer in answers if answer.status != 404}
    assert {answer.route for answer in answers} - answered == OF_OPERATORS
    # Every page says who looks.
    words = frozenset(text for text in his.texts if HIS in text and not text.endswith(NAMED))
    told = {answer.route for answer in answers if answer.tells(words)}
    assert {route for route in answered - told if route.startswith("GET")} == WITHOUT_TEXTS


async def test_no_reader_of_a_page_takes_the_database(console: Console) -> None:
    found = readers(console.routes)
    assert len(found) > 100
    assert {name for name, reader in found.items() if takes_database(reader)} == set()
    assert takes_database(Forgetful.__init__), "as a page with a database of its own"


async def test_the_pages_of_an_ability_are_pages_like_any_other(
    database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    brings(monkeypatch, tmp_path, Pets)
    async with opened(database_url) as store, open_console(store) as console:
        ann = await console.tenant(ANN)
        async with console.browser(ANN) as browser:
            assert await browser.get(f"{PATH}/pets/{ann}") == 200
            assert "What is on today?" in browser.text
            assert 'href="/console/pets" aria-current="page">Pets' in browser.page
            assert browser.page.index(">Health<") < browser.page.index(">Pets<"), "under More"
        assert await open_to_strangers(console) == []
        async with console.browser(BOB) as browser:
            assert await browser.get(f"{PATH}/pets/{ann}") == 404


async def test_a_page_of_an_ability_that_is_open_to_anybody_is_refused(
    database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with opened(database_url) as store:
        brings(monkeypatch, tmp_path, lambda kit: Forgetful(kit, store.database))
        with pytest.raises(ConfigError, match=r"^The page /console/open must be below /console/ and marked with"):
            async with open_console(store):
                pass


async def test_a_registered_page_that_forgets_any_of_it_is_found(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with planted(database_url, monkeypatch) as console:
        assert await open_to_strangers(console) == ["/console/act", "/console/open"]
        assert await taken_without_a_proof(console) == ["/console/act"]
        assert await given_of_another(console) == ["GET /console/names", "GET /console/said/{tenant}", "tenants"]
