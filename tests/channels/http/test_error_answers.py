"""A refusal is one word to a program, and a page with a sentence to a browser."""

import re

import aiohttp
import pytest
from aiohttp import web

from channels.http.app import build_app, serve
from channels.http.penalties import BadRequests
from core.errors import RequestRefused, StoreUnavailable

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
KINDS = {"icon": "image/svg+xml", "stylesheet": "text/css"}


async def _ready() -> bool:
    return True


async def _fails(request: web.Request) -> web.Response:
    match request.match_info["how"]:
        case "away":
            raise StoreUnavailable("no connection")
        case "broken":
            raise LookupError("internal detail")
        case how:
            raise RequestRefused("no reason", status=int(how))


async def asked(path: str, headers: dict[str, str], *served: str) -> tuple[int, str, str]:
    """Return the status, the kind and the text of an answer, of an application that serves more."""
    app = build_app([], ready=_ready, extra_routes=[web.get(route, _fails) for route in ("/console/{how}", *served)])
    async with (
        serve(app, "127.0.0.1", 0) as port,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}{path}", headers=headers) as response,
    ):
        return response.status, response.content_type, await response.text()


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/nowhere", 404, "There is no page at this address."),
        ("/console/404", 404, "There is no page at this address."),
        ("/console/403", 403, "You may not see this page."),
        ("/console/418", 418, "This request cannot be read."),
        ("/console/away", 503, "This service does not answer right now."),
        ("/console/broken", 500, "Something went wrong here."),
    ],
)
async def test_a_browser_is_answered_in_a_sentence(path: str, status: int, sentence: str) -> None:
    answered, kind, page = await asked(path, BROWSER, "/console")
    assert (answered, kind) == (status, "text/html")
    assert sentence in page
    assert ('href="/console"' in page) == path.startswith("/console/")
    assert "no reason" not in page
    assert "internal detail" not in page


@pytest.mark.parametrize(("path", "word"), [("/nowhere", "refused\n"), ("/console/broken", "internal error\n")])
async def test_a_program_is_answered_in_a_word(path: str, word: str) -> None:
    assert (await asked(path, {"Accept": "*/*"}))[1:] == ("text/plain", word)


@pytest.mark.parametrize(
    ("path", "served", "ways"),
    [
        ("/nowhere", ["/", "/console"], ["/"]),
        ("/nowhere", ["/console"], []),
        ("/console/404", ["/", "/console"], ["/console"]),
        ("/console/404", [], []),
        ("/", [], []),
    ],
)
async def test_a_page_leads_back_to_what_is_served(path: str, served: list[str], ways: list[str]) -> None:
    _, _, page = await asked(path, BROWSER, *served)
    assert re.findall(r'<a href="([^"]*)"', page) == ways


@pytest.mark.parametrize(
    ("wanted", "language", "sentence"),
    [
        ("it, de-AT;q=0.8, en;q=0.5", "de", "Unter dieser Adresse gibt es keine Seite."),
        ("it, nl", "en", "There is no page at this address."),
    ],
)
async def test_a_page_speaks_the_language_of_the_browser(wanted: str, language: str, sentence: str) -> None:
    _, _, page = await asked("/nowhere", {**BROWSER, "Accept-Language": wanted})
    assert f'<html lang="{language}">' in page
    assert f"<h1>{sentence}</h1>" in page


async def test_the_page_has_the_style_of_all_pages_beyond_the_limit_too() -> None:
    app = build_app([], ready=_ready, bad_requests=BadRequests(a_minute=1))
    async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        for expected in (404, 429):
            async with session.get("/nowhere", headers=BROWSER) as response:
                assert response.status == expected
                policy = response.headers["Content-Security-Policy"]
                linked = re.findall(r'rel="(icon|stylesheet)" href="([^"]+)"', await response.text())
            assert ("default-src 'none'" in policy, "script-src" in policy) == (True, False)
            for kind, address in linked:
                async with session.get(address, headers=BROWSER) as response:
                    assert (response.status, response.content_type) == (200, KINDS[kind])
