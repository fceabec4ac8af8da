"""The scope of a run of the loop, its task, and the files that its calls attach to the reply."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.approvals.requests import ApprovalRequests
from core.budgets.types import NoBudget, TurnBudget
from core.hooks.hooks import HookContext, Hooks
from core.journal.types import Journal, Outcome, StepKey, StepRecord
from core.json_types import JsonObject
from core.loop.account_check import TurnAccounts
from core.loop.config import ReactLoopConfig
from core.loop.context_window import Messages
from core.loop.control import TakeIn, TurnControl, TurnMessage
from core.loop.conversation_state import ConversationState
from core.loop.outside import OutsideText
from core.people.tenant import WhileRunning
from core.tools.context import ToolExecutionContext
from core.tools.toolbox import ToolRegistry
from core.tracing import NOTHING, CurrentSpan, agent_span

_FILES = "files"


@dataclass(slots=True)
class TurnFiles:
    """The attachments of a turn, from its own loop and those of its agents: each file once."""

    _calls: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The call of the turn's own loop to which each file belongs: its step and its number."""

    def begin(self, recorded: Mapping[StepKey, StepRecord]) -> None:
        """Add the records of the journal."""
        for record in recorded.values():
            files = record.result.get(_FILES)
            if record.outcome is Outcome.OK and isinstance(files, list):
                self._take(record.key, [str(file) for file in files])

    def note(self, key: StepKey, files: Sequence[str], result: JsonObject) -> None:
        """Add a call's attachments, and write them into its journalled result."""
        if files:
            result[_FILES] = list(files)
            self._take(key, files)

    def _take(self, key: StepKey, files: Sequence[str]) -> None:
        for file in files:
            self._calls.setdefault(file, _own_call(key))

    def due(self, begin: int, end: int | None) -> list[str]:
        """Return the files of the steps from `begin` to before `end`, in the order of the calls."""
        ranked = sorted(self._calls.items(), key=lambda item: item[1])
        return [file for file, (step, _) in ranked if begin <= step and (end is None or step < end)]


def _own_call(key: StepKey) -> tuple[int, int]:
    """Return the step and the number of the call in the turn's own loop, such as 2 and 1 of "2.1/NotesAgent"."""
    if not key.agent_path:
        return key.step, key.call_index
    step, _, number = key.agent_path.partition("/")[0].partition(".")
    return int(step), int(number)


ASSISTANT = "assistant"
"""The name, in traces, of the assistant itself."""


@dataclass(frozen=True, slots=True)
class TurnScope:
    """The state that the parts of a turn share: made once, and handed on to its loop, its agents and their loops."""

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
    """The records of the journal when a run of the loop began; empty before that."""

    @property
    def pending_approvals(self) -> tuple[str, ...]:
        return self.approval_requests.pending if self.approval_requests else ()

    def span(self) -> CurrentSpan:
        """Return the assistant's span; nothing for an agent's own loop, which is part of that agent's."""
        return NOTHING if self.where.agent_path else agent_span(ASSISTANT)


@dataclass(frozen=True, slots=True)
class LoopTask:
    """The input of a run of the loop. `messages` begin with the system prompt and end with the person's words."""

    scope: TurnScope
    messages: Messages
    tools: ToolRegistry
    inbound: tuple[TurnMessage, ...] = ()
    while_running: WhileRunning = WhileRunning.STEER
    take_in: TakeIn | None = None
    """Reads the files of messages that arrive while it runs."""
    state: ConversationState = field(default_factory=ConversationState)
    go_on_at: int | None = None
    """The model answer at whose calls a waiting turn resumes; the earlier answers are in the history by now."""
    says_result: bool = False
    """The run ends with the results of its first calls, and no model is asked to say them."""
