"""`GET /metrics`, on a port of its own or among the routes of `web`."""

import hmac
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, ProcessCollector, disable_created_metrics, generate_latest

from channels.http.app import serve
from channels.http.connections import proven
from channels.http.middleware import answer_errors, limit_bad_requests, sound_requests
from channels.http.penalties import BadRequests
from core import metrics
from core.errors import ConfigError, RequestRefused
from operations.metrics.backlog import Backlog

PATH = "/metrics"
_BEARER = "Bearer "


class MetricsEndpoint:
    """Serve the counters of this process, and the backlog if it is given.

    With a token, only requests that carry it (`Authorization: Bearer …`) are answered.
    """

    def __init__(self, token: str = "", backlog: Backlog | None = None) -> None:
        self._token = token.encode()
        self._backlog = backlog
        _prepare()

    def routes(self) -> list[web.RouteDef]:
        return [proven(web.get(PATH, self._answer), self._shown)]

    def _shown(self, request: web.Request) -> str | None:
        return "" if not self._token or self._is_proven(request) else None

    async def _answer(self, request: web.Request) -> web.Response:
        if self._token and not self._is_proven(request):
            raise RequestRefused("metrics without their token", status=401)
        backlog = await self._backlog.text() if self._backlog else b""
        body = generate_latest(metrics.REGISTRY) + backlog
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})

    def _is_proven(self, request: web.Request) -> bool:
        given = request.headers.get("Authorization", "")
        if not given.startswith(_BEARER):
            return False
        return hmac.compare_digest(given.removeprefix(_BEARER).encode("utf-8", "surrogateescape"), self._token)


@asynccontextmanager
async def serve_metrics(endpoint: MetricsEndpoint, host: str, port: int) -> AsyncIterator[int]:
    """Serve nothing but `/metrics` inside the block; yield the port. Raises `ConfigError` if it cannot be bound."""
    app = web.Application(middlewares=(limit_bad_requests(BadRequests()), answer_errors, sound_requests))
    app.add_routes(endpoint.routes())
    async with AsyncExitStack() as stack:
        try:
            bound = await stack.enter_async_context(serve(app, host, port))
        except OSError as error:
            raise ConfigError(
                f"ONEVALET_METRICS_PORT: {host}:{port} cannot be listened on: {error.strerror}."
                " Each process of a machine needs its own."
            ) from error
        yield bound


@cache
def _prepare() -> None:
    """Add memory, CPU and start time of this process, once; leave out the start of each series, which has no use."""
    ProcessCollector(registry=metrics.REGISTRY)
    disable_created_metrics()  # type: ignore[no-untyped-call]
