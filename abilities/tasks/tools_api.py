"""A person's tasks, as tools use them."""

import builtins
from zoneinfo import ZoneInfo

from abilities.tasks.codec import Kind, Trigger, trigger_from_json, trigger_to_json
from abilities.tasks.costs import cost_of_plan
from abilities.tasks.descriptions import in_words
from abilities.tasks.edits import edit_task
from abilities.tasks.explain import explain, find_tasks
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError, read_zone
from abilities.tasks.service import TaskService
from abilities.tasks.types import Task
from core.clock import zone_note, zone_or_utc
from core.errors import ToolFailed, ToolRetry
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.language.times import moment_in_words, time_in_words
from core.people.preferences import PreferenceStore
from core.people.tenant import QuietHours
from core.tools.context import TaskChange, TaskNote, TaskState


class TaskAccess:
    """Implements `core.tools.context.TenantTasks`."""

    def __init__(self, tasks: TaskService, tenant_id: str) -> None:
        self._tasks = tasks
        self._tenant_id = tenant_id

    async def timezone(self) -> str | None:
        return (await self._tasks.store.person(self._tenant_id))[0]

    async def set_timezone(self, timezone: str) -> None:
        try:
            name = read_zone(timezone.strip()).key
        except TriggerError as error:
            raise ToolRetry(str(error), note=error.note) from error
        await self._tasks.store.set_timezone(self._tenant_id, name)

    async def check(self, trigger: JsonObject) -> str:
        try:
            return await self._tasks.try_new(self._tenant_id, _trigger(trigger))
        except TriggerError as error:
            raise ToolRetry(str(error), note=error.note) from error

    async def cost(self, trigger: JsonObject) -> str:
        return await cost_of_plan(self._tasks, self._tenant_id, _trigger(trigger))

    def describe(self, trigger: JsonObject, timezone: str | None = None) -> str:
        parsed, zone = _trigger(trigger), zone_or_utc(timezone)
        words = " ".join(filter(None, [in_words(parsed, zone), zone_note(timezone)]))
        if not isinstance(parsed, ScheduleTrigger):
            return words
        now = self._tasks.clock.now()
        due = parsed.next_after(now, parsed.zone(zone.key), now)
        if due is None:
            raise ToolRetry(gettext("That would never come: it is over already, or no such date exists."))
        if parsed.at is not None:
            return words
        if parsed.interval_minutes is not None and parsed.start is None:
            return gettext("{when}, counted from when you agree", when=words)
        moment = moment_in_words(due, parsed.zone(zone.key))
        return gettext("{when}, next on {moment}", when=words, moment=moment)

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
        try:
            task = await self._tasks.create_task(
                tenant_id=self._tenant_id,
                trigger=_trigger(trigger),
                action=action,
                executor=executor,
                output=output,
                title=title,
                key=key,
            )
        except TriggerError as error:
            raise ToolRetry(str(error), note=error.note) from error
        return _note(task, *await self._person())

    async def list(self) -> "builtins.list[TaskNote]":
        zone, quiet = await self._person()
        tasks = await self._tasks.list_tasks(self._tenant_id)
        end = quiet.ending(self._tasks.clock.now(), zone) if quiet else None
        until = time_in_words(end.astimezone(zone)) if end else ""
        return [_note(task, zone, quiet, until) for task in tasks if task.state is not TaskState.COMPLETED]

    async def change(self, task_id: str, change: TaskChange) -> bool:
        try:
            return await self._tasks.change_task(self._tenant_id, task_id, change)
        except TriggerError as error:
            raise ToolRetry(str(error), note=error.note) from error

    async def plan(self, task_id: str) -> JsonObject | None:
        task = await self._tasks.store.get(self._tenant_id, task_id)
        if task is None or task.deleted or task.state is TaskState.COMPLETED:
            return None
        trigger = {"kind": task.kind.value, **trigger_to_json(task.trigger)}
        return {"trigger": trigger, "action": task.action, "title": task.title}

    async def edit(self, task_id: str, trigger: JsonObject, action: JsonObject, title: str) -> TaskNote:
        try:
            task = await edit_task(self._tasks, self._tenant_id, task_id, _trigger(trigger), action, title)
        except TriggerError as error:
            raise ToolRetry(str(error), note=error.note) from error
        if task is None:
            raise ToolFailed(gettext("That task is over."))
        return _note(task, *await self._person())

    async def find(self, task_id: str) -> TaskNote | None:
        task = await self._tasks.store.get(self._tenant_id, task_id)
        return _note(task, *await self._person()) if task else None

    async def run_now(self, task_id: str, key: str) -> None:
        try:
            await self._tasks.run_now(self._tenant_id, task_id, key)
        except TriggerError as error:
            raise ToolFailed(str(error), note=error.note) from error

    async def why(self, words: str) -> str:
        tasks = await self._tasks.store.tasks(self._tenant_id, deleted=True)
        meant = find_tasks(tasks, words)
        meant = [task for task in meant if not task.deleted] or meant[-1:]
        if not meant:
            return gettext("There is no such task, and never was.")
        return "\n\n".join([str((await explain(self._tasks, task))["text"]) for task in meant[:3]])

    async def _person(self) -> tuple[ZoneInfo, QuietHours | None]:
        known = await PreferenceStore(self._tasks.store.database).read(self._tenant_id)
        return zone_or_utc(known.timezone), known.quiet


def _trigger(described: JsonObject) -> Trigger:
    values = {name: value for name, value in described.items() if name != "kind"}
    try:
        return trigger_from_json(str(described.get("kind") or Kind.SCHEDULE), values)
    except TriggerError as error:
        raise ToolRetry(str(error), note=error.note) from error


def _note(task: Task, zone: ZoneInfo, quiet: QuietHours | None, quiet_until: str = "") -> TaskNote:
    at = task.next_at
    return TaskNote(
        task.id,
        task.number,
        task.title,
        in_words(task.trigger, zone),
        moment_in_words(at, zone) if at else "",
        task.state,
        quiet=at is not None and quiet is not None and quiet.covers(at.astimezone(zone).time()),
        deleted=task.deleted,
        executor=task.executor,
        trigger={"kind": task.kind.value, **trigger_to_json(task.trigger)},
        due=at,
        quiet_until=quiet_until if task.state is TaskState.ACTIVE and task.waits_in_quiet else "",
    )
