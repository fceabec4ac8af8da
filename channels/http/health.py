"""`/healthz` and `/readyz`: whether the process is alive, whether it may get requests, and what stalls.

The statuses say no more than that: a stall is told in the body, since neither a restart nor another process ends it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web

from core.errors import OneValetError
from core.messaging.capabilities import stalls_of
from core.messaging.channels import Channel

READY_SECONDS = 2.0

type Ready = Callable[[], Awaitable[bool]]
type KnownStalls = Callable[[], Awaitable[Sequence[str]]]


class HealthRoutes:
    """`ready` returns whether Postgres answers, `stalls` what is known there of stalls."""

    def __init__(self, channels: Sequence[Channel], ready: Ready, stalls: KnownStalls | None) -> None:
        self._channels = channels
        self._ready = ready
        self._stalls = stalls

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/healthz", self._alive), web.get("/readyz", self._is_ready)]

    async def _alive(self, _: web.Request) -> web.Response:
        return web.json_response({"alive": True, "degraded": self._own_stalls()})

    async def _is_ready(self, _: web.Request) -> web.Response:
        degraded = self._own_stalls()
        try:
            async with asyncio.timeout(READY_SECONDS):
                is_ready = await self._ready()
                if is_ready and self._stalls is not None:
                    degraded += await self._stalls()
        except (OneValetError, OSError):
            is_ready = False
        body = {
            "ready": is_ready,
            "missing": [] if is_ready else ["postgres"],
            "degraded": list(dict.fromkeys(degraded)),  # this process may be the one that polls
        }
        return web.json_response(body, status=200 if is_ready else 503)

    def _own_stalls(self) -> list[str]:
        """Return what this process' own channels know by themselves."""
        return [f"{name}: {stall}" for name, stall in stalls_of(self._channels).items() if stall]
