"""The door to the MCP server, `/mcp`: who has no good token loads nothing of it, and learns nothing."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import structlog
from aiohttp import web

from channels.http.connections import proven
from core.clock import Clock
from core.errors import RequestRefused
from core.ids import make_id
from core.people.rate_limit import Counted, Rate, Rates
from operations.programs.tokens import Client, ClientTokens

if TYPE_CHECKING:
    from operations.programs.sdk import HttpServer

PATH = "/mcp"
_AT_ONCE = 8
"""Requests of a program that are answered at once: each may wait for long."""
_MOST_HEADER = 200
REQUESTS_A_MINUTE = 60
"""Of a single program."""

_log = structlog.get_logger()

type Load = Callable[[], "HttpServer"]


class ProgramDoor:
    """Admit programs by their tokens. `load` returns the server; it is called once, in a thread.

    `missing`: the SDK is not installed.
    """

    def __init__(
        self,
        tokens: ClientTokens,
        clock: Clock,
        rates: Rates,
        load: Load,
        *,
        public_url: str,
        missing: bool = False,
    ) -> None:
        self._tokens = tokens
        self._clock = clock
        self._rates = rates
        self._load = load
        self._missing = missing
        origin = urlsplit(public_url)
        self._origin = f"{origin.scheme}://{origin.netloc}" if origin.netloc else ""
        self._server: HttpServer | None = None
        self._loading = asyncio.Lock()
        self._at_work: Counter[str] = Counter()

    def routes(self) -> Sequence[web.RouteDef]:
        return [proven(web.post(PATH, self._answer), self._shown)]

    def _shown(self, request: web.Request) -> str | None:
        token = _bearer(request)
        return f"program {token}" if self._tokens.shows_ours(token) else None

    async def close(self) -> None:
        """End the open requests."""
        if self._server is not None:
            await self._server.close()
        await self._rates.close()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self._check_origin(request)
        client = await self._client(request)
        if client is None:
            return web.Response(
                status=401, text="a token is needed\n", headers={"WWW-Authenticate": 'Bearer realm="OneValet"'}
            )
        counted = Counted(make_id("mcp"), f"mcp {client.token_id}", "mcp", "requests", 1)
        busy = self._at_work[client.token_id] >= _AT_ONCE
        if busy or await self._rates.count(counted, REQUESTS_A_MINUTE) is not Rate.WITHIN:
            return web.Response(status=429, text="too many requests\n", headers={"Retry-After": "60"})
        if self._missing:
            raise RequestRefused("onevalet[mcp] is not installed", status=501)
        self._at_work[client.token_id] += 1
        try:
            with structlog.contextvars.bound_contextvars(program=client.token_id):
                _log.info("program_asks", tenant=client.tenant_id)
                return await (await self._loaded()).answer(request, client)
        finally:
            self._at_work[client.token_id] -= 1
            if not self._at_work[client.token_id]:
                del self._at_work[client.token_id]

    def _check_origin(self, request: web.Request) -> None:
        """Refuse requests of pages elsewhere; programs that are no browser send no Origin."""
        here = f"{request.scheme}://{request.host}"
        if request.headers.get("Origin", here) not in {here, self._origin}:
            raise RequestRefused("request of a page elsewhere", status=403)

    async def _client(self, request: web.Request) -> Client | None:
        token = _bearer(request)
        return await self._tokens.client(token, self._clock.now()) if token else None

    async def _loaded(self) -> "HttpServer":
        async with self._loading:
            if self._server is None:
                server = await asyncio.to_thread(self._load)
                await server.start()
                self._server = server
            return self._server


def _bearer(request: web.Request) -> str:
    """Return the token that a request carries; empty for none."""
    given = request.headers.getall("Authorization", [])
    if len(given) != 1 or len(given[0]) > _MOST_HEADER:
        return ""
    kind, _, token = given[0].partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""
