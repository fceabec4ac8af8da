"""Answers are timed by route and status, and no label holds what a stranger wrote."""

import aiohttp
from aiohttp import web

from channels.http.app import build_app, serve
from core.errors import StoreUnavailable
from tests.counted import Increase

NAME = "onevalet_acknowledgement_seconds_count"


async def _yes() -> bool:
    return True


async def _get(app: web.Application, *paths: str) -> None:
    async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        for path in paths:
            async with session.get(f"http://127.0.0.1:{port}{path}", allow_redirects=False) as answer:
                await answer.read()


async def test_an_answer_is_counted_under_its_routes_pattern() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response()

    counts = Increase()
    await _get(build_app([], ready=_yes, extra_routes=[web.get("/links/{secret}", answer)]), "/links/a", "/links/b")
    assert counts.of(NAME, route="/links/{secret}", code="200") == 2


async def test_paths_that_do_not_exist_share_one_label() -> None:
    counts = Increase()
    await _get(build_app([], ready=_yes), "/wp-login.php", "/.env")
    assert counts.of(NAME, route="unknown", code="404") == 2


async def test_errors_and_redirects_are_counted_as_they_are_answered() -> None:
    async def away(_: web.Request) -> web.Response:
        raise StoreUnavailable("no connection")

    async def elsewhere(_: web.Request) -> web.Response:
        raise web.HTTPFound("/healthz")

    counts = Increase()
    await _get(build_app([], ready=_yes, extra_routes=[web.get("/x", away), web.get("/y", elsewhere)]), "/x", "/y")
    assert counts.of(NAME, route="/x", code="503") == 1
    assert counts.of(NAME, route="/y", code="302") == 1


async def test_a_stream_is_not_timed() -> None:
    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"data: 1\n\n")
        return response

    counts = Increase()
    await _get(build_app([], ready=_yes, extra_routes=[web.get("/live", stream)]), "/live")
    assert counts.of(NAME, route="/live", code="200") == 0
