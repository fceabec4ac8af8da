"""A person's own server that fails is named: of two calendars they know which one it is."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from abilities.dav.client import DavClient
from abilities.dav.discovery import discover
from abilities.dav.types import Kind
from core.credentials.types import Account, OpenAccount
from core.errors import ToolFailed
from core.http.guarded_client import GuardedClient, Limits

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def _garbled(request: web.Request) -> web.Response:
    return web.Response(status=207, body=b"<not xml")


async def _other(request: web.Request) -> web.Response:
    return web.Response(text="Hello.")


async def _never(request: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    return web.Response()


async def _too_long(request: web.Request) -> web.Response:
    return web.Response(status=207, body=b" " * 13_000_000)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (_garbled, "The answer of 127.0.0.1 cannot be read."),
        (_other, "The answer of 127.0.0.1 cannot be read."),
        (_too_long, "The answer of 127.0.0.1 cannot be read."),
        (_never, "127.0.0.1 took too long."),
    ],
)
async def test_a_server_whose_answer_is_of_no_use_is_named(answer: Handler, said: str) -> None:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        assert await _failure(f"http://127.0.0.1:{server.port}/", Limits(total=1.0)) == said


async def test_a_server_that_is_not_there_is_named() -> None:
    assert await _failure("http://127.0.0.1:9/", Limits()) == "127.0.0.1 cannot be reached."


async def test_a_server_that_shows_no_certificate_is_named() -> None:
    async with TestServer(web.Application()) as server:
        said = await _failure(f"https://127.0.0.1:{server.port}/", Limits())
    assert said == "No secure connection to 127.0.0.1 could be made."


async def _failure(url: str, limits: Limits) -> str:
    """Return what the person reads when a calendar at an address is looked for."""
    http = GuardedClient(limits=limits, allowed_hosts=[url.split("/")[2]])
    account = OpenAccount(Account("caldav", "home", "ann@example.org"), "ann", "secret", servers={"caldav": url})
    try:
        with pytest.raises(ToolFailed) as failed:
            await discover(DavClient(http, account), Kind.CALENDAR)
    finally:
        await http.close()
    return str(failed.value)
