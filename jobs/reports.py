"""Reports on turns and deliveries to the log, the metrics and the trace: ids, outcomes and reasons, no text.

Each worker that runs a turn adds a span to the same trace; a delivery is a span of the trace in which its message was
queued.
"""

import time

import structlog

from core import metrics, tracing
from core.messaging.calls import Begun, PartEnd
from core.messaging.capabilities import Bill
from core.messaging.due_messages import Claim, DueMessage, KeptPart
from core.messaging.states import CallOutcome, SendState
from core.tracing import SpanKind
from core.turns.stored import BegunTurn
from core.turns.types import TurnResult, TurnState

_BADLY = (TurnState.FAILED, TurnState.POISON)


def turn_span(turn: BegunTurn) -> tracing.CurrentSpan:
    """Return the span of a run of a turn."""
    if not tracing.is_on():
        return tracing.NOTHING
    attributes: dict[str, str | int] = {
        "onevalet.turn": turn.turn_id,
        "onevalet.turn.attempt": turn.attempts,
        "onevalet.turn.messages": len(turn.request.inbound),
    }
    if turn.request.place.conversation_id:
        attributes["gen_ai.conversation.id"] = turn.request.place.conversation_id
    if turn.run_id:
        attributes["onevalet.run"] = turn.run_id
    if turn.command:
        attributes["onevalet.command"] = turn.command.name
    span = tracing.span("turn", SpanKind.CONSUMER, attributes, parent=turn.traceparent, root=turn.turn_id)
    for context in turn.linked:
        span.link(context)
    return span


def note_delay(cause: str) -> None:
    """Count a turn that is delayed, and record the cause on the current span."""
    metrics.TURNS_DELAYED.labels(cause).inc()
    tracing.note({"onevalet.turn.delayed": cause})


def note_end(turn: BegunTurn, result: TurnResult, state: TurnState, seconds: float) -> None:
    """Log a turn's end, its work and its usage in one line, time it, and record it on the current span."""
    usage, calls = result.usage, [call for message in result.history for call in message.tool_calls]
    _log.info(
        "turn_finished",
        turn=turn.turn_id,
        attempt=turn.attempts,
        state=state.value,
        reason=result.reason,
        messages=len(turn.request.inbound) + len(result.absorbed),
        model_calls=result.turns,
        tool_calls=len(calls),
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
        cost=usage.cost,
        duration_ms=round(seconds * 1000),
    )
    metrics.TURN_SECONDS.labels(state.value).observe(seconds)
    tracing.note(
        {
            "onevalet.turn.state": state.value,
            "onevalet.turn.reason": result.reason,
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
        },
        error=result.reason or state.value if state in _BADLY else "",
    )


_WELL = (CallOutcome.ACCEPTED, CallOutcome.FOUND)


def delivery_span(due: DueMessage) -> tracing.CurrentSpan:
    """Return the span of a claim of a message; the spans of its retries are siblings."""
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
    """Record the outcome of the newest call on the current span."""
    attributes: dict[str, str | int] = {
        "onevalet.outbound.part": part.number,
        "onevalet.outbound.attempt": attempt,
        "onevalet.outbound.outcome": end.outcome.value,
    }
    tracing.note(attributes, error="" if end.outcome in _WELL else end.error_code or end.outcome.value)


HANGS = "it blocked its worker again and again"
UNREACHABLE = "the person stopped or blocked this channel"
NOT_CONFIGURED = "the channel is not configured"
UNRENDERED = "it cannot be rendered"
_REASONS = {HANGS: "hangs", UNREACHABLE: "unreachable", NOT_CONFIGURED: "not_configured", UNRENDERED: "unrendered"}
"""The metrics' names for reasons of the outbox; the reasons of `Begun` go by its values."""

_log = structlog.get_logger()


def measure_call(channel: str, end: PartEnd, seconds: float, bill: Bill | None, *, again: bool) -> None:
    """Time a call that sent a part, and count its cost; `again`: an earlier call sent the same part."""
    metrics.DELIVERY_SECONDS.labels(channel, end.outcome.value).observe(seconds)
    if bill:
        metrics.SEGMENTS.labels(channel).inc(bill.segments)
        metrics.TEXT_COST.labels(channel).inc(float(bill.price or 0))
    if again:
        metrics.DELIVERY_RETRIES.labels(channel).inc()


def count_lost_answer(channel: str, end: PartEnd) -> None:
    """Count a look-up of a part whose answer was lost, by its result."""
    metrics.LOST_ANSWERS.labels(channel, end.outcome.value).inc()
    tracing.note({"onevalet.outbound.outcome": end.outcome.value})


def count_failed(reason: str) -> None:
    """Count a message that was given up, by its reason."""
    metrics.MESSAGES_FAILED.labels(_REASONS[reason]).inc()
    tracing.note({}, error=_REASONS[reason])


def report_refused(claim: Claim, begun: Begun) -> None:
    """Count a message whose call may not leave, and log a budget of segments that is used up."""
    if begun is Begun.OVER_PERSON:
        _log.warning("segments_used_up", outbound=claim.outbound_id, of="person")
    elif begun is Begun.OVER_ALL:
        _log.error("segments_used_up", outbound=claim.outbound_id, of="all")
    metrics.MESSAGES_FAILED.labels(begun.value).inc()
    tracing.note({}, error=begun.value)


def report_part(claim: Claim, due: DueMessage, part: KeptPart, attempt: int, end: PartEnd) -> None:
    """Log the outcome of a part, and time the answer that begins with it."""
    if part.number == 1 and end.state is SendState.SENT:
        _time_answer(due)
    _log.info(
        "part_sent" if end.state is SendState.SENT else "part_not_sent",
        outbound=claim.outbound_id,
        part=part.number,
        attempt=attempt,
        outcome=end.outcome,
        code=end.error_code,
    )
    note_call(part, attempt, end)


def _time_answer(due: DueMessage) -> None:
    if due.waited is not None:
        since = 0.0 if due.stream_at is not None else time.monotonic() - due.read_at
        metrics.ANSWER_SECONDS.labels(due.address.channel).observe(due.waited.total_seconds() + since)
