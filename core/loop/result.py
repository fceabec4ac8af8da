"""What a run of the ReAct loop gives back, for whoever shows or counts it."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.llm.types import ChatMessage, TokenUsage
from core.loop.conversation_state import ConversationState
from core.tools.results import CallResult, ToolCallRecord


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
    WAITING = "waiting"
    """A call waits for the person; `stopped_at` is what that answer's calls came to."""
    HANDED_OVER = "handed_over"
    """All that was said was for a waiting turn, which goes on."""
    INTERRUPTED = "interrupted"
    SUPERSEDED = "superseded"
    """The person wrote again and prefers that to end a running turn; nothing is said."""


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
    stopped_at: tuple[CallResult, ...] = ()
    state: ConversationState = field(default_factory=ConversationState)
    """What the conversation carries on to its next turn."""
