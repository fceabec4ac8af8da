"""A web process: the ways in, served over HTTP."""

import asyncio
import os
from collections.abc import AsyncIterator, Container, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import structlog
from aiohttp import web

from channels.http.app import build_app, serve
from channels.http.hosts import check_hosts, served_hosts
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.messaging.channels import Channel
from onevalet.foundations import WebFoundation
from onevalet.settings import Settings
from onevalet.wiring.abilities import open_routes, use_abilities
from onevalet.wiring.accounts import open_accounts
from onevalet.wiring.connections import open_connections, redis_url
from onevalet.wiring.doors import open_doors
from onevalet.wiring.downloads import download_routes
from onevalet.wiring.file_store import open_file_store
from onevalet.wiring.http import guarded_client
from onevalet.wiring.inbound import build_inbound
from onevalet.wiring.metrics import known_stalls, open_web_metrics
from onevalet.wiring.secret_keys import secret_keys

_log = structlog.get_logger()


@asynccontextmanager
async def open_web(
    settings: Settings,
    *,
    extra_routes: Iterable[web.AbstractRouteDef] = (),
    local: Container[str] = (),
    local_console: bool = False,
) -> AsyncIterator[tuple[int, list[Channel]]]:
    """Serve the ways in inside the block; yield the port and the channels.

    The channels named in `local` take requests from this machine only. `local_console`: a browser on this machine sees
    the console without signing in.
    """
    use_abilities()
    async with AsyncExitStack() as stack:
        # Short patience: a provider retries by itself, and must not wait for its answer.
        connections = await stack.enter_async_context(open_connections(settings, "onevalet web", patience=2.5))
        database = connections.database
        keys = secret_keys(settings)  # checked now: otherwise a missing key shows only when a person connects a service
        credentials = CredentialStore(database, keys)
        store = await stack.enter_async_context(open_file_store(settings, database))
        clock = Clock(settings.onevalet_clock)
        http, redis, wakeups = partial(guarded_client, settings), redis_url(settings), connections.wakeups
        foundation = WebFoundation(settings, database, http, clock, credentials, redis, wakeups)
        accounts = open_accounts(stack, settings, database, credentials, clock)
        metrics = await stack.enter_async_context(open_web_metrics(connections))
        channels, stopping = build_inbound(connections, clock), asyncio.Event()
        doors = await stack.enter_async_context(
            open_doors(
                connections, accounts, credentials, clock, channels, local_console=local_console, stopping=stopping
            )
        )
        hosts = served_hosts(settings.host, settings.public_url, settings.onevalet_allowed_hosts)
        app = build_app(
            channels,
            ready=database.ready,
            stalls=known_stalls(connections),
            extra_routes=[
                *open_routes(stack, foundation),
                *download_routes(settings, store, credentials, accounts, clock),
                *doors,
                *metrics,
                *extra_routes,
            ],
            hosts=check_hosts(hosts, [channel for channel in channels if channel.name in local]),
            stopping=stopping,
        )
        # Channels stop once nothing comes in any more: a request would open their connections again.
        for channel in channels:
            stack.push_async_callback(channel.stop)
        port = await stack.enter_async_context(serve(app, settings.host, settings.port))
        for channel in channels:
            await channel.start()
        _log.info("web_started", port=port, channels=[channel.name for channel in channels], pid=os.getpid())
        yield port, channels
