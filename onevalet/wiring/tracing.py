"""Spans of a process, recorded if the settings name a collector; otherwise OpenTelemetry is not imported."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from core import tracing
from core.errors import ConfigError
from onevalet.settings import Settings
from onevalet.wiring.extras import require

CLOSE_SECONDS = 3.0
"""How long a process that ends waits for its collector."""
_PROTOCOL = "http/protobuf"

_log = structlog.get_logger()


@asynccontextmanager
async def open_tracing(settings: Settings, process: str) -> AsyncIterator[None]:
    """Record spans inside the block, if OTEL_EXPORTER_OTLP_ENDPOINT names a collector."""
    if not _is_on(settings):
        yield
        return
    require_tracing(settings)
    _check_protocol()
    from operations.tracing.export import Tracing

    exported = Tracing(
        process,
        settings.otel_exporter_otlp_endpoint,
        captures_content=settings.otel_instrumentation_genai_capture_message_content,
    )
    tracing.install(exported.tracer)
    _log.info("tracing_started", process=process)
    try:
        yield
    finally:
        tracing.install(None)
        await asyncio.to_thread(exported.close, CLOSE_SECONDS)


def require_tracing(settings: Settings) -> None:
    """Raise `ConfigError` if a collector is named and OpenTelemetry is not installed."""
    if _is_on(settings):
        require("tracing", "OTEL_EXPORTER_OTLP_ENDPOINT", "unset it")


def _is_on(settings: Settings) -> bool:
    return bool(settings.otel_exporter_otlp_endpoint) and not _is_off()


def _is_off() -> bool:
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return disabled or os.environ.get("OTEL_TRACES_EXPORTER", "").strip() == "none"


def _check_protocol() -> None:
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if os.environ.get(name, _PROTOCOL) not in ("", _PROTOCOL):
            raise ConfigError(f"{name} cannot be used: only {_PROTOCOL} is there; unset it.")
