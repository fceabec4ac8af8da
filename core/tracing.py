"""Spans of the assistant's work, for an operator's collector. Without a collector nothing is recorded or imported.

A span's context travels in the column `traceparent` of the rows that its work leaves behind (W3C Trace Context):
the process that takes such a row up goes on in the same trace. No attribute names a person, and none holds a text
unless the operator wants the texts of calls.
"""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self

from core.json_types import JsonObject

type Attributes = Mapping[str, str | int | float | bool | Sequence[str]]


class SpanKind(StrEnum):
    """The kind of a span between processes, in OpenTelemetry's terms."""

    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"
    PRODUCER = "producer"
    CONSUMER = "consumer"


class Span(Protocol):
    """A piece of work that has begun."""

    @property
    def traceparent(self) -> str:
        """Return its context, as rows carry it."""
        ...

    def set(self, attributes: Attributes) -> None: ...

    def link(self, traceparent: str) -> None:
        """Link it to a span of another trace."""
        ...

    def fail(self, error: str) -> None:
        """Mark it as failed, with the kind of error."""
        ...

    def end(self) -> None: ...


class Tracer(Protocol):
    """Begins spans. `captures_content`: the operator wants the texts of model and tool calls on them."""

    captures_content: bool

    def begin(self, name: str, kind: SpanKind, attributes: Attributes, parent: Span | str | None, root: str) -> Span:
        """Begin a span. Without a parent it is a root, of the trace that `root` names or of a new trace."""
        ...


type CurrentSpan = _Current | _Nothing

_tracer: Tracer | None = None
_current: ContextVar[Span | None] = ContextVar("current span", default=None)


def install(tracer: Tracer | None) -> None:
    """Record spans with this tracer from now on; None: record nothing."""
    global _tracer
    _tracer = tracer


def is_on() -> bool:
    return _tracer is not None


def captures_content() -> bool:
    """Return whether spans may hold texts of calls."""
    return _tracer is not None and _tracer.captures_content


def span(
    name: str,
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Attributes | None = None,
    *,
    parent: str | None = None,
    root: str = "",
) -> CurrentSpan:
    """Return a span to be current inside the block: spans that begin there belong to it.

    `parent`: the context that a row carried; without it the current span. Work that is taken up from a row has a
    `root`, which names its trace if the row carried no context: after a crash it goes on in the same trace.
    """
    if _tracer is None:
        return NOTHING
    above = None if root else _current.get()
    return _Current(_tracer.begin(name, kind, attributes or {}, parent or above, root))


def agent_span(name: str) -> CurrentSpan:
    """Return the span of an agent that works, of the assistant itself too."""
    return span(f"invoke_agent {name}", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name})


def begin(name: str, kind: SpanKind, attributes: Attributes) -> Span | None:
    """Begin a span that the caller ends, and under which nothing begins; None while nothing is recorded."""
    return None if _tracer is None else _tracer.begin(name, kind, attributes, _current.get(), "")


def note(attributes: Attributes, *, error: str = "") -> None:
    """Set attributes of the current span, and with `error`, the kind of error, mark it as failed."""
    current = None if _tracer is None else _current.get()
    if current is not None:
        current.set(attributes)
        if error:
            current.fail(error)


def traceparent() -> str | None:
    """Return the context of the current span; None while nothing is recorded."""
    current = None if _tracer is None else _current.get()
    return None if current is None else current.traceparent


def carried() -> JsonObject:
    """Return the current span's context for a row's JSON: empty while nothing is recorded."""
    context = traceparent()
    return {} if context is None else {"traceparent": context}


class _Current:
    """A span, current inside the block."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self._before: Token[Span | None] | None = None

    def __enter__(self) -> Self:
        self._before = _current.set(self._span)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            _current.reset(self._before)
        if kind is not None:
            self._span.fail(kind.__name__)
        self._span.end()

    def set(self, attributes: Attributes) -> None:
        self._span.set(attributes)

    def link(self, traceparent: str | None) -> None:
        if traceparent:
            self._span.link(traceparent)


class _Nothing:
    """Stands for a span while nothing is recorded."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def set(self, attributes: Attributes) -> None:
        """Record nothing."""

    def link(self, traceparent: str | None) -> None:
        """Record nothing."""


NOTHING = _Nothing()
