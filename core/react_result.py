"""What a run of the ReAct loop gives back, for whoever shows or counts it."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.json_types import JsonObject
from core.model_types import ChatMessage, TokenUsage


class Ended(StrEnum):
    """Why the loop ended."""

    ANSWERED = "answered"
    MAX_TURNS = "max_turns"
    """It was out of turns, and the answer is a forced summary."""
    ERRORS = "errors"
    """Its calls kept failing, and the answer is a forced summary."""
    EMPTY = "empty"
    """The model kept saying nothing."""
    STUCK = "stuck"
    """It went round in circles in spite of advice, and the answer is a forced summary."""
    BUDGET = "budget"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """One call of a tool or an agent-tool.

    `args_summary` is cut for debugging; `result_status` an agent's status; `result_chars` the length before
    truncation; `token_attribution` what the model answer that asked for it used.
    """

    name: str
    args_summary: JsonObject
    duration_ms: int
    success: bool
    result_status: str | None = None
    result_chars: int = 0
    token_attribution: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class ReactLoopResult:
    """The answer and how it came about. `messages` are those to append to the conversation's history."""

    response: str
    turns: int
    tool_calls: tuple[ToolCallRecord, ...] = ()
    token_usage: TokenUsage = field(default_factory=TokenUsage)
    duration_ms: int = 0
    pending_approvals: tuple[str, ...] = ()
    ended: Ended = Ended.ANSWERED
    messages: tuple[ChatMessage, ...] = ()
    absorbed: tuple[str, ...] = ()
