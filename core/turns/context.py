"""The context that is prepared for a turn before the loop, and the checks that may refuse it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from core.agents.pending_answers import PendingAnswers
from core.agents.turn_agents import TurnAgents
from core.json_types import Json
from core.llm.types import ChatMessage
from core.loop.conversation_state import ConversationState
from core.tools.toolbox import ToolRegistry
from core.turns.types import TurnRequest


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The prepared context of a turn: `messages` begin with the system prompt and end with the person's words."""

    messages: tuple[ChatMessage, ...]
    said: tuple[ChatMessage, ...]
    """The person's messages of this turn, as they go into history."""
    tools: ToolRegistry
    agents: TurnAgents
    state: ConversationState = field(default_factory=ConversationState)
    waiting: PendingAnswers = field(default_factory=PendingAnswers)
    """The agents whose answer the person's words may be."""
    noted: Mapping[str, Json] = field(default_factory=dict)
    """The abilities' notes about the turn, made while it is prepared."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refusal of a turn; if `reply` is empty, nothing is sent."""

    reason: str
    reply: str = ""


type Check = Callable[[TurnRequest, TurnContext], Awaitable[Refusal | None]]
"""A check that may refuse a turn. If it cannot decide, it raises `TurnDelayed`."""
