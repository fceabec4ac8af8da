"""A task for its page: its times, its runs and their reasons, and the form to change it."""

from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from abilities.tasks.codec import Trigger, UnreadableTrigger
from abilities.tasks.console.listing import TaskRow
from abilities.tasks.dry_run import dry_run
from abilities.tasks.explain import explain
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError, wall_moment
from abilities.tasks.reasons import reason_in_words
from abilities.tasks.service import TaskService
from abilities.tasks.types import AGENT, ORCHESTRATOR, Task, TaskRun
from core.json_types import JsonObject
from core.tools.context import TaskState
from core.turns.runs import RunState

_OF_ACTION = frozenset({"instruction", "text"})
"""Fields of the form about the action, by their names in the task's action."""
_WENT_WRONG = frozenset({RunState.FAILED, RunState.EXPIRED})


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run. `why`: its recorded reason in words, which may quote a tool's words."""

    run: TaskRun
    why: str

    @property
    def failed(self) -> bool:
        return self.run.state in _WENT_WRONG

    @property
    def state(self) -> str:
        return self.run.state.value.replace("_", " ").lower()


@dataclass(frozen=True, slots=True)
class TaskView:
    """The contents of the page. `told` explains the task in words, and `coming` is the result of a dry run."""

    row: TaskRow
    runs: tuple[RunRow, ...]
    told: str
    coming: tuple[str, ...]
    problem: str

    @property
    def task(self) -> Task:
        return self.row.task

    @property
    def changes(self) -> tuple[tuple[str, str], ...]:
        """Return the changes that the task allows, as (change, label)."""
        if self.task.deleted:
            return ()
        if self.task.set_aside is not None:
            return (("run", "Run now"), ("retry", "Try again"))
        match self.task.state:
            case TaskState.ACTIVE:
                return (("run", "Run now"), ("pause", "Pause"))
            case TaskState.PAUSED | TaskState.DISABLED:
                return (("run", "Run now"), ("resume", "Resume"))
        return (("run", "Run now"),)

    @property
    def fields(self) -> dict[str, str]:
        """Return the form to change the task, with the present values; empty if it cannot be changed here.

        A condition keeps its subject: a subject is tried before a person agrees to it, which is done in chat.
        """
        over = self.task.deleted or self.task.state not in (TaskState.ACTIVE, TaskState.PAUSED)
        if over or isinstance(self.task.trigger, UnreadableTrigger):
            return {}
        return {**_words(self.task), **_when(self.task.trigger, self.zone)}

    @property
    def zone(self) -> ZoneInfo:
        """Return the zone in which the task's times count."""
        trigger = self.task.trigger
        if not isinstance(trigger, ScheduleTrigger):
            return self.row.zone
        try:
            return trigger.zone(self.row.zone.key)
        except TriggerError:
            return self.row.zone  # it is known no more, as the dry run says

    @property
    def is_condition(self) -> bool:
        return isinstance(self.task.trigger, ConditionTrigger)


async def read_task(tasks: TaskService, row: TaskRow, expression: str = "") -> TaskView:
    """Return a task with its last runs and the result of a dry run. `expression` is tried in place of its own."""
    problem, coming = "", list[str]()
    try:
        coming = [] if row.task.deleted else await dry_run(tasks, row.task, expression)
    except TriggerError as error:
        problem = str(error)
    known = await explain(tasks, row.task)
    runs = await tasks.runs(row.task.tenant_id, row.task.id)
    shown = tuple(RunRow(run, reason_in_words(run.reason)) for run in runs)
    return TaskView(row, shown, str(known["text"]), tuple(coming), problem)


def changed(view: TaskView, fields: dict[str, str]) -> tuple[Trigger, JsonObject, str]:
    """Return the trigger, the action and the title that a form says. Raises `TriggerError`."""
    task, trigger = view.task, view.task.trigger
    if isinstance(trigger, UnreadableTrigger):
        raise TriggerError(trigger.why)
    given = {name: fields.get(name, "").strip() or text for name, text in _words(task).items()}
    action: JsonObject = task.action | {name: text for name, text in given.items() if name in _OF_ACTION}
    title = given.get("title") or given.get("text") or task.title
    if isinstance(trigger, ScheduleTrigger):
        trigger = _retimed(trigger, view.zone, fields)
    return trigger, action, title


def _words(task: Task) -> dict[str, str]:
    """Return the words of a task that can be changed. Those of a reminder are its title too."""
    text = task.action.get("text")
    if isinstance(text, str):
        return {"text": text} if text == task.title else {"title": task.title, "text": text}
    ours = task.executor == ORCHESTRATOR or task.executor.startswith(AGENT)
    return {"title": task.title, **({"instruction": task.instruction} if ours else {})}


def _when(trigger: Trigger, zone: ZoneInfo) -> dict[str, str]:
    if not isinstance(trigger, ScheduleTrigger):
        return {}
    if trigger.at is not None:
        return {"at": f"{wall_moment(trigger.at, zone).astimezone(zone):%Y-%m-%dT%H:%M}"}
    if trigger.interval_minutes is not None:
        return {"minutes": f"{trigger.interval_minutes:g}"}
    return {"cron": trigger.cron}


def _retimed(trigger: ScheduleTrigger, zone: ZoneInfo, fields: dict[str, str]) -> ScheduleTrigger:
    """Return the schedule with another time; an unchanged schedule keeps all that the form cannot show."""
    [(name, before)] = _when(trigger, zone).items()
    given = fields.get(name, before).strip()
    if given == before:
        return trigger
    if name == "cron":
        return replace(trigger, cron=given)
    try:
        at, minutes = (datetime.fromisoformat(given), None) if name == "at" else (None, float(given))
    except ValueError as error:
        raise TriggerError(f"“{given}” is not a time that can be read.") from error
    return replace(trigger, at=at, interval_minutes=minutes)
