"""The trigger engine: tasks by a program, by tools and by the command line; and what makes them run."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Protocol

import asyncpg
import structlog

from core.clock import Clock
from core.db.database import Database
from core.errors import StoreUnavailable
from core.events.source_types import RESERVED
from core.events.store import EventStore
from core.events.types import Event
from core.ids import IdMaker
from core.json_types import JsonObject, canonical_hash, storable
from core.queue.wakeups import Wakeups
from core.triggers.codec import Kind, Trigger, UnreadableTrigger, kind_of
from core.triggers.kinds.condition import ConditionTrigger
from core.triggers.kinds.event import EventTrigger
from core.triggers.kinds.schedule import ScheduleTrigger, TriggerError
from core.triggers.messages import occurrence_of, set_aside_text
from core.triggers.runs.firing import Fired, fire_due, is_own_fault, run_row
from core.triggers.runs.misfires import Course
from core.triggers.store import TaskStore
from core.triggers.types import AGENT, NOBODY_TO_TELL, ORCHESTRATOR, ActionExecutor, RunState, Task, TaskOutput, TaskRun

if TYPE_CHECKING:
    from core.events.bus import EventBus
    from core.triggers.tools_api import TaskAccess

MAX_ACTIVE = 200
"""How many active tasks a person may have."""
MAX_TITLE = 80
GROUP = "tasks"
"""The name under which all workers share the events."""
MAX_AN_HOUR = 60
"""How often in an hour a task runs on what the person's own channels publish: more looks like a loop."""
_AGAIN = "the message that could not be delivered was itself about one that could not be: it would go on for ever"
_LOOP = f"it had run {MAX_AN_HOUR} times within an hour on messages, which looks like a loop"
_WENT_WRONG = "something in it went wrong unexpectedly"
_log = structlog.get_logger()


class WatchCheck(Protocol):
    """Knows what a condition may look at."""

    async def check(self, tenant_id: str, trigger: ConditionTrigger) -> None:
        """Refuse a condition on a tool or an address that a look would refuse. Raises `TriggerError`."""
        ...


