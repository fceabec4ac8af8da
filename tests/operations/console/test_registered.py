"""Every page of the console as it is registered: one that somebody adds and that forgets what pages owe is found."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from core.errors import ConfigError
from onevalet.ability import Ability, ConsolePages
from onevalet.wiring import ability_pages
from operations.console.pages.base import MakePages, Pages, signed_in
from operations.console.pages.every import PAGES
from operations.console.sign_in import PATH
from operations.console.visits import Visit
from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, Console, open_console

OPEN = ("/sign-in/{token}",)
"""What answers without a session."""
OF_ANN = ("What is on today?", "The dentist.", ANN)
"""What Bob may never read."""


def registered(console: Console, method: str, tenant: str = "t1", other: str = "t1") -> list[str]:
    """Return an address of each page that needs a session: with a person, and with other ids, in its parts."""

    def filled(part: re.Match[str]) -> str:
        return part[2] or (tenant if part[1] == "tenant" else other)

    paths = [path for verb, path in console.addresses if verb == method and not path.endswith(OPEN)]
    return [re.sub(r"{(\w+)(?::(\w+)[^}]*)?}", filled, path) for path in paths]


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


async def shown_of_another(console: Console) -> list[str]:
    """Return the pages that show somebody what is another person's, by whichever of that person's ids."""
    rows = await console.store.admin.fetch(
        "select c.tenant_id, c.id, t.id as turn, i.id as inbound, o.id as outbound, n.id as identity"
        " from conversations c join turns t on t.conversation_id = c.id join inbound i on i.turn_id = t.id"
        " join outbound o on o.turn_id = t.id join identities n on n.tenant_id = c.tenant_id where c.peer = $1",
        ANN,
    )
    ids = sorted({str(value) for row in rows for value in row.values()})
    assert len(ids) >= 6
    found = set[str]()
    async with console.browser(BOB) as bob:
        for one in ids:
            for page in registered(console, "GET", str(rows[0]["tenant_id"]), one):
                if page != f"{PATH}/live":
                    await bob.get(page)
                    found |= {page for words in OF_ANN if words in bob.text}
    return sorted(found)


class Forgetful(Pages):
    """A page and a form for anybody, and a page that does not ask whose it is."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get(f"{PATH}/open", self._open),
            web.post(f"{PATH}/act", self._act),
            web.get(f"{PATH}/said/{{tenant}}", self._said),
        ]

    async def _open(self, request: web.Request) -> web.Response:
        return web.Response(text="hello")

    async def _act(self, request: web.Request) -> web.Response:
        return web.Response(text="done")

    @signed_in
    async def _said(self, request: web.Request, visit: Visit) -> web.Response:
        tenant = request.match_info["tenant"]
        async with self.kit.database.tenant(tenant) as connection:
            rows = await connection.fetch("select text from inbound where tenant_id = $1", tenant)
        return web.Response(text="\n".join(row["text"] for row in rows))


class Telling(Pages):
    """A page that shows everybody what one person said, in an ability's way."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/pets/{{tenant}}", self._pets)]

    @signed_in
    async def _pets(self, request: web.Request, visit: Visit) -> web.Response:
        async with self.kit.database.tenant(request.match_info["tenant"]) as connection:
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
    monkeypatch.setattr("operations.console.routes.PAGES", (*PAGES, Forgetful))
    async with opened(database_url) as store, open_console(store) as console:
        yield console


async def test_promise_12_no_page_or_form_answers_a_stranger(console: Console) -> None:
    assert {"/console", "/console/turns/t1", "/console/tasks/t1/t1", "/console/live"} <= set(registered(console, "GET"))
    assert await open_to_strangers(console) == []


async def test_promise_12_no_form_is_taken_without_its_proof(console: Console) -> None:
    assert "/console/waiting/approvals/t1/t1/approve" in registered(console, "POST")
    assert await taken_without_a_proof(console) == []


async def test_promise_11_no_page_shows_what_is_another_persons(console: Console) -> None:
    assert await shown_of_another(console) == []


async def test_the_pages_of_an_ability_are_pages_like_any_other(
    database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    brings(monkeypatch, tmp_path, Telling)
    async with opened(database_url) as store, open_console(store) as console:
        ann = await console.tenant(ANN)
        async with console.browser(ANN) as browser:
            assert await browser.get(f"{PATH}/pets/{ann}") == 200
            assert "What is on today?" in browser.text
            assert 'href="/console/pets" aria-current="page">Pets' in browser.page
            assert browser.page.index(">Cost<") < browser.page.index(">Pets<") < browser.page.index(">Health<")
        assert await open_to_strangers(console) == []
        assert await shown_of_another(console) == [f"/console/pets/{ann}"]


async def test_a_page_of_an_ability_that_is_open_to_anybody_is_refused(
    database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    brings(monkeypatch, tmp_path, Forgetful)
    async with opened(database_url) as store:
        with pytest.raises(ConfigError, match=r"^The page /console/open must be below /console/ and marked with"):
            async with open_console(store):
                pass


async def test_a_registered_page_that_forgets_any_of_it_is_found(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with planted(database_url, monkeypatch) as console:
        assert await open_to_strangers(console) == ["/console/act", "/console/open"]
        assert await taken_without_a_proof(console) == ["/console/act"]
        assert await shown_of_another(console) == [f"/console/said/{await console.tenant(ANN)}"]
