"""Tasks, runs and what executors are handed: the values of the trigger engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from core.journal.types import Effect
from core.json_types import Json, JsonObject
from core.tools.context import ToolExecutionContext
from core.triggers.codec import KeptTrigger, Kind
from core.turns.types import TurnRequest, TurnResult

ORCHESTRATOR = "orchestrator"
AGENT = "agent:"
NOBODY_TO_TELL = "there was no place to reach you"
"""Why an occurrence of a task that rests is skipped."""
NOTHING = "NOTHING"
"""What a task that may be silent answers when there is nothing worth telling."""


class TaskState(StrEnum):
    """How a task stands."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    DISABLED = "DISABLED"
    """It failed too often in a row, or was set aside after an error that nobody foresaw."""
    COMPLETED = "COMPLETED"
    """There is nothing more to come, or the person stopped it."""


class RunState(StrEnum):
    """How a run stands."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    PENDING_APPROVAL = "PENDING_APPROVAL"
    """It waits for the person: for consent, or for an answer."""
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    EXPIRED = "EXPIRED"
    """The person did not decide in time."""
    SKIPPED = "SKIPPED"
    """It was missed, and its task lets such go."""
    CANCELLED = "CANCELLED"


@dataclass(frozen=True, slots=True)
class TaskOutput:
    """How what comes of a task is told. `channel` empty: where the person is reached best.

    `urgency` and `category` are those of the notification. `silent`: it may find nothing worth telling, and then
    nothing is sent.
    """

    channel: str = ""
    category: str = ""
    urgency: str = "normal"
    silent: bool = False

    def to_json(self) -> JsonObject:
        """Write it down."""
        return {"channel": self.channel, "category": self.category, "urgency": self.urgency, "silent": self.silent}

    @classmethod
    def from_json(cls, kept: JsonObject) -> "TaskOutput":
        """Read what `to_json` wrote, or a caller gave."""
        return cls(
            str(kept.get("channel") or ""),
            str(kept.get("category") or ""),
            str(kept.get("urgency") or "normal"),
            bool(kept.get("silent")),
        )


@dataclass(frozen=True, slots=True)
class Task:
    """What a person wants done when a trigger fires.

    `number` is what the person calls it by. `action` holds the `instruction` for the orchestrator, and what a custom
    executor reads. `due_at` is the next occurrence and
    `next_at` when it is taken, in UTC, None while nothing is scheduled; `zone` is the one they were computed in.
    `set_aside` names the unforeseen error after which it was disabled; empty for all others. `held`: its person can be
    reached nowhere, so it rests.
    """

    tenant_id: str
    id: str
    number: int
    title: str
    trigger: KeptTrigger
    kind: Kind
    executor: str = ORCHESTRATOR
    action: JsonObject = field(default_factory=dict)
    output: TaskOutput = field(default_factory=TaskOutput)
    state: TaskState = TaskState.ACTIVE
    reason: str = ""
    anchor: datetime | None = None
    due_at: datetime | None = None
    next_at: datetime | None = None
    zone: str = ""
    fired: int = 0
    failures: int = 0
    watch: JsonObject = field(default_factory=dict)
    revision: int = 0
    looks_begun: int = 0
    """Looks at a condition since the last one that ended."""
    deleted: bool = False
    set_aside: str = ""
    held: bool = False

    @property
    def instruction(self) -> str:
        """Return what is to be done, in words."""
        return str(self.action.get("instruction") or "")


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One run of a task. `cause` is what made it run; `told` what became of what it had to say."""

    id: str
    task_id: str
    occurrence: str
    due_at: datetime
    state: RunState
    reason: str = ""
    cause: JsonObject = field(default_factory=dict)
    conversation_id: str = ""
    turn_id: str = ""
    created_at: datetime | None = None
    finished_at: datetime | None = None
    told: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class TriggerContext:
    """What an executor is handed for one run.

    `tools` is what a tool is handed: the tenant's credentials, web access, storage, clock, log and an idempotency
    key that is the run's own. `notify` tells the person something at once; what `execute` returns is told at the
    end. For a condition `old` and `new` are its values before and now.
    """

    task: Task
    run: TaskRun
    trigger_type: str
    tools: ToolExecutionContext
    request: TurnRequest
    notify: Callable[[str], Awaitable[None]]
    event_type: str = ""
    event_data: JsonObject = field(default_factory=dict)
    condition_expression: str = ""
    old: Json = None
    new: Json = None

    @property
    def tenant_id(self) -> str:
        """Name the person whose task it is."""
        return self.task.tenant_id


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What came of a run: `output` is told to the person, empty for nothing; `error` goes to the log and `why`.

    `turn` is set where it was a turn of the loop, which may also wait.
    """

    success: bool
    output: str = ""
    error: str = ""
    turn: TurnResult | None = None


class ActionExecutor:
    """Does what a task wants when it fires. Override `execute`; the loader finds subclasses in plugin modules.

    `name` is what tasks choose it by. `effect` says what may happen to a run whose worker died: `once` (it is not
    done again, and the person is told), `idempotent` or `read` (again, with the same idempotency key).
    """

    name: ClassVar[str] = ""
    effect: ClassVar[str] = Effect.ONCE.value

    async def execute(self, context: TriggerContext) -> ActionResult:
        """Do it. What it raises fails the run."""
        raise NotImplementedError
