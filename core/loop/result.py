"""What a run of the ReAct loop gives back, for whoever shows or counts it."""

import json
from dataclasses import dataclass, field
from enum import StrEnum

from core.journal.types import Outcome
from core.json_types import Json, JsonObject, read_json
from core.llm.types import ChatMessage, TokenUsage, ToolCall
from core.loop.conversation_state import ConversationState
from core.tools.result_entities import Entity

_MAX_SHOWN = 300


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
class CallResult:
    """What became of one call. `text` is what the model is told, `chars` its length before truncation.

    `entities` are the things it told of.
    """

    call: ToolCall
    text: str
    outcome: Outcome = Outcome.OK
    chars: int = 0
    duration_ms: int = 0
    entities: tuple[Entity, ...] = ()

    def arguments_summary(self) -> JsonObject:
        """Return the arguments with long values cut, for debugging."""
        try:
            value = read_json(self.call.arguments or "{}")
        except ValueError:
            value = self.call.arguments
        given = value if isinstance(value, dict) else {"arguments": value}
        return {name: _short(one) for name, one in given.items()}


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
    stopped_at: tuple[CallResult, ...] = ()
    state: ConversationState = field(default_factory=ConversationState)
    """What the conversation carries on to its next turn."""


def _short(value: Json) -> Json:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    return value if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
