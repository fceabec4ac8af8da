"""A collector on this machine: OTLP over HTTP, decoded by OpenTelemetry's own messages."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import override

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from core import tracing
from operations.tracing.export import Tracing

FLUSHED_WITHIN = 30.0


@dataclass(frozen=True, slots=True)
class SeenSpan:
    """A span as the collector got it; ids are hex, `parent` is empty for a root."""

    name: str
    trace: str
    id: str
    parent: str
    kind: str
    attributes: dict[str, object]
    links: tuple[str, ...] = ()
    """The ids of the spans that it is linked to."""
    failed: bool = False


@dataclass(slots=True)
class Collector:
    """What was exported, with the headers and the resource of each request."""

    url: str = ""
    spans: list[SeenSpan] = field(default_factory=list)
    resources: list[dict[str, object]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: bytes = b""
    hangs: threading.Event | None = None
    """Nothing is answered until this is set."""
    redirects_to: str = ""

    def named(self, name: str) -> SeenSpan:
        """Return the only span of a name."""
        [span] = [span for span in self.spans if span.name == name]
        return span

    def path(self, span: SeenSpan) -> list[str]:
        """Return the names from the root down to a span, as far as they were exported."""
        by_id = {one.id: one for one in self.spans}
        names = [span.name]
        while above := by_id.get(span.parent):
            names.insert(0, above.name)
            span = above
        return names

    def take(self, body: bytes, headers: dict[str, str]) -> None:
        """Decode one export."""
        request = ExportTraceServiceRequest.FromString(body)
        self.raw += body
        self.headers.append(headers)
        for resource in request.resource_spans:
            self.resources.append({item.key: _plain(item.value) for item in resource.resource.attributes})
            self.spans += [_seen(span) for scope in resource.scope_spans for span in scope.spans]


def _seen(span: OtlpSpan) -> SeenSpan:
    return SeenSpan(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        OtlpSpan.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        {item.key: _plain(item.value) for item in span.attributes},
        tuple(link.span_id.hex() for link in span.links),
        span.status.code == Status.STATUS_CODE_ERROR,
    )


def _plain(value: AnyValue) -> object:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(item) for item in value.array_value.values]
    return getattr(value, kind) if kind else None


@contextmanager
def open_collector() -> Iterator[Collector]:
    """Serve a collector inside the block."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if collector.hangs is not None:
                collector.hangs.wait()
            if collector.redirects_to:
                self.send_response(307)
                self.send_header("Location", collector.redirects_to)
            else:
                collector.take(body, dict(self.headers.items()))
                self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        @override
        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_port}"
    serving = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    serving.start()
    try:
        yield collector
    finally:
        if collector.hangs is not None:
            collector.hangs.set()
        server.shutdown()
        server.server_close()
        serving.join()


@contextmanager
def traced(collector: Collector, *, captures_content: bool = False) -> Iterator[None]:
    """Record spans inside the block; at its end the collector has them."""
    exported = Tracing("worker", collector.url, captures_content=captures_content)
    tracing.install(exported.tracer)
    try:
        yield
    finally:
        tracing.install(None)
        exported.close(FLUSHED_WITHIN)