class TriggerEngine:
    """The tasks of all people. One instance a process; it keeps nothing of a task."""

    def __init__(
        self,
        database: Database,
        make_id: IdMaker,
        clock: Clock,
        wakeups: Wakeups,
        *,
        event_bus: "EventBus | None" = None,
        executors: Iterable[ActionExecutor] = (),
    ) -> None:
        """`executors` are the custom ones; without `event_bus` whoever has events calls `fire_for_event`."""
        self.store = TaskStore(database)
        self.events = EventStore(database, make_id)
        self.clock = clock
        self.event_bus = event_bus
        self._database = database
        self._make_id = make_id
        self._wakeups = wakeups
        self.executors = {one.name: one for one in executors}
        self._listening = False
        self._watching: WatchCheck | None = None
        # One thread: however much there is to work out, it takes one part of the processor's time.
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="triggers")

    def add_executors(self, executors: Iterable[ActionExecutor]) -> None:
        """Let tasks choose these, too."""
        self.executors |= {one.name: one for one in executors}

    def watch_with(self, watching: WatchCheck) -> None:
        """Refuse conditions that what looks at them would refuse."""
        self._watching = watching

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
    ) -> Task:
        """Keep a task; it counts from now on. Raises `TriggerError` in one plain sentence.

        `executor` is `orchestrator`, `agent:NAME`, or a custom executor's name. A `key` makes it repeatable: the same
        key of the same person is the same task.
        """
        action = storable(action or {})
        self._check(executor, action)
        await self.check_new(tenant_id, trigger)
        now = await self._present()
        task = Task(
            tenant_id=tenant_id,
            id=f"task_{canonical_hash([tenant_id, key])[:26]}" if key else self._make_id("task"),
            number=0,
            title=storable(" ".join((title or str(action.get("instruction") or executor)).split()))[:MAX_TITLE],
            trigger=trigger,
            kind=kind_of(trigger),
            executor=executor,
            action=action,
            output=TaskOutput.from_json(output or {}),
            anchor=now,
        )
        task = await self._scheduled(task, now)
        if isinstance(trigger, ScheduleTrigger) and task.next_at is None:
            raise TriggerError("That is over already: it would never come.")
        kept = await self.store.add(task, now, MAX_ACTIVE)
        if kept is None:
            raise TriggerError(f"There are {MAX_ACTIVE} active tasks already: stop one first.")
        return kept

    async def check_new(self, tenant_id: str, trigger: Trigger) -> None:
        """Refuse a trigger that could never be looked at, or not in bounded time. Raises `TriggerError`."""
        if isinstance(trigger, ConditionTrigger | EventTrigger):
            trigger.check_bounded()
        if isinstance(trigger, ConditionTrigger) and self._watching is not None:
            await self._watching.check(tenant_id, trigger)

    async def list_tasks(self, tenant_id: str) -> Sequence[Task]:
        """Return a person's tasks; reading moves nothing."""
        return await self.store.tasks(tenant_id)

    async def get_task(self, tenant_id: str, task_id: str) -> Task | None:
        """Return one task, also one that was stopped."""
        return await self.store.get(tenant_id, task_id)

    async def pause_task(self, tenant_id: str, task_id: str) -> bool:
        """Let a task rest; False where it is not active."""
        return await self._change(tenant_id, task_id, "pause")

    async def resume_task(self, tenant_id: str, task_id: str) -> bool:
        """Let a paused or disabled task go on from now; what was due meanwhile is not made up for."""
        return await self._change(tenant_id, task_id, "resume")

    async def delete_task(self, tenant_id: str, task_id: str) -> bool:
        """Stop a task for good, with what waits of it; its runs stay, to tell why they were."""
        return await self._change(tenant_id, task_id, "delete")

    async def run_now(self, tenant_id: str, task_id: str, key: str = "") -> str:
        """Run a task once, besides its schedule; return the run's id, empty where this `key` has run already."""
        task = await self.store.get(tenant_id, task_id)
        if task is None or task.deleted:
            raise TriggerError("There is no such task.")
        occurrence = f"by hand {key or self._make_id('now')}"
        row = run_row(self._make_id, occurrence, self.clock.now(), channel=task.output.channel, cause={"by_hand": True})
        lanes = await self.store.start(tenant_id, [row | {"task_id": task.id, "by_hand": True}])
        self.ring(lanes)
        return lanes[0] if lanes else ""

    async def fire_due(self, now: datetime | None = None) -> Fired:
        """Start the runs of tasks that are due, of all people; the conditions among them are to be looked at.

        While the clock cannot be relied on nothing fires: what it would skip or end is gone for good.
        """
        now = now or await self.clock.sound_now()
        if now is None:
            return Fired(0)
        fired = await fire_due(self._database, self._make_id, now)
        self.ring(fired.lanes)
        for one in fired.stumbled:
            await self.set_aside(one.tenant_id, one.task_id, one.error)
        return fired

    async def set_aside(self, tenant_id: str, task_id: str, error: Exception) -> None:
        """Disable a task that raised what nobody foresaw, and let its person be told. Raises `StoreUnavailable`."""
        cause = type(error).__name__
        _log.error("task_set_aside", task=task_id, cause=cause, exc_info=_shown(error))
        try:
            task = await self.store.get(tenant_id, task_id)
            if task is None:
                return
            now = self.clock.now()
            occurrence = f"set aside {occurrence_of(task.due_at or now)}"
            said = set_aside_text(task)
            row = run_row(self._make_id, occurrence, now, state=RunState.FAILED, reason=_WENT_WRONG, say=said)
            await self.store.set_aside(tenant_id, task_id, cause, row)
        except StoreUnavailable:
            raise
        except Exception:
            # It stays due, and raises again at the next look: the others must not wait for it.
            _log.exception("task_not_set_aside", task=task_id)

    async def retry(self, tenant_id: str, task_id: str) -> bool:
        """Try a task again that was set aside; what it missed follows its policy. False where it was not."""
        return await self.store.retry(tenant_id, task_id, self.clock.now())

    async def fire_for_event(self, tenant_id: str, event: Event) -> list[str]:
        """Start the runs of the person's tasks that an event matches, each once; return the runs' ids."""
        rows: list[JsonObject] = []
        tasks = await self.store.on_events(tenant_id)
        for task, unclear in await self.aside(partial(_matching, tasks, event)):
            try:
                if isinstance(unclear, Exception):
                    raise unclear
                rows.append(await self._event_run(task, event, unclear))
            except StoreUnavailable:
                raise
            except Exception as error:
                if not is_own_fault(error):
                    raise
                await self.set_aside(tenant_id, task.id, error)
        lanes = await self._start(tenant_id, rows) if rows else []
        self.ring(lanes)
        return lanes

    async def _event_run(self, task: Task, event: Event, unclear: str) -> JsonObject:
        """Make the run of a task on an event, skipped where it must not run."""
        cause: JsonObject = {"source": event.source, "type": event.type, "id": event.id, "data": event.data}
        why_not = unclear or (NOBODY_TO_TELL if task.held else await self._why_not(task, event))
        row = run_row(
            self._make_id,
            event.key,
            event.occurred_at or self.clock.now(),
            channel=task.output.channel,
            cause=storable(cause),
            state=RunState.SKIPPED if why_not else RunState.QUEUED,
            reason=why_not,
        )
        return row | {"task_id": task.id}

    async def _start(self, tenant_id: str, rows: list[JsonObject]) -> list[str]:
        """Start runs together; where the database refuses that for what one of them holds, each by itself."""
        try:
            return await self.store.start(tenant_id, rows)
        except Exception as error:
            if not is_own_fault(error):
                raise
            if len(rows) == 1:
                await self.set_aside(tenant_id, str(rows[0]["task_id"]), error)
                return []
        return [lane for row in rows for lane in await self._start(tenant_id, [row])]

    async def start(self) -> None:
        """Begin to take in events; the bus ends it when it is closed."""
        if self.event_bus is not None and not self._listening:
            await self.event_bus.subscribe("*", self._on_event, name=GROUP)
            self._listening = True

    async def runs(self, tenant_id: str, task_id: str, most: int = 10) -> Sequence[TaskRun]:
        """Return the newest runs of a task, the newest first; reading moves nothing."""
        return await self.store.runs(tenant_id, task_id, most)

    async def upcoming(self, task: Task, most: int = 10) -> list[datetime]:
        """Return the next moments at which a scheduled task is due, as things stand; in UTC, without jitter."""
        if not isinstance(task.trigger, ScheduleTrigger) or task.anchor is None:
            return []
        zone = task.trigger.zone((await self.store.person(task.tenant_id))[0])
        left = most if task.trigger.count is None else min(most, task.trigger.count - task.fired)
        found: list[datetime] = []
        due = task.due_at or task.trigger.next_after(self.clock.now(), zone, task.anchor)
        while due is not None and len(found) < left:
            found.append(due)
            due = task.trigger.next_after(due, zone, task.anchor)
        return found

    def for_tenant(self, tenant_id: str) -> "TaskAccess":
        """Return what tools may do with one person's tasks."""
        from core.triggers.tools_api import TaskAccess  # they need each other

        return TaskAccess(self, tenant_id)

    async def _why_not(self, task: Task, event: Event) -> str:
        """Return why a task must not run on an event that it matches; empty where it may."""
        if event.source not in RESERVED:
            return ""
        if event.data.get("again") is True:
            return _AGAIN
        ran = await self.store.event_runs(task.tenant_id, task.id, timedelta(hours=1))
        return _LOOP if ran >= MAX_AN_HOUR else ""

    async def _on_event(self, event: Event) -> None:
        await self.fire_for_event(event.tenant_id, event)

    async def _change(self, tenant_id: str, task_id: str, change: str) -> bool:
        task = await self.store.get(tenant_id, task_id)
        if task is None or task.deleted:
            return False
        now = await self._present() if change == "resume" else self.clock.now()
        task = replace(task, due_at=None, next_at=None)
        if change == "resume":
            task = await self._scheduled(task, now)
            if task.kind is Kind.SCHEDULE and task.next_at is None:
                return False
        return await self.store.change(task, change, now)

    async def _present(self) -> datetime:
        """Return the present moment; raises `TriggerError` while it cannot be relied on."""
        now = await self.clock.sound_now()
        if now is None:
            raise TriggerError("My clock is wrong at the moment; please try again in a few minutes.")
        return now

    async def _scheduled(self, task: Task, now: datetime) -> Task:
        """Return the task with its next occurrence after now."""
        match task.kind:
            case Kind.EVENT:
                return task
            case Kind.CONDITION:
                return replace(task, due_at=now, next_at=now)
        if not isinstance(task.trigger, ScheduleTrigger):
            why = task.trigger.why if isinstance(task.trigger, UnreadableTrigger) else "It is no schedule."
            raise TriggerError(why)
        zone = task.trigger.zone((await self.store.person(task.tenant_id))[0])
        course = Course(task.id, task.trigger, zone, task.anchor or now, task.fired)
        due = course.next_after(now - timedelta(microseconds=1))
        return replace(task, due_at=due, next_at=course.taken_at(due), zone=zone.key)

    def _check(self, executor: str, action: JsonObject) -> None:
        if executor != ORCHESTRATOR and not executor.startswith(AGENT) and executor not in self.executors:
            known = ", ".join([ORCHESTRATOR, f"{AGENT}NAME", *sorted(self.executors)])
            raise TriggerError(f"There is no executor {executor!r}; there are {known}.")
        if executor == ORCHESTRATOR and not str(action.get("instruction") or "").strip():
            raise TriggerError("A task needs an instruction: what is to be done.")

    def ring(self, lanes: Sequence[str]) -> None:
        """Ring for the lanes of new runs."""
        for lane in lanes:
            self._wakeups.wake_turn(lane)

    async def aside[Found](self, work: Callable[[], Found]) -> Found:
        """Work out what people wrote, in a thread of its own: the loop goes on with everybody else's work."""
        return await asyncio.get_running_loop().run_in_executor(self._aside, work)


def _matching(tasks: Iterable[Task], event: Event) -> list[tuple[Task, str | Exception]]:
    """List the tasks that an event matches, and those of which nobody can tell, with the reason or the error."""
    found: list[tuple[Task, str | Exception]] = []
    for task in tasks:
        try:
            if isinstance(task.trigger, UnreadableTrigger):
                found.append((task, TriggerError(task.trigger.why)))
            elif isinstance(task.trigger, EventTrigger) and task.trigger.matches(event):
                found.append((task, ""))
        except TriggerError as error:
            found.append((task, f"its filter could not be worked out on this event: {error}"))
        except Exception as error:
            found.append((task, error))
    return found


def _shown(error: Exception) -> Exception | None:
    """Return what the log may show of an error: what Postgres says may quote a person's values."""
    return None if isinstance(error, asyncpg.PostgresError) else error
