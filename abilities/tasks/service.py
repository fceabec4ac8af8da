"""Everybody's tasks, for programs, tools and the command line: creating, listing, changing, and running by hand."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from datetime import datetime, timedelta

from abilities.events.past_mail import PastMail
from abilities.events.store import EventStore
from abilities.tasks.codec import Kind, Trigger, UnreadableTrigger, kind_of
from abilities.tasks.event_trial import try_event
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from abilities.tasks.runs.firing import run_row
from abilities.tasks.runs.misfires import Course
from abilities.tasks.store import Also, TaskStore
from abilities.tasks.types import AGENT, ORCHESTRATOR, ActionExecutor, Task, TaskOutput, TaskRun
from core.clock import Clock
from core.db.database import Database
from core.ids import IdMaker
from core.json_types import JsonObject, canonical_hash, storable
from core.language.catalogue import gettext
from core.language.money import Currency
from core.queue.wakeups import Later, Wakeups
from core.tools.context import TaskChange

MAX_ACTIVE = 200
"""Active tasks of a person."""
DUE = "tasks"
"""The kind of work that `sql/due.sql` names if a task is due."""
SPARED = "spared"
"""The kind of work that it names if quiet hours that skipped runs are over."""
HORIZON = timedelta(days=1)
"""A moment that is further away gets its job when it is the next moment (`TriggerRunner`)."""
MAX_TITLE = 80

type WatchCheck = Callable[[str, ConditionTrigger], Awaitable[None]]
"""Refuse a condition of a tenant on a tool or an address that a look would refuse. Raises `TriggerError`."""
type WatchTrial = Callable[[str, ConditionTrigger], Awaitable[str]]
"""Look once for a new condition and return its present value. Raises `TriggerError` if that fails."""


class TaskService:
    """Everybody's tasks. A single instance a process; it keeps no task in memory."""

    def __init__(
        self,
        database: Database,
        make_id: IdMaker,
        clock: Clock,
        wakeups: Wakeups,
        executors: Iterable[ActionExecutor] = (),
    ) -> None:
        self.store = TaskStore(database)
        self.events = EventStore(database, make_id)
        self.clock = clock
        self.executors = {executor.name: executor for executor in executors}
        self._make_id = make_id
        self._wakeups = wakeups
        self.later: Later = wakeups
        self._check_watch: WatchCheck | None = None
        self._try_watch: WatchTrial | None = None
        self.mail: PastMail | None = None
        self.currency = Currency()
        # A single thread: evaluating people's expressions takes a single processor at most.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="triggers")

    def add_executors(self, executors: Iterable[ActionExecutor]) -> None:
        """Let tasks choose these executors, too."""
        self.executors |= {executor.name: executor for executor in executors}

    def check_watches_with(self, check: WatchCheck) -> None:
        """Refuse new conditions that a look would refuse."""
        self._check_watch = check

    def try_watches_with(self, trial: WatchTrial) -> None:
        """Look once for a value that a person wants watched, before they agree."""
        self._try_watch = trial

    async def create_task(
        self,
        *,
        tenant_id: str,
        trigger: Trigger,
        action: JsonObject | None = None,
        executor: str = ORCHESTRATOR,
        output: JsonObject | None = None,
        title: str = "",
        key: str = "",
        also: Also | None = None,
    ) -> Task:
        """Create a task, which counts from now on. Raises `TriggerError` with a plain sentence.

        `executor` is `orchestrator`, `agent:NAME`, or a custom executor's name. A `key` makes the call repeatable: the
        same key of the same person is the same task. `also` runs in the transaction that adds the task.
        """
        action = storable(action or {})
        self.check_action(executor, action)
        task_id = f"task_{canonical_hash([tenant_id, key])[:26]}" if key else self._make_id("task")
        # A repeat may come when its moment is over: it is set all the same.
        if key and (known := await self.store.get(tenant_id, task_id)):
            return known
        await self.check_new(tenant_id, trigger)
        now = await self.sound_now()
        task = Task(
            tenant_id=tenant_id,
            id=task_id,
            number=0,
            title=storable(" ".join((title or str(action.get("instruction") or executor)).split()))[:MAX_TITLE],
            trigger=trigger,
            kind=kind_of(trigger),
            executor=executor,
            action=action,
            output=TaskOutput.from_json(output or {}),
            anchor=now,
        )
        task = await self.scheduled(task, now)
        if isinstance(trigger, ScheduleTrigger) and task.next_at is None:
            raise TriggerError(gettext("That is over already: it would never come."))
        created = await self.store.add(task, now, MAX_ACTIVE, also)
        if created is None:
            raise TriggerError(gettext("There are {number} active tasks already: stop one first.", number=MAX_ACTIVE))
        self.come_due(created.next_at)
        return created

    async def check_new(self, tenant_id: str, trigger: Trigger) -> None:
        """Refuse a trigger that could never be checked, or not in bounded time. Raises `TriggerError`."""
        if isinstance(trigger, ConditionTrigger | EventTrigger):
            trigger.check_bounded()
        if isinstance(trigger, ConditionTrigger) and self._check_watch is not None:
            await self._check_watch(tenant_id, trigger)

    async def try_new(self, tenant_id: str, trigger: Trigger) -> str:
        """Try a trigger before a person agrees to it, and return its present value. Raises `TriggerError`."""
        await self.check_new(tenant_id, trigger)
        if isinstance(trigger, ConditionTrigger) and self._try_watch is not None:
            return await self._try_watch(tenant_id, trigger)
        if isinstance(trigger, EventTrigger):
            return await try_event(self, tenant_id, trigger, self.mail)
        return ""

    async def list_tasks(self, tenant_id: str) -> Sequence[Task]:
        return await self.store.tasks(tenant_id)

    async def get_task(self, tenant_id: str, task_id: str) -> Task | None:
        """Return a task, even if it was deleted."""
        return await self.store.get(tenant_id, task_id)

    async def pause_task(self, tenant_id: str, task_id: str) -> bool:
        """Pause a task; return False if it is not active."""
        return await self.change_task(tenant_id, task_id, "pause")

    async def resume_task(self, tenant_id: str, task_id: str) -> bool:
        """Resume a paused or disabled task from now on; occurrences missed until now are not made up for."""
        return await self.change_task(tenant_id, task_id, "resume")

    async def delete_task(self, tenant_id: str, task_id: str) -> bool:
        """Delete a task with its queued runs; the other runs stay, to explain its past."""
        return await self.change_task(tenant_id, task_id, "delete")

    async def change_task(self, tenant_id: str, task_id: str, change: TaskChange) -> bool:
        """Pause, resume, delete or restore a task; return False if its state does not allow that."""
        task = await self.store.get(tenant_id, task_id)
        if task is None or task.deleted is (change != "restore"):
            return False
        goes_on = change in ("resume", "restore")
        now = await self.sound_now() if goes_on else self.clock.now()
        task = replace(task, due_at=None, next_at=None)
        if goes_on:
            task = await self.scheduled(task, now)
            if task.kind is Kind.SCHEDULE and task.next_at is None:
                return False
        changed = await self.store.change(task, change, now)
        if changed:
            self.come_due(task.next_at)
        return changed

    async def run_now(self, tenant_id: str, task_id: str, key: str = "") -> str:
        """Run a task once, besides its schedule; return the run's id, empty if this `key` has run already."""
        task = await self.store.get(tenant_id, task_id)
        if task is None or task.deleted:
            raise TriggerError(gettext("There is no such task."))
        occurrence = f"by hand {key or self._make_id('now')}"
        row = run_row(self._make_id, occurrence, self.clock.now(), channel=task.output.channel, cause={"by_hand": True})
        lanes = await self.store.start(tenant_id, [row | {"task_id": task.id, "by_hand": True}])
        self.wake(lanes)
        return lanes[0] if lanes else ""

    async def retry(self, tenant_id: str, task_id: str) -> bool:
        """Retry a task that was set aside; missed occurrences follow its policy. Return False for any other task."""
        now = self.clock.now()
        retried = await self.store.retry(tenant_id, task_id, now)
        if retried:
            self.come_due(now)
        return retried

    async def runs(self, tenant_id: str, task_id: str, most: int = 10) -> Sequence[TaskRun]:
        """Return the newest runs of a task, the newest first."""
        return await self.store.runs(tenant_id, task_id, most)

    async def upcoming(self, task: Task, most: int = 10) -> list[datetime]:
        """Return the next occurrences of a scheduled task, in UTC and without jitter."""
        if not isinstance(task.trigger, ScheduleTrigger) or task.anchor is None:
            return []
        zone = task.trigger.zone((await self.store.person(task.tenant_id))[0])
        left = most if task.trigger.count is None else min(most, task.trigger.count - task.fired)
        occurrences: list[datetime] = []
        due = task.due_at or task.trigger.next_after(self.clock.now(), zone, task.anchor)
        while due is not None and len(occurrences) < left:
            occurrences.append(due)
            due = task.trigger.next_after(due, zone, task.anchor)
        return occurrences

    def wake(self, lanes: Sequence[str]) -> None:
        """Wake workers for the lanes of new runs."""
        for lane in lanes:
            self._wakeups.wake_turn(lane)

    def come_due(self, moment: datetime | None, work: str = DUE) -> None:
        """Queue a job that fires all tasks due at a moment of people's time, or does other work of tasks."""
        if moment is None:
            return
        seconds = max(self.clock.real_seconds((moment - self.clock.now()).total_seconds()), 0.0)
        if seconds <= HORIZON.total_seconds():
            self.later.come_due(work, "", timedelta(seconds=seconds))

    async def in_thread[Result](self, work: Callable[[], Result]) -> Result:
        """Evaluate people's expressions in a thread of its own, so that the event loop goes on."""
        # With the person's language, which an executor would not take along.
        return await asyncio.get_running_loop().run_in_executor(self._thread, copy_context().run, work)

    async def sound_now(self) -> datetime:
        """Return the present moment; raises `TriggerError` while the clock cannot be relied on."""
        now = await self.clock.sound_now()
        if now is None:
            raise TriggerError(gettext("My clock is wrong at the moment; please try again in a few minutes."))
        return now

    async def scheduled(self, task: Task, now: datetime) -> Task:
        """Return the task with its next occurrence after now."""
        match task.kind:
            case Kind.EVENT:
                return task
            case Kind.CONDITION:
                return replace(task, due_at=now, next_at=now)
        if not isinstance(task.trigger, ScheduleTrigger):
            unread = task.trigger if isinstance(task.trigger, UnreadableTrigger) else None
            raise TriggerError(unread.why if unread else gettext("It is not a schedule."))
        zone = task.trigger.zone((await self.store.person(task.tenant_id))[0])
        trigger = task.trigger.begun(zone, task.anchor or now)
        course = Course(task.id, trigger, zone, task.anchor or now, task.fired)
        due = course.next_after(now - timedelta(microseconds=1))
        return replace(task, trigger=trigger, due_at=due, next_at=course.taken_at(due), zone=zone.key)

    def check_action(self, executor: str, action: JsonObject) -> None:
        """Refuse an action that no executor could do. Raises `TriggerError`."""
        if executor != ORCHESTRATOR and not executor.startswith(AGENT) and executor not in self.executors:
            known = ", ".join([ORCHESTRATOR, f"{AGENT}NAME", *sorted(self.executors)])
            raise TriggerError(gettext("There is no executor “{name}”.", name=executor), note=f"There are {known}.")
        if executor == ORCHESTRATOR and not str(action.get("instruction") or "").strip():
            raise TriggerError(gettext("A task needs an instruction: what is to be done."))
