"""What tools may do with one person's tasks. Implements `core.tools.context.TenantTasks`."""

import builtins
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from core.clock import zone_note, zone_or_utc
from core.errors import ToolFailed, ToolRetry
from core.json_types import JsonObject
from core.tools.context import TaskNote
from core.triggers.codec import Kind, Trigger, trigger_from_json
from core.triggers.descriptions import in_words, moment_in_words
from core.triggers.engine import TriggerEngine
from core.triggers.explain import explain, find_tasks
from core.triggers.kinds.schedule import ScheduleTrigger, TriggerError, read_zone
from core.triggers.types import Task


@dataclass(frozen=True, slots=True)
class Note:
    """A task as a tool sees it. Implements `core.tools.context.TaskNote`."""

    id: str
    number: int
    title: str
    when: str
    next_at: str
    state: str


class TaskAccess:
    """One person's tasks."""

    def __init__(self, engine: TriggerEngine, tenant_id: str) -> None:
        self._engine = engine
        self._tenant_id = tenant_id

    async def timezone(self) -> str:
        """Return the person's timezone; empty while it is not known."""
        return (await self._engine.store.person(self._tenant_id))[0]

    async def set_timezone(self, timezone: str) -> None:
        """Keep the person's timezone where none is known."""
        try:
            name = read_zone(timezone.strip()).key
        except TriggerError as error:
            raise ToolRetry(str(error)) from error
        await self._engine.store.set_timezone(self._tenant_id, name)

    async def check(self, trigger: JsonObject) -> None:
        """Refuse a trigger that makes no sense, or looks at what may not be looked at. Raises `ToolRetry`."""
        try:
            await self._engine.check_new(self._tenant_id, _trigger(trigger))
        except TriggerError as error:
            raise ToolRetry(str(error)) from error

    def describe(self, trigger: JsonObject, timezone: str = "") -> str:
        """Check a trigger and say it in words, with the next moment where there is one; `timezone`: the person's."""
        read, zone = _trigger(trigger), zone_or_utc(timezone)
        said = " ".join(filter(None, [in_words(read, zone), zone_note(timezone)]))
        if not isinstance(read, ScheduleTrigger):
            return said
        now = self._engine.clock.now()
        due = read.next_after(now, read.zone(zone.key), now)
        if due is None:
            raise ToolRetry("That would never come: it is over already, or no such date exists.")
        if read.at is not None:
            return said
        if read.interval_minutes is not None and read.start is None:
            return f"{said}, counted from when you agree"
        return f"{said}, next on {moment_in_words(due, read.zone(zone.key))}"

    async def create(
        self,
        trigger: JsonObject,
        action: JsonObject,
        *,
        executor: str = "orchestrator",
        output: JsonObject | None = None,
        title: str = "",
        key: str = "",
    ) -> TaskNote:
        """Keep a task; it counts from now on."""
        try:
            task = await self._engine.create_task(
                tenant_id=self._tenant_id,
                trigger=_trigger(trigger),
                action=action,
                executor=executor,
                output=output,
                title=title,
                key=key,
            )
        except TriggerError as error:
            raise ToolRetry(str(error)) from error
        return _note(task, await self._zone())

    async def list(self) -> "builtins.list[TaskNote]":
        """Return the tasks by number, those that are over left out."""
        zone = await self._zone()
        tasks = await self._engine.list_tasks(self._tenant_id)
        return [_note(one, zone) for one in tasks if one.state.value != "COMPLETED"]

    async def change(self, task_id: str, change: str) -> bool:
        """`pause`, `resume` or `delete` a task; False where it was in no state for it."""
        changes = {
            "pause": self._engine.pause_task,
            "resume": self._engine.resume_task,
            "delete": self._engine.delete_task,
        }
        try:
            return await changes[change](self._tenant_id, task_id)
        except TriggerError as error:
            raise ToolRetry(str(error)) from error

    async def run_now(self, task_id: str, key: str) -> None:
        """Run a task once, besides its schedule."""
        try:
            await self._engine.run_now(self._tenant_id, task_id, key)
        except TriggerError as error:
            raise ToolFailed(str(error)) from error

    async def why(self, words: str) -> str:
        """Return why a task ran or did not, also one that was stopped."""
        tasks = await self._engine.store.tasks(self._tenant_id, stopped=True)
        found = find_tasks(tasks, words)
        found = [one for one in found if not one.deleted] or found[-1:]
        if not found:
            return "There is no such task, and there was none."
        return "\n\n".join([str((await explain(self._engine, one))["text"]) for one in found[:3]])

    async def _zone(self) -> ZoneInfo:
        return zone_or_utc(await self.timezone())


def _trigger(given: JsonObject) -> Trigger:
    values = {name: value for name, value in given.items() if name != "kind"}
    try:
        return trigger_from_json(str(given.get("kind") or Kind.SCHEDULE), values)
    except (TriggerError, ValueError) as error:
        raise ToolRetry(str(error)) from error


def _note(task: Task, zone: ZoneInfo) -> Note:
    coming = moment_in_words(task.next_at, zone) if task.next_at else ""
    return Note(task.id, task.number, task.title, in_words(task.trigger, zone), coming, task.state.value)
