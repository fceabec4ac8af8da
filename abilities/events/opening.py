"""The bus of a worker, and the services of plugins: started before it takes work, stopped after."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import structlog

from abilities.events.bus import DUE, EventBus
from abilities.events.retention import prune_events
from abilities.events.services import Service, ServiceContext
from abilities.events.store import KEPT, EventStore
from core.errors import ConfigError
from core.ids import make_id
from core.queue.due import ASK_ANYWAY
from onevalet.ability import Repeated
from onevalet.foundations import OpeningFoundation, WorkFoundation

_log = structlog.get_logger()


def open_bus(stack: AsyncExitStack, foundation: OpeningFoundation) -> None:
    """Offer the bus, which `stack` closes."""
    anyway = timedelta(seconds=ASK_ANYWAY)
    bus = EventBus(foundation.redis_url, foundation.database, make_id, wakeups=foundation.wakeups, poll=anyway)
    stack.push_async_callback(bus.close)
    foundation.opened.add(EventBus, bus)


def open_work(foundation: WorkFoundation) -> Sequence[Repeated]:
    """Return the search for due events, and the deletion of old events."""
    kept = min(KEPT, timedelta(days=foundation.settings.onevalet_kept_days))
    store, clock = EventStore(foundation.database, make_id), foundation.clock
    return [
        Repeated("due events", timedelta(seconds=ASK_ANYWAY), foundation.opened.get(EventBus).look, DUE),
        Repeated("old events", timedelta(hours=1), lambda: prune_events(store, clock, kept), for_all=True),
    ]


@asynccontextmanager
async def run_services(foundation: WorkFoundation) -> AsyncIterator[None]:
    """Run the services of the plugins inside the block. Raises `ConfigError` for a service that does not start."""
    kinds = foundation.plugins.of(Service)
    async with AsyncExitStack() as stack:
        if kinds:
            http = foundation.tool_http()
            stack.push_async_callback(http.close)
            context = ServiceContext(
                foundation.opened.get(EventBus),
                foundation.notify,
                foundation.clock,
                http,
                foundation.settings.for_tools,
            )
            for kind in kinds:
                await stack.enter_async_context(_running(foundation.plugins.make(kind), context))
        yield


@asynccontextmanager
async def _running(service: Service, context: ServiceContext) -> AsyncIterator[None]:
    name = f"{type(service).__module__}.{type(service).__qualname__}"
    try:
        await service.start(context)
    except Exception as error:  # a plugin may raise anything; the message names the service for its author
        raise ConfigError(f"The service {name} does not start: {type(error).__name__}: {error}.") from error
    try:
        yield
    finally:
        try:
            await service.stop()
        except Exception:  # the others are stopped all the same
            _log.exception("service_not_stopped", service=name)
