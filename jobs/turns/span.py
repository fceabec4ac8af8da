"""A turn as a span of the trace that its first message began."""

from core import tracing
from core.tracing import SpanKind
from core.turns.types import BegunTurn, TurnResult, TurnState

_FAILED = (TurnState.FAILED, TurnState.POISON)


def turn_span(turn: BegunTurn) -> tracing.CurrentSpan:
    """Return the span of a run of a turn. Each worker that has it adds one, all of them in the same trace."""
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
    """Note on the current span that the turn was put off, and what held it up."""
    tracing.note({"onevalet.turn.delayed": cause})


def note_end(turn: BegunTurn, result: TurnResult, state: TurnState) -> None:
    """Note on the current span how the turn ended, and what it used."""
    usage = result.usage
    tracing.note(
        {
            "onevalet.turn.state": state.value,
            "onevalet.turn.reason": result.reason,
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
        },
        error=result.reason or state.value if state in _FAILED else "",
    )
