"""`/healthz` and `/readyz`: whether the process is alive and may get requests, and its stalls.

The statuses say no more than that: a stall is reported in the body, since neither a restart nor another process ends
it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web

from channels.http.connections import proven, proves_in_its_handler
from core.errors import OneValetError
from core.messaging.capabilities import stalls_of
from core.messaging.channels import Channel

READY_SECONDS = 2.0
READY_EVERY = 1.0
"""Seconds for which a result is returned again, so that frequent requests do not load the store."""

type Ready = Callable[[], Awaitable[bool]]
type KnownStalls = Callable[[], Awaitable[Sequence[str]]]


class HealthRoutes:
    """`ready` returns whether Postgres answers, `stalls` the stalls recorded there."""

    def __init__(self, channels: Sequence[Channel], ready: Ready, stalls: KnownStalls | None) -> None:
        self._channels = channels
        self._ready = ready
        self._stalls = stalls
        self._looking: asyncio.Task[tuple[bool, list[str]]] | None = None
        self._looked_at = 0.0

    def routes(self) -> list[web.RouteDef]:
        """Return both routes, which are never refused: a platform's probe may share its address with others."""
        routes = (web.get("/healthz", self._alive), web.get("/readyz", self._is_ready))
        return [proven(route, proves_in_its_handler) for route in routes]

    async def _alive(self, _: web.Request) -> web.Response:
        return web.json_response({"alive": True, "degraded": self._own_stalls()})

    async def _is_ready(self, _: web.Request) -> web.Response:
        is_over = self._looking is not None and self._looking.done()
        if self._looking is None or (is_over and time.monotonic() - self._looked_at >= READY_EVERY):
            self._looking = asyncio.create_task(self._look())
        is_ready, known = await asyncio.shield(self._looking)
        degraded = [*self._own_stalls(), *known]
        body = {
            "ready": is_ready,
            "missing": [] if is_ready else ["postgres"],
            "degraded": list(dict.fromkeys(degraded)),  # this process may be the poller
        }
        return web.json_response(body, status=200 if is_ready else 503)

    async def _look(self) -> tuple[bool, list[str]]:
        """Return whether Postgres answers, and the stalls recorded there. Simultaneous requests share a query."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                is_ready = await self._ready()
                known = list(await self._stalls()) if is_ready and self._stalls is not None else []
        except (OneValetError, OSError):
            is_ready, known = False, []
        self._looked_at = time.monotonic()
        return is_ready, known

    def _own_stalls(self) -> list[str]:
        """Return the stalls that this process's own channels know of."""
        return [f"{name}: {stall}" for name, stall in stalls_of(self._channels).items() if stall]
