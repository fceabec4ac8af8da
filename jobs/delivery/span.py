"""A delivery as a span of the trace in which its message was queued."""

from core import tracing
from core.messaging.calls import PartEnd
from core.messaging.due_messages import DueMessage, KeptPart
from core.messaging.states import CallOutcome
from core.tracing import SpanKind

_WELL = (CallOutcome.ACCEPTED, CallOutcome.FOUND)


def delivery_span(due: DueMessage) -> tracing.CurrentSpan:
    """Return the span of one claim of a message: those that follow a retry are its siblings."""
    if not tracing.is_on():
        return tracing.NOTHING
    attributes: dict[str, str | int] = {
        "messaging.system": due.address.channel,
        "messaging.operation.type": "send",
        "messaging.message.id": due.message.id,
        "onevalet.outbound.kind": due.message.kind.value,
        "onevalet.outbound.attempts": due.attempts,
    }
    name = f"send {due.address.channel}"
    return tracing.span(name, SpanKind.PRODUCER, attributes, parent=due.traceparent, root=due.message.id)


def note_call(part: KeptPart, attempt: int, end: PartEnd) -> None:
    """Note on the current span what became of the newest call."""
    attributes: dict[str, str | int] = {
        "onevalet.outbound.part": part.number,
        "onevalet.outbound.attempt": attempt,
        "onevalet.outbound.outcome": end.outcome.value,
    }
    tracing.note(attributes, error="" if end.outcome in _WELL else end.error_code or end.outcome.value)
