"""The result of a run of the ReAct loop."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.llm.types import ChatMessage, TokenUsage
from core.loop.control import TurnMessage
from core.loop.conversation_state import ConversationState
from core.tools.results import CallResult, ToolCallRecord


class Ended(StrEnum):
    """The reason for the end of the loop."""

    ANSWERED = "answered"
    MAX_TURNS = "max_turns"
    """Out of model answers; the response is a forced summary."""
    ERRORS = "errors"
    """The calls kept failing; the response is a forced summary."""
    EMPTY = "empty"
    """The model kept answering nothing."""
    REFUSED = "refused"
    """The model would not answer, or its provider withheld the answer."""
    STUCK = "stuck"
    """No progress in spite of advice; the response is a forced summary."""
    BUDGET = "budget"
    WAITING = "waiting"
    """A call waits for the person; `stopped_at` are the results of that answer's calls."""
    CANCELLED = "cancelled"
    """The person cancelled every waiting entry and has the answer; the model has nothing to add."""
    HANDED_OVER = "handed_over"
    """Everything was for a waiting turn, which resumes."""
    INTERRUPTED = "interrupted"
    SUPERSEDED = "superseded"
    """The person wrote again and prefers that to end a running turn; there is no reply."""


@dataclass(frozen=True, slots=True)
class ReactLoopResult:
    """The answer and the way to it. `messages` are to be appended to the conversation's history."""

    response: str
    turns: int
    tool_calls: tuple[ToolCallRecord, ...] = ()
    token_usage: TokenUsage = field(default_factory=TokenUsage)
    duration_ms: int = 0
    pending_approvals: tuple[str, ...] = ()
    """The codes of the approvals that this turn waits for."""
    ended: Ended = Ended.ANSWERED
    messages: tuple[ChatMessage, ...] = ()
    told: tuple[str, ...] = ()
    """Texts for the person from calls that were handed over to a waiting turn."""
    absorbed: tuple[str, ...] = ()
    joined: tuple[TurnMessage, ...] = ()
    """The messages that it took in while it ran, with their files."""
    stopped_at: tuple[CallResult, ...] = ()
    state: ConversationState = field(default_factory=ConversationState)
    """The conversation's state for its next turn."""
