"""The web application around all channels, and the runner that serves it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Middleware

from channels.http.connections import proven, proves_in_its_handler
from channels.http.deadlines import DeadlineRunner, Limits, note_stop, remember_proven
from channels.http.health import HealthRoutes, KnownStalls, Ready
from channels.http.hosts import ServedHosts, check_hosts
from channels.http.middleware import (
    answer_errors,
    close_after_unread,
    limit_bad_requests,
    measure_requests,
    name_requests,
    read_body,
    sound_requests,
)
from channels.http.pages.static_files import static_routes
from channels.http.penalties import BadRequests
from core.ids import IdMaker, make_id
from core.messaging.channels import Channel

MAX_BODY = 256 * 1024
"""In bytes. The largest webhook of the three providers is well below."""


def build_app(
    channels: Sequence[Channel],
    *,
    ready: Ready,
    extra_routes: Iterable[web.AbstractRouteDef] = (),
    make_request_id: IdMaker = make_id,
    bad_requests: BadRequests | None = None,
    hosts: Middleware | None = None,
    stalls: KnownStalls | None = None,
    stopping: asyncio.Event | None = None,
) -> web.Application:
    """Build the application: every channel's routes, `/healthz`, `/readyz`, `/static/` and the extra routes.

    `ready` returns whether Postgres answers, `stalls` the stalls recorded there; `hosts` refuses requests for names
    that are not ours, and by default accepts any. `stopping` is set when the application stops. The caller starts and
    stops the channels.
    """
    app = web.Application(
        client_max_size=MAX_BODY,
        middlewares=(
            measure_requests,
            name_requests(make_request_id),
            close_after_unread,
            remember_proven,
            limit_bad_requests(bad_requests or BadRequests()),
            answer_errors,
            sound_requests,
            hosts or check_hosts(ServedHosts()),
            read_body(),
        ),
    )
    note_stop(app, stopping)
    app.add_routes(HealthRoutes(channels, ready, stalls).routes())
    app.add_routes(static_routes())
    for channel in channels:
        app.add_routes(_by_its_handler(channel.routes()))
    app.add_routes(extra_routes)
    return app


def _by_its_handler(routes: Iterable[web.AbstractRouteDef]) -> Iterable[web.AbstractRouteDef]:
    """Return a channel's routes: its handlers prove a webhook from memory before anything else."""
    return [proven(route, proves_in_its_handler) if isinstance(route, web.RouteDef) else route for route in routes]


@asynccontextmanager
async def serve(app: web.Application, host: str, port: int, *, limits: Limits | None = None) -> AsyncIterator[int]:
    """Serve inside the block; yield the port, which the system chooses for 0.

    On exit no further connection is accepted and running requests are finished, for at most 10 s; see
    `channels.http.deadlines` for those that would last.
    Raises `OSError` when the address cannot be bound.
    """
    runner = DeadlineRunner(app, limits or Limits(), shutdown_timeout=10.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
