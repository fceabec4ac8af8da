"""The services of plugins in a worker: started before it takes work, stopped after."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from abilities.events.services import Service, ServiceContext
from core.errors import ConfigError
from onevalet.wiring.http import build_http
from onevalet.wiring.plugin_checks import check_methods, made_of, only_kinds
from onevalet.wiring.plugins import plugin_values
from onevalet.wiring.worker_parts import WorkerParts

_log = structlog.get_logger()


@asynccontextmanager
async def open_services_of_plugins(parts: WorkerParts) -> AsyncIterator[None]:
    """Run the services of the plugins inside the block. Raises `ConfigError` for one that does not start."""
    settings, bus = parts.connections.settings, parts.assistant.engine.event_bus
    values = plugin_values(settings.onevalet_plugins, parts.outbound.rooms.brought)
    kinds = only_kinds(values, Service)
    for kind in kinds:
        check_methods(kind, Service)
    async with AsyncExitStack() as stack:
        if kinds and bus is not None:
            http = build_http(settings)
            stack.push_async_callback(http.close)
            context = ServiceContext(bus, parts.outbound.service.send, parts.clock, http, settings.for_tools)
            for kind in kinds:
                await stack.enter_async_context(_running(made_of(kind), context))
        yield


@asynccontextmanager
async def _running(service: Service, context: ServiceContext) -> AsyncIterator[None]:
    name = f"{type(service).__module__}.{type(service).__qualname__}"
    try:
        await service.start(context)
    except Exception as error:  # a plugin may raise anything; its author is told which service it was
        raise ConfigError(f"The service {name} does not start: {type(error).__name__}: {error}.") from error
    try:
        yield
    finally:
        try:
            await service.stop()
        except Exception:  # the others are stopped all the same
            _log.exception("service_not_stopped", service=name)
