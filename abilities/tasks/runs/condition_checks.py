"""Checking due conditions: look at a tool's result or a web address, and judge it."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from json import JSONDecodeError

import structlog

from abilities.tasks.codec import UnreadableTrigger
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.kinds.condition import (
    ERRORS_TOLD,
    ConditionTrigger,
    Judged,
    Watch,
    failed,
    judge,
    next_look,
)
from abilities.tasks.kinds.schedule import TriggerError, read_zone
from abilities.tasks.messages import failing_look_text, occurrence_of
from abilities.tasks.runs.concurrency import SharedSlot
from abilities.tasks.runs.firing import LOOK_LEASE, Look, run_row
from abilities.tasks.runs.looks import ReadTools, look_at
from abilities.tasks.trials import seen_now
from abilities.tasks.types import Task
from core.budgets.self_started import NotNow
from core.clock import Clock
from core.errors import StoreUnavailable, ToolError
from core.ids import IdMaker
from core.json_types import Json, JsonObject, read_json, storable
from core.language.catalogue import gettext, speaking
from core.tools.context import TaskState
from core.turns.runs import RunState

MAX_LOOK = 100.0
"""Seconds of a look: less than its lease, after which it is made again."""
MAX_TRIAL = 45.0
"""Seconds of the first look, for which a person waits."""
MAX_UNENDED = 3
"""Consecutive looks that began and never ended before a task is set aside. All but the first run alone."""
MAX_READ = 2 * 1024 * 1024
"""Characters of a result."""

_log = structlog.get_logger()


class LookNeverEnded(Exception):
    """Looks at a condition killed their workers, or outlived their leases, too often in a row."""


class ConditionChecks:
    """Check conditions that are due."""

    def __init__(self, engine: TriggerEngine, tools: ReadTools, clock: Clock, make_id: IdMaker) -> None:
        self._engine = engine
        self._tools = tools
        self._clock = clock
        self._make_id = make_id
        self._slot = SharedSlot()

    async def look(self, look: Look) -> None:
        """Check a condition and start a run if it fires. Raises `StoreUnavailable`."""
        task = await self._engine.store.get(look.tenant_id, look.task_id)
        if task is None or task.state is not TaskState.ACTIVE:
            return
        if isinstance(task.trigger, UnreadableTrigger):
            raise TriggerError(task.trigger.why)
        if not isinstance(task.trigger, ConditionTrigger):
            return
        if await self._clock.sound_now() is None:
            return  # it is checked again when its lease ends
        if task.looks_begun >= MAX_UNENDED:
            raise LookNeverEnded(f"{task.looks_begun} looks began and never ended")
        _, language = await self._engine.store.person(look.tenant_id)
        async with self._slot.enter(alone=task.looks_begun > 0):
            with speaking(language):
                await self._count_and_look(task, task.trigger)

    async def _count_and_look(self, task: Task, trigger: ConditionTrigger) -> None:
        """Make a look that is counted before it begins: a worker that it kills leaves the count behind."""
        if not await self._engine.store.begin_look(task, self._clock.now(), LOOK_LEASE):
            return
        try:
            await self._look(task, trigger)
        except (NotNow, StoreUnavailable, asyncio.CancelledError):
            with suppress(StoreUnavailable):
                await self._engine.store.put_off_look(task)
            raise

    async def _look(self, task: Task, trigger: ConditionTrigger) -> None:
        judged = await self.judge(task, trigger)
        try:
            await self._record(task, trigger, judged)
        except StoreUnavailable:
            raise
        except Exception:  # values that the database refuses now, it refuses the next time, too
            _log.exception("look_not_kept", task=task.id)
            watch = Watch.from_json(task.watch)
            judged = failed(watch, gettext("The result cannot be stored."), self._clock.now())
            await self._record(task, trigger, judged)
        _log.info("condition_seen", task=task.id, told=judged.fires, errors=judged.watch.errors)

    async def first_look(self, tenant_id: str, trigger: ConditionTrigger) -> str:
        """Look once for a condition that is not stored yet; return its value now. Raises `TriggerError` if it fails."""
        try:
            async with asyncio.timeout(MAX_TRIAL):
                text = await look_at(self._tools, tenant_id, trigger)
        except StoreUnavailable:
            raise
        except TimeoutError as error:
            raise TriggerError(gettext("I tried it, and it took too long.")) from error
        except ToolError as error:
            raise TriggerError(
                gettext("I tried it, and it does not work: {error}", error=error), note=error.note
            ) from error
        except Exception as error:  # a tool may raise anything; the details stay in the log
            _log.exception("look_failed", task="")
            raise TriggerError(gettext("I tried it, and it failed with an internal error.")) from error
        now = self._clock.now()

        def seen() -> str:
            try:
                result = _read(text)
            except ToolError as error:
                raise TriggerError(str(error), note=error.note) from error
            return seen_now(trigger, judge(trigger, Watch(), result, now), result)

        return await self._engine.in_thread(seen)

    async def judge(self, task: Task, trigger: ConditionTrigger) -> Judged:
        """Look and return the outcome without storing it. Looks that never ended count as failed."""
        watch = Watch.from_json(task.watch)
        watch = replace(watch, errors=watch.errors + task.looks_begun)
        try:
            async with asyncio.timeout(MAX_LOOK):
                result = await look_at(self._tools, task.tenant_id, trigger)
                now = self._clock.now()
                return await self._engine.in_thread(lambda: judge(trigger, watch, _read(result), now))
        except (NotNow, StoreUnavailable):
            raise
        except TimeoutError:
            return failed(watch, gettext("It took too long."), self._clock.now())
        except ToolError as error:
            return failed(watch, str(error), self._clock.now())
        except Exception as error:  # a tool may raise anything; the details stay in the log
            _log.exception("look_failed", task=task.id)
            why = gettext("It failed with an internal error ({name}).", name=type(error).__name__)
            return failed(watch, why, self._clock.now())

    async def _record(self, task: Task, trigger: ConditionTrigger, judged: Judged) -> None:
        now = await self._clock.sound_now()
        if now is None:
            return
        zone = read_zone((await self._engine.store.person(task.tenant_id))[0] or "UTC")
        next_at = next_look(trigger, judged.watch, now, zone)
        if judged.fires and trigger.count is not None and task.fired + 1 >= trigger.count:
            next_at = None
        before = Watch.from_json(task.watch).errors
        often = before < ERRORS_TOLD <= judged.watch.errors
        runs = [self._run(task, judged)] if judged.fires or often else []
        lanes = await self._engine.store.record_look(task, judged.watch.to_json(), next_at, runs)
        self._engine.wake(lanes)
        self._engine.come_due(next_at)

    def _run(self, task: Task, judged: Judged) -> JsonObject:
        now = self._clock.now()
        looked = Watch.from_json(task.watch).looked
        if judged.fires:
            cause: JsonObject = {"old": judged.old, "new": judged.new, "looked": looked}
            return run_row(self._make_id, occurrence_of(now), now, channel=task.output.channel, cause=cause)
        say = failing_look_text(task, judged.reason)
        return run_row(
            self._make_id, f"errors {occurrence_of(now)}", now, state=RunState.FAILED, reason=judged.reason, say=say
        )


def _read(text: str) -> Json:
    """Parse a result as JSON, else as text. Raises `ToolError` for JSON that cannot be compared."""
    if len(text) > MAX_READ:
        raise ToolError(gettext("The result is too long to compare."))
    try:
        return storable(read_json(text))
    except JSONDecodeError:
        return storable(text.strip())
    except ValueError as error:
        raise ToolError(gettext("The result has an invalid number, or nests too deeply.")) from error
