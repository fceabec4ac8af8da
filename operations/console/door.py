"""The console's entry. Its pages are loaded with the first request, so that `web` stays small without visitors."""

import asyncio
from collections.abc import Callable, Sequence

import structlog
from aiohttp import web

from channels.http.connections import proven
from operations.console.proof import ConsoleProof
from operations.console.sign_in import PATH, ConsoleSignIn

type Load = Callable[[], Sequence[web.RouteDef]]


class ConsoleDoor:
    """Route requests to the console. `load` returns its addresses; it is called once, in a thread.

    `sign_in` verifies a request's credentials from memory, see `channels.http.connections`.
    """

    def __init__(self, load: Load, sign_in: ConsoleSignIn) -> None:
        self._load = load
        self._proof = ConsoleProof(sign_in)
        self._router: web.UrlDispatcher | None = None
        self._loading = asyncio.Lock()

    def routes(self) -> Sequence[web.RouteDef]:
        return [proven(web.route("*", address, self._answer), self._proof) for address in (PATH, f"{PATH}/{{page:.*}}")]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        match = await (await self._loaded()).resolve(request)
        if match.http_exception is not None:
            raise match.http_exception
        request.match_info.clear()
        request.match_info.update(match)
        resource = match.route.resource
        # The application's own log lines know no more than the door's address.
        with structlog.contextvars.bound_contextvars(page=resource.canonical if resource is not None else ""):
            return await match.handler(request)

    async def _loaded(self) -> web.UrlDispatcher:
        async with self._loading:
            if self._router is None:
                self._router = await asyncio.to_thread(self._routed)
            return self._router

    def _routed(self) -> web.UrlDispatcher:
        router = web.UrlDispatcher()
        router.add_routes(self._load())
        router.freeze()
        return router
