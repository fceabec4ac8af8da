"""The input of one run of the ReAct loop."""

from collections.abc import Callable
from dataclasses import dataclass, field

from core.approvals.requests import ApprovalRequests
from core.budgets.types import NoBudget, TurnBudget
from core.hooks.hooks import Hook, HookContext
from core.journal.types import Journal
from core.loop.account_check import TurnAccounts
from core.loop.attached import TurnFiles
from core.loop.context_window import Messages
from core.loop.control import TurnControl, TurnMessage
from core.loop.conversation_state import ConversationState
from core.loop.outside import OutsideText
from core.loop.steering import TakeIn
from core.people.tenant import WhileRunning
from core.tools.call_span import agent_span
from core.tools.context import ToolExecutionContext
from core.tools.registry import ToolRegistry
from core.tracing import NOTHING, CurrentSpan

ASSISTANT = "assistant"
"""What traces call the agent that no tool is."""


@dataclass(frozen=True, slots=True)
class LoopTask:
    """The loop's input. `messages` begin with the system prompt and end with the person's words."""

    where: HookContext
    messages: Messages
    tools: ToolRegistry
    journal: Journal
    make_context: Callable[[str, str], ToolExecutionContext]
    """Returns a tool's context, from the tool's name and the call's idempotency key."""
    inbound: tuple[TurnMessage, ...] = ()
    control: TurnControl | None = None
    while_running: WhileRunning = WhileRunning.STEER
    state: ConversationState = field(default_factory=ConversationState)
    hooks: tuple[Hook, ...] = ()
    """For this turn only, in addition to the loop's own."""
    budget: TurnBudget = field(default_factory=NoBudget)
    approval_requests: ApprovalRequests | None = None
    outside: OutsideText = field(default_factory=OutsideText)
    files: TurnFiles = field(default_factory=TurnFiles)
    accounts: TurnAccounts = field(default_factory=TurnAccounts)
    """The three are shared by the loops of a turn."""
    take_in: TakeIn | None = None
    """Takes in the files of messages that come while it runs."""
    go_on_at: int | None = None
    """The model answer at whose calls a waiting turn resumes; the earlier ones are in the history by now."""
    says_result: bool = False
    """The run ends with the results of its first calls, and no model is asked to say them."""

    def span(self) -> CurrentSpan:
        """Return the assistant's span; nothing for an agent's own loop, which is part of that agent's."""
        return NOTHING if self.where.agent_path else agent_span(ASSISTANT)
