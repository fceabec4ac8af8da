"""One run of the ReAct loop: what it is given, and how it stands."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from core.approvals.consent import Consents
from core.budgets.types import NoBudget, TurnBudget
from core.hooks.hooks import Hook, HookContext, Hooks
from core.hooks.judge import Judging
from core.journal.types import Journal, StepKey, StepRecord
from core.llm.tokens import estimate_tokens
from core.llm.types import ChatMessage, Role, TokenUsage
from core.loop.context_window import Messages, repair
from core.loop.control import TurnControl, TurnMessage
from core.loop.conversation_state import ConversationState
from core.loop.result import Ended, ReactLoopResult
from core.loop.steering import Steering
from core.loop.tool_runner import CallResult, ToolRunner
from core.people.tenant import WhileRunning
from core.tools.context import ToolExecutionContext
from core.tools.registry import ToolRegistry
from core.tools.results import ToolCallRecord
from core.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class LoopTask:
    """What the loop is given: `messages` begin with the system prompt and end with the person's words."""

    where: HookContext
    messages: Messages
    tools: ToolRegistry
    journal: Journal
    make_context: Callable[[str, str], ToolExecutionContext]
    """Makes what a tool is handed, from the tool's name and the call's idempotency key."""
    inbound: tuple[TurnMessage, ...] = ()
    control: TurnControl | None = None
    while_running: WhileRunning = WhileRunning.STEER
    state: ConversationState = field(default_factory=ConversationState)
    hooks: tuple[Hook, ...] = ()
    """For this turn only, beside the loop's own."""
    budget: TurnBudget = field(default_factory=NoBudget)
    consents: Consents | None = None
    go_on_at: int | None = None
    """The model answer at whose calls a waiting turn goes on; what came before it is history by now."""


@dataclass(slots=True)
class LoopRun:
    """One run of the loop as it stands. `window` is what the model sees, `new` what history will get."""

    task: LoopTask
    hooks: Hooks
    tools: Toolbox
    runner: ToolRunner
    steering: Steering
    judging: Judging
    recorded: dict[StepKey, StepRecord]
    window: Messages
    journal: Journal
    state: ConversationState
    began: float = field(default_factory=time.monotonic)
    step_began: float = field(default_factory=time.monotonic)
    step: int = 0
    failures: int = 0
    """Answers in a row whose every call failed."""
    empties: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    window_tokens: int = 0
    new: list[ChatMessage] = field(default_factory=list)
    calls: list[ToolCallRecord] = field(default_factory=list)
    results: list[CallResult] = field(default_factory=list)
    """What the newest calls came to."""
    tools_changed: bool = False

    @property
    def key(self) -> StepKey:
        """Return the key of the next model answer."""
        return StepKey(self.step, 0, self.task.where.agent_path)

    @property
    def replaying(self) -> bool:
        """Return whether the next model answer is in the journal."""
        return self.key in self.recorded

    def say(self, *messages: ChatMessage, keep: bool = True) -> None:
        """Add messages to what the model sees, and to history unless they are ours."""
        self.window += messages
        self.window_tokens += estimate_tokens(messages)
        if keep:
            self.new += messages

    def see(self, messages: Messages) -> None:
        """Let the model see other messages from now on, if they are others."""
        if messages is not self.window:
            self.window = repair(messages)
            self.window_tokens = estimate_tokens(self.window)

    def end(self, ended: Ended, text: str) -> ReactLoopResult:
        """Close the run with what the person is told."""
        if text:
            self.new.append(ChatMessage(Role.ASSISTANT, text))
        return ReactLoopResult(
            response=text,
            turns=self.step,
            tool_calls=tuple(self.calls),
            token_usage=self.usage,
            duration_ms=int((time.monotonic() - self.began) * 1000),
            ended=ended,
            messages=tuple(self.new),
            absorbed=tuple(self.steering.absorbed),
            state=self._state_left(),
            stopped_at=tuple(self.results) if ended is Ended.WAITING else (),
        )

    def _state_left(self) -> ConversationState:
        groups = self.tools.groups
        return self.state if groups == self.state.groups else replace(self.state, groups=groups)
