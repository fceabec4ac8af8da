"""The tracer of `core.tracing`, over OpenTelemetry's SDK."""

import hashlib
from contextvars import ContextVar
from typing import override

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from core.tracing import Attributes, Span, SpanKind

SCOPE = "onevalet"
_KINDS = {
    SpanKind.INTERNAL: trace.SpanKind.INTERNAL,
    SpanKind.SERVER: trace.SpanKind.SERVER,
    SpanKind.CLIENT: trace.SpanKind.CLIENT,
    SpanKind.PRODUCER: trace.SpanKind.PRODUCER,
    SpanKind.CONSUMER: trace.SpanKind.CONSUMER,
}
_PROPAGATOR = TraceContextTextMapPropagator()
_HEADER = "traceparent"


class NamedTraces(RandomIdGenerator):
    """Random ids, except for the trace of a root that has a name: the same name is the same trace."""

    def __init__(self) -> None:
        self.name: ContextVar[str] = ContextVar("name of the root", default="")

    @override
    def generate_trace_id(self) -> int:
        name = self.name.get()
        if not name:
            return super().generate_trace_id()
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:16]) or 1  # 0 is no trace


class OtelSpan:
    """A span of the SDK."""

    def __init__(self, span: trace.Span) -> None:
        self.inner = span

    @property
    def traceparent(self) -> str:
        context = self.inner.get_span_context()
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"

    def set(self, attributes: Attributes) -> None:
        self.inner.set_attributes(attributes)

    def link(self, traceparent: str) -> None:
        linked = trace.get_current_span(_context_of(traceparent)).get_span_context()
        if linked.is_valid:
            self.inner.add_link(linked)

    def fail(self, error: str) -> None:
        # The kind alone: an exception's words may be a person's.
        self.inner.set_attribute("error.type", error)
        self.inner.set_status(trace.StatusCode.ERROR)

    def end(self) -> None:
        self.inner.end()


class OtelTracer:
    """Begin spans at a provider, whose ids are `ids`."""

    def __init__(self, provider: TracerProvider, ids: NamedTraces, *, captures_content: bool) -> None:
        self._tracer = provider.get_tracer(SCOPE)
        self._ids = ids
        self.captures_content = captures_content

    def begin(
        self, name: str, kind: SpanKind, attributes: Attributes, parent: Span | str | None, root: str
    ) -> OtelSpan:
        context = _context_of(parent)
        named = self._ids.name.set(root)
        try:
            return OtelSpan(self._tracer.start_span(name, context, _KINDS[kind], attributes))
        finally:
            self._ids.name.reset(named)


def _context_of(parent: Span | str | None) -> Context:
    """Return the context to begin in, empty if a row carried nonsense: never the SDK's own current span."""
    if isinstance(parent, str):
        return _PROPAGATOR.extract({_HEADER: parent}, Context())
    return trace.set_span_in_context(parent.inner, Context()) if isinstance(parent, OtelSpan) else Context()
