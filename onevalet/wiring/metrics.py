"""Reports of processes about themselves: `/metrics` if the settings turn it on, and stalls.

A process that is not scraped opens no port and adds no route.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import structlog
from aiohttp import web

from channels.http.health import KnownStalls
from core.messaging.stalls import Stalls
from core.queue.quarantine import QuarantineMode
from onevalet.settings import Settings
from onevalet.supervision.worker_start import WorkerStart
from onevalet.wiring.connections import Connections
from operations.backups.schedule import EVERY
from operations.metrics.backlog import Backlog
from operations.metrics.endpoint import MetricsEndpoint, serve_metrics

_log = structlog.get_logger()


@asynccontextmanager
async def open_web_metrics(connections: Connections) -> AsyncIterator[list[web.RouteDef]]:
    """Serve `/metrics` on its own port inside the block; yield its routes for the public port, none without a token.

    Only `web` reports the backlog in the database, which is the same in every process.
    """
    settings = connections.settings
    token = _token(settings)
    endpoint = MetricsEndpoint(token, Backlog(connections.database, backups_every=_backups_every(settings)))
    async with AsyncExitStack() as stack:
        await _open_port(stack, settings, endpoint)
        yield endpoint.routes() if token else []


def known_stalls(connections: Connections) -> KnownStalls:
    """Return the stalls for `/readyz`."""
    return Stalls(connections.database).known


@asynccontextmanager
async def open_worker_metrics(settings: Settings, start: WorkerStart) -> AsyncIterator[None]:
    """Serve a worker's `/metrics` inside the block; a process for quarantined turns, gone in seconds, has none."""
    async with AsyncExitStack() as stack:
        if start.quarantine is not QuarantineMode.ONLY:
            await _open_port(stack, settings, MetricsEndpoint(_token(settings)))
        yield


async def _open_port(stack: AsyncExitStack, settings: Settings, endpoint: MetricsEndpoint) -> None:
    if settings.onevalet_metrics_port is None:
        return
    port = await stack.enter_async_context(serve_metrics(endpoint, settings.host, settings.onevalet_metrics_port))
    _log.info("metrics_served", port=port)


def _backups_every(settings: Settings) -> timedelta | None:
    return EVERY if settings.onevalet_backups else None


def _token(settings: Settings) -> str:
    token = settings.onevalet_metrics_token
    return token.get_secret_value() if token else ""
