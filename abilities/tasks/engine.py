"""The trigger engine: the tasks of all people, and the triggers that make them run."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial

import asyncpg
import structlog

from abilities.events.bus import EventBus
from abilities.events.source_types import MAIL, RESERVED
from abilities.events.types import Event
from abilities.tasks.matching import matching
from abilities.tasks.messages import MAX_DATA, occurrence_of, set_aside_text
from abilities.tasks.reasons import Reason
from abilities.tasks.runs.firing import Fired, fire_due, is_own_fault, run_row
from abilities.tasks.service import TaskService
from abilities.tasks.tools_api import TaskAccess
from abilities.tasks.types import ActionExecutor, Task
from core.clock import Clock
from core.db.database import Database
from core.errors import StoreUnavailable
from core.ids import IdMaker
from core.json_types import JsonObject, storable
from core.queue.wakeups import Wakeups
from core.turns.runs import RunState

GROUP = "tasks"
"""The consumer group in which all workers share the events."""
MAX_AN_HOUR = 60
"""Runs of a task within an hour on events of the person's own channels: more looks like a loop."""
MAX_MAILS_AN_HOUR = 300
"""The same on new mail, of which an outage brings more at once."""
SPARED_AT_ONCE = 500
"""Tasks that are looked at together when quiet hours are over."""
_log = structlog.get_logger()


class TriggerEngine(TaskService):
    """Start the runs of due tasks and matching events."""

    def __init__(
        self,
        database: Database,
        make_id: IdMaker,
        clock: Clock,
        wakeups: Wakeups,
        *,
        event_bus: EventBus | None = None,
        executors: Iterable[ActionExecutor] = (),
    ) -> None:
        """`executors` are the custom executors. Without an `event_bus`, call `fire_for_event` for each event."""
        super().__init__(database, make_id, clock, wakeups, executors)
        self.event_bus = event_bus
        self._database = database
        self._listening = False

    async def start(self) -> None:
        """Subscribe to events; closing the bus ends the subscription."""
        if self.event_bus is not None and not self._listening:
            await self.event_bus.subscribe("*", self._on_event, name=GROUP)
            self._listening = True

    async def fire_due(self, now: datetime | None = None) -> Fired:
        """Start the runs of all people's due tasks; the result names the due conditions, which are to be checked.

        Nothing fires while the clock cannot be relied on: an occurrence that is skipped or a task that is completed
        never comes back.
        """
        now = now or await self.clock.sound_now()
        if now is None:
            return Fired(0)
        fired = await fire_due(self._database, self._make_id, now)
        self.wake(fired.lanes)
        for stumbled in fired.stumbled:
            await self.set_aside(stumbled.tenant_id, stumbled.task_id, stumbled.error)
        return fired

    async def fire_for_event(self, tenant_id: str, event: Event) -> list[str]:
        """Start the runs of the person's tasks that an event matches, each once; return the runs' ids."""
        rows: list[JsonObject] = []
        tasks = await self.store.on_events(tenant_id)
        for task, unclear in await self.in_thread(partial(matching, tasks, event)):
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
        lanes = await self._start_runs(tenant_id, rows) if rows else []
        self.wake(lanes)
        return lanes

    async def make_up(self) -> int:
        """Start the runs that make up for those that quiet hours spared; return their number."""
        now = await self.clock.sound_now()
        if now is None:
            return 0
        started = 0
        for tenant_id, task_id in await self.store.find_spared(now, SPARED_AT_ONCE):
            try:
                while lane := await self.store.make_up(
                    tenant_id, task_id, now, run_row(self._make_id, "", now), MAX_DATA
                ):
                    self.wake([lane])
                    started += 1
            except Exception as error:
                if not is_own_fault(error):
                    raise
                await self.set_aside(tenant_id, task_id, error)
        return started

    async def set_aside(self, tenant_id: str, task_id: str, error: Exception) -> None:
        """Disable a task that raised an unforeseen error, and notify its person. Raises `StoreUnavailable`."""
        cause = type(error).__name__
        # An error of Postgres may quote a person's values, which no log may show.
        shown = None if isinstance(error, asyncpg.PostgresError) else error
        _log.error("task_set_aside", task=task_id, cause=cause, exc_info=shown)
        try:
            task = await self.store.get(tenant_id, task_id)
            if task is None:
                return
            now = self.clock.now()
            occurrence = f"set aside {occurrence_of(task.due_at or now)}"
            _, language = await self.store.person(tenant_id)
            say = set_aside_text(task, language)
            row = run_row(self._make_id, occurrence, now, state=RunState.FAILED, reason=Reason.UNFORESEEN, say=say)
            await self.store.set_aside(tenant_id, task_id, cause, row)
        except StoreUnavailable:
            raise
        except Exception:
            # The task stays due and raises again at the next poll: the others must not wait for it.
            _log.exception("task_not_set_aside", task=task_id)

    def for_tenant(self, tenant_id: str) -> TaskAccess:
        return TaskAccess(self, tenant_id)

    async def _on_event(self, event: Event) -> None:
        await self.fire_for_event(event.tenant_id, event)

    async def _event_run(self, task: Task, event: Event, unclear: str) -> JsonObject:
        """Return the run of a task on an event, skipped if it must not run."""
        cause: JsonObject = {"source": event.source, "type": event.type, "id": event.id, "data": event.data}
        why_not = unclear or (Reason.UNREACHABLE if task.held else await self._why_not(task, event))
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

    async def _why_not(self, task: Task, event: Event) -> str:
        """Return why a task must not run on an event that it matches; empty if it may."""
        if event.source not in RESERVED:
            return ""
        if event.data.get("again") is True:
            return Reason.UNDELIVERABLE_AGAIN
        ran = await self.store.event_runs(task.tenant_id, task.id, timedelta(hours=1))
        return Reason.TOO_OFTEN if ran >= (MAX_MAILS_AN_HOUR if event.source == MAIL else MAX_AN_HOUR) else ""

    async def _start_runs(self, tenant_id: str, rows: list[JsonObject]) -> list[str]:
        """Start runs together; if the database refuses the values of any of them, start each by itself."""
        try:
            return await self.store.start(tenant_id, rows)
        except Exception as error:
            if not is_own_fault(error):
                raise
            if len(rows) == 1:
                await self.set_aside(tenant_id, str(rows[0]["task_id"]), error)
                return []
        return [lane for row in rows for lane in await self._start_runs(tenant_id, [row])]
