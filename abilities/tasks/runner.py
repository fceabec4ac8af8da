"""Triggers: fire tasks when they are due, check conditions, and hand over the messages of runs."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog

from abilities.tasks.engine import TriggerEngine
from abilities.tasks.runs.condition_checks import ConditionChecks
from abilities.tasks.runs.firing import BATCH, LOOK_LEASE, Look, is_own_fault
from abilities.tasks.runs.notifications import Notices
from core.clock import Clock
from core.errors import StoreUnavailable
from core.http.peer import PERSON, Slots
from core.queue.due import ASK_ANYWAY

POLL = timedelta(milliseconds=500)
"""Real time between two polls; a task that is due sooner is waited for exactly."""
LOOKS_AT_ONCE, LOOKS_OF_A_PERSON = 8, 2
"""Conditions that a worker checks at the same time, and of a single person: a slow server holds up its own person."""
WAITING_OF_A_PERSON, MOST_WAITING = 50, 1000
"""Checks of a person, and of all people, under way or waiting for a slot. A further check is due again when its time is
over."""
BATCHES_AT_ONCE = 3
"""If more is due than a batch: while Postgres writes a batch, the next is decided. No two claim the same task."""

_log = structlog.get_logger()


@dataclass(slots=True)
class TriggerRunner:
    """The triggers of a worker, of which any number may run. Endless work waits while the database is away."""

    engine: TriggerEngine
    looking: ConditionChecks
    notices: Notices
    clock: Clock
    poll: timedelta = POLL
    watched: bool = False
    """Whether `look` is called when tasks are due, and `notices.wake` when notices are, so that nothing polls."""
    _due: asyncio.Event = field(default_factory=asyncio.Event)
    _looks: set[asyncio.Task[None]] = field(default_factory=set)
    _slots: Slots = field(default_factory=lambda: Slots(LOOKS_AT_ONCE, LOOKS_OF_A_PERSON))
    _claimed: dict[Look, datetime] = field(default_factory=dict)
    """The checks under way or waiting, and when each was claimed."""

    def look(self) -> None:
        """Look at once for tasks that are due."""
        self._due.set()

    async def take(self) -> None:
        """Fire due tasks until cancelled."""
        try:
            await self._fire()
        finally:
            for look in list(self._looks):
                look.cancel()
            if self._looks:
                await asyncio.wait(self._looks)

    async def once(self) -> int:
        """Fire all due tasks, and check the conditions among them; return the number of fired tasks."""
        total, at_once = 0, 1
        while True:
            batches = await asyncio.gather(*(self.engine.fire_due() for _ in range(at_once)))
            total += sum(fired.due for fired in batches)
            self._begin(look for fired in batches for look in fired.looks)
            if any(fired.due < BATCH for fired in batches):
                # A task that could not even be set aside is still due: it waits for the next poll.
                return total - sum(len(fired.stumbled) for fired in batches)
            at_once = BATCHES_AT_ONCE

    async def looked(self) -> None:
        """Wait until all checks that were started have ended."""
        if self._looks:
            await asyncio.wait(set(self._looks))

    async def listen(self) -> None:
        """Subscribe once; from then on the bus delivers the events, until cancelled."""
        while True:
            try:
                await self.engine.start()
            except StoreUnavailable:
                await asyncio.sleep(self.poll.total_seconds())
            else:
                await asyncio.Event().wait()

    async def _fire(self) -> None:
        while True:
            try:
                pause = await self._pause()
                if pause <= 0 and not await self.once():
                    # Another worker has just fired it: its transaction is about to end.
                    pause = 0.05
            except StoreUnavailable as error:
                _log.warning("triggers_delayed", cause=str(error))
                pause = self.poll.total_seconds()
            await self._wait(pause)

    async def _wait(self, seconds: float) -> None:
        """Wait for some seconds; if `watched`, only for a task that is due soon, else until `look` is called."""
        if self.watched and seconds >= self.poll.total_seconds() / 2:
            seconds = ASK_ANYWAY
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._due.wait()
        self._due.clear()

    async def _pause(self) -> float:
        """Return real seconds until the next task is due, at most the poll's; 0 when it is due now.

        While the clock cannot be relied on nothing is due.
        """
        # Workers that poll at different moments find a new task sooner than any of them alone.
        longest = self.poll.total_seconds() * (0.75 + random.random() / 2)
        due, now = await self.engine.store.next_due(), await self.clock.sound_now()
        if due is None or now is None:
            return longest
        self.engine.come_due(due)
        return min(self.clock.real_seconds((due - now).total_seconds()), longest)

    async def tell(self) -> None:
        """Hand over notices until cancelled."""
        while True:
            try:
                handed = await self.notices.hand_over()
            except StoreUnavailable as error:
                _log.warning("notices_delayed", cause=str(error))
                handed = 0
            if not handed:
                await self.notices.wait(ASK_ANYWAY if self.watched else 1 + random.random() / 2)

    def _begin(self, looks: Iterable[Look]) -> None:
        """Check conditions as soon as their people have a free slot; tasks that come due do not wait for that."""
        now, people = self.clock.now(), Counter(look.tenant_id for look in self._claimed)
        for look in looks:
            if look in self._claimed:
                self._claimed[look] = now
            elif people[look.tenant_id] < WAITING_OF_A_PERSON and len(self._claimed) < MOST_WAITING:
                self._claimed[look] = now
                people[look.tenant_id] += 1
                task = asyncio.create_task(self._look(look), name="look")
                self._looks.add(task)
                task.add_done_callback(partial(self._ended, look))

    def _ended(self, look: Look, task: asyncio.Task[None]) -> None:
        self._looks.discard(task)
        del self._claimed[look]

    async def _look(self, look: Look) -> None:
        PERSON.set(look.tenant_id)
        async with self._slots.of(look.tenant_id):
            # One that waited for longer may be under way elsewhere by now.
            if self.clock.now() - self._claimed[look] < LOOK_LEASE:
                await self._look_now(look)

    async def _look_now(self, look: Look) -> None:
        # The outermost handler of a check: an error of the task sets the task aside, any other is retried when the
        # check's time is over.
        try:
            await self.looking.look(look)
        except StoreUnavailable as error:
            _log.warning("look_delayed", task=look.task_id, cause=str(error))
        except Exception as error:
            if is_own_fault(error):
                await self._set_aside(look, error)
            else:
                _log.error("look_delayed", task=look.task_id, cause=type(error).__name__)

    async def _set_aside(self, look: Look, error: Exception) -> None:
        try:
            await self.engine.set_aside(look.tenant_id, look.task_id, error)
        except StoreUnavailable as away:
            _log.warning("look_delayed", task=look.task_id, cause=str(away))
