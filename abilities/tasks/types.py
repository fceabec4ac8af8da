"""The values of the trigger engine: tasks, runs, and the context and result of executors."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, cast

from abilities.tasks.codec import Kind, StoredTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from core.journal.types import Effect
from core.json_types import Json, JsonObject
from core.messaging.messages import Media
from core.notifications.types import NotificationStatus, Urgency
from core.tools.context import TaskState, ToolExecutionContext
from core.turns.runs import NoticeKind, RunState
from core.turns.types import TurnRequest, TurnResult

ORCHESTRATOR = "orchestrator"
AGENT = "agent:"
HEARTBEAT = "heartbeat"
"""The category of a task that looks by itself whether anything is worth telling."""
NOTHING = "NOTHING"
"""The answer of a silent task when there is nothing worth telling."""


@dataclass(frozen=True, slots=True)
class TaskOutput:
    """The delivery of a task's results. `channel` None: the channel on which the person is reached best.

    `urgency` and `category` are those of the notification. `silent`: nothing is sent when nothing is worth telling.
    `at_night`: its runs wait for no end of quiet hours, and none is spared.
    """

    channel: str | None = None
    category: str = ""
    urgency: Urgency = Urgency.NORMAL
    silent: bool = False
    at_night: bool = False

    def to_json(self) -> JsonObject:
        return asdict(self) | {"channel": self.channel or ""}

    @classmethod
    def from_json(cls, kept: JsonObject) -> "TaskOutput":
        """Parse the stored form, or a caller's."""
        return cls(
            str(kept.get("channel") or "") or None,
            str(kept.get("category") or ""),
            _urgency(kept.get("urgency")),
            bool(kept.get("silent")),
            bool(kept.get("at_night")),
        )


def _urgency(stored: Json) -> Urgency:
    """Parse a stored urgency; an urgency that a plugin made up counts as normal."""
    return Urgency(stored) if isinstance(stored, str) and stored in tuple(Urgency) else Urgency.NORMAL


@dataclass(frozen=True, slots=True)
class Task:
    """A person's wish for an action when a trigger fires.

    `number` is the person's own name for it. `action` holds the `instruction` for the orchestrator, and the input of a
    custom executor. `due_at` is the next occurrence and `next_at` when it is taken, in UTC, None while nothing is
    scheduled; `zone` is the zone they were computed in. `set_aside` names the unforeseen error after which the task
    was disabled. `held`: its person cannot be reached, so it does not run.
    """

    tenant_id: str
    id: str
    number: int
    title: str
    trigger: StoredTrigger
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
    """Looks at a condition that have begun since the last look that ended."""
    deleted: bool = False
    set_aside: str | None = None
    held: bool = False
    make_up_at: datetime | None = None
    """When the quiet hours end that have spared runs of it."""

    @property
    def instruction(self) -> str:
        return str(self.action.get("instruction") or "")

    @property
    def waits_in_quiet(self) -> bool:
        """Return whether its runs wait for the end of quiet hours: they ask a model, and the person named no moment."""
        asks = self.executor == ORCHESTRATOR or self.executor.startswith(AGENT)
        named = isinstance(self.trigger, ScheduleTrigger) and self.trigger.at is not None
        return asks and not named and not self.output.at_night and self.output.urgency is not Urgency.URGENT


class NoticeState(StrEnum):
    """The progress of a notice towards the notifier."""

    OPEN = "open"
    HANDED_OVER = "handed_over"
    FAILED = "failed"
    """It was set aside, as the notifier refused it too often."""


@dataclass(frozen=True, slots=True)
class RunNotice:
    """A run's news for its person.

    `fate` is its status at the notifier, None while it has not got it; `place` the channel that it was sent on.
    `outside`: it has words of others.
    """

    key: str
    kind: NoticeKind
    text: str
    state: NoticeState
    fate: NotificationStatus | None = None
    place: str | None = None
    media: tuple[Media, ...] = ()
    outside: bool = False

    @classmethod
    def from_row(cls, row: JsonObject) -> "RunNotice":
        """Parse a row of `run_notices`, whose columns are empty if there is no value."""
        return cls(
            key=str(row["key"]),
            kind=NoticeKind(str(row["kind"])),
            text=str(row["text"]),
            state=NoticeState(str(row["state"])),
            fate=NotificationStatus(str(row["fate"])) if row["fate"] else None,
            place=str(row["place"] or "") or None,
            media=tuple(Media(**media) for media in cast("list[dict[str, Any]]", row["media"])),
            outside=bool(row["outside"]),
        )


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A run of a task. `cause` is the event that started it; `notices`: its notifications and their delivery status.

    `conversation_id` is set when its turn begins, if its person has any; `turn_id` is None if it was skipped.
    """

    id: str
    task_id: str
    occurrence: str
    due_at: datetime
    state: RunState
    reason: str = ""
    cause: JsonObject = field(default_factory=dict)
    conversation_id: str | None = None
    turn_id: str | None = None
    created_at: datetime | None = None
    finished_at: datetime | None = None
    notices: tuple[RunNotice, ...] = ()


@dataclass(frozen=True, slots=True)
class TriggerContext:
    """The context of an executor in a run.

    `tools` is the context of a tool: the tenant's credentials, web access, storage, clock, log, and an idempotency key
    of the run. `notify` tells the person something at once; the result of `execute` is told at the end. For a
    condition `old` and `new` are its values before and now.
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
        return self.task.tenant_id


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of a run: `output` is sent to the person unless empty; `error` goes to the log and `tasks why`.

    `turn` is set if the run was a turn of the loop, which may also wait. `outside`: `output` has words of others,
    which the conversation's history leaves out.
    """

    success: bool
    output: str = ""
    error: str = ""
    turn: TurnResult | None = None
    outside: bool = False


class ActionExecutor:
    """Does the action of a task that fires. Override `execute`; the loader finds subclasses in plugin modules.

    Tasks name it by `name`. `effect` says how a run continues after its worker died: `once` (it is not repeated, and
    the person is told), `idempotent` or `read` (it is repeated with the same idempotency key).
    """

    name: ClassVar[str] = ""
    effect: ClassVar[str] = Effect.ONCE.value

    async def execute(self, context: TriggerContext) -> ActionResult:
        """Do the action. An exception fails the run."""
        raise NotImplementedError
