"""Calls of tools as spans, by OpenTelemetry's conventions for generative AI."""

from core import tracing
from core.journal.types import Outcome
from core.json_types import storable
from core.llm.types import ToolCall
from core.tools.results import ToolEnd

_FAILED = (Outcome.ERROR, Outcome.UNKNOWN)


def tool_span(name: str, call: ToolCall) -> tracing.CurrentSpan:
    """Return the span of a call that may run. `name` is the tool's own: the model may have made up another."""
    if not tracing.is_on():
        return tracing.NOTHING
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.id,
    }
    if tracing.captures_content():
        attributes["gen_ai.tool.call.arguments"] = storable(call.arguments)
    return tracing.span(f"execute_tool {name}", attributes=attributes)


def note_result(end: ToolEnd) -> None:
    """Note on the current span the outcome of the call."""
    if not tracing.is_on():
        return
    attributes = {"onevalet.tool.outcome": end.outcome.value}
    if tracing.captures_content():
        attributes["gen_ai.tool.call.result"] = storable(end.text)
    tracing.note(attributes, error=end.outcome.value if end.outcome in _FAILED else "")
