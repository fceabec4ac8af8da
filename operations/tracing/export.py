"""Spans on their way to the operator's collector, by OTLP over HTTP, in a background thread."""

import logging
import os
from collections.abc import Sequence
from threading import Thread
from typing import override

import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from core.http.threaded_answers import bound_answers
from operations.tracing.spans import NamedTraces, OtelTracer

_LIBRARY = "opentelemetry"
_log = structlog.get_logger()


class Tracing:
    """A process's traces: `tracer` begins spans, and ended spans are exported in the background until `close`.

    The SDK reads its own variables of the environment: sampler, resource, limits, batches, headers, timeout.
    """

    def __init__(self, process: str, endpoint: str, *, captures_content: bool = False) -> None:
        """`process`: web, worker or dev. `endpoint`: the collector's address, without the path of the signal."""
        # Its lines quote addresses and a collector's answers; our line reports once that spans are lost.
        logging.getLogger(_LIBRARY).setLevel(logging.CRITICAL)
        ids = NamedTraces()
        # Closed by `close` alone: at exit, the SDK would wait for a collector that hangs.
        self._provider = TracerProvider(resource=_resource(process), id_generator=ids, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(_ToldExporter(_exporter(endpoint))))
        self.tracer = OtelTracer(self._provider, ids, captures_content=captures_content)

    def close(self, seconds: float) -> None:
        """Export the remaining spans within a time limit. Blocks."""
        closing = Thread(target=self._provider.shutdown, name="export of spans", daemon=True)
        closing.start()
        closing.join(seconds)


class _ToldExporter(SpanExporter):
    """An exporter whose outages are logged, once each."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._fails = False

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        fails = result is not SpanExportResult.SUCCESS
        if fails != self._fails:
            self._fails = fails
            _log.warning("spans_not_exported", spans=len(spans)) if fails else _log.info("spans_exported_again")
        return result

    @override
    def shutdown(self) -> None:
        self._exporter.shutdown()

    @override
    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _exporter(endpoint: str) -> OTLPSpanExporter:
    bound_answers()
    own = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return OTLPSpanExporter(own or f"{endpoint.rstrip('/')}/v1/traces")


def _resource(process: str) -> Resource:
    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    # These values go before the environment.
    return Resource.create({"onevalet.process": process} | ({} if named else {"service.name": f"onevalet-{process}"}))
