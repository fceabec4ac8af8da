"""What a run of the loop is bound to and what it works on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.approvals.requests import ApprovalRequests
from core.budgets.types import NoBudget, TurnBudget
from core.hooks.hooks import HookContext, Hooks
from core.journal.types import Journal, StepKey, StepRecord
from core.loop.account_check import TurnAccounts
from core.loop.attached import TurnFiles
from core.loop.config import ReactLoopConfig
from core.loop.context_window import Messages
from core.loop.control import TakeIn, TurnControl, TurnMessage
from core.loop.conversation_state import ConversationState
from core.loop.outside import OutsideText
from core.people.tenant import WhileRunning
from core.tools.call_span import agent_span
from core.tools.context import ToolExecutionContext
from core.tools.registry import ToolRegistry
from core.tracing import NOTHING, CurrentSpan

ASSISTANT = "assistant"
"""What traces call the agent that no tool is."""


@dataclass(frozen=True, slots=True)
class TurnScope:
    """What the parts of a turn share: it is made once, and handed on to its loop, its agents and their loops."""

    where: HookContext
    journal: Journal
    make_context: Callable[[str, str], ToolExecutionContext]
    """Returns a tool's context, from the tool's name and the call's idempotency key."""
    config: ReactLoopConfig = field(default_factory=ReactLoopConfig)
    hooks: Hooks = field(default_factory=Hooks)
    control: TurnControl | None = None
    budget: TurnBudget = field(default_factory=NoBudget)
    approval_requests: ApprovalRequests | None = None
    outside: OutsideText = field(default_factory=OutsideText)
    files: TurnFiles = field(default_factory=TurnFiles)
    accounts: TurnAccounts = field(default_factory=TurnAccounts)
    recorded: Mapping[StepKey, StepRecord] = field(default_factory=dict)
    """What the journal held when a run of the loop began; nothing before that."""

    @property
    def pending_approvals(self) -> tuple[str, ...]:
        return self.approval_requests.pending if self.approval_requests else ()

    def span(self) -> CurrentSpan:
        """Return the assistant's span; nothing for an agent's own loop, which is part of that agent's."""
        return NOTHING if self.where.agent_path else agent_span(ASSISTANT)


@dataclass(frozen=True, slots=True)
class LoopTask:
    """What one run of the loop works on. `messages` begin with the system prompt and end with the person's words."""

    scope: TurnScope
    messages: Messages
    tools: ToolRegistry
    inbound: tuple[TurnMessage, ...] = ()
    while_running: WhileRunning = WhileRunning.STEER
    take_in: TakeIn | None = None
    """Takes in the files of messages that come while it runs."""
    state: ConversationState = field(default_factory=ConversationState)
    go_on_at: int | None = None
    """The model answer at whose calls a waiting turn resumes; the earlier ones are in the history by now."""
    says_result: bool = False
    """The run ends with the results of its first calls, and no model is asked to say them."""
