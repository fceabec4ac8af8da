"""The console's addresses. What answers is loaded with the first request: `web` stays small where nobody looks."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from aiohttp import web

from core.console.sign_in import PATH

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
type Load = Callable[[], Mapping[str, Handler]]

ADDRESSES = (
    ("GET", "", "conversations"),
    ("GET", "/conversations", "conversations"),
    ("GET", "/conversations/{tenant}/{conversation}", "conversation"),
    ("GET", "/turns/{id}", "turn"),
    ("GET", "/health", "health"),
    ("GET", "/live", "live"),
    ("GET", "/sign-in/{token}", "show_link"),
    ("POST", "/sign-in/{token}", "use_link"),
    ("POST", "/sign-out", "sign_out"),
    ("GET", "/static/{name}", "file"),
)
"""Method, address below `/console`, and the name of what answers."""


class ConsoleDoor:
    """Route requests to the console. `load` returns what answers, by name; it is called once, in a thread."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._handlers: Mapping[str, Handler] | None = None
        self._loading = asyncio.Lock()

    def routes(self) -> Sequence[web.RouteDef]:
        define = {"GET": web.get, "POST": web.post}
        return [define[method](f"{PATH}{path}", partial(self._answer, name)) for method, path, name in ADDRESSES]

    async def _answer(self, name: str, request: web.Request) -> web.StreamResponse:
        return await (await self._loaded())[name](request)

    async def _loaded(self) -> Mapping[str, Handler]:
        async with self._loading:
            if self._handlers is None:
                self._handlers = await asyncio.to_thread(self._load)
            return self._handlers
