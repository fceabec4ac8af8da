"""Look at what conditions are about, and judge what came back."""

import json
from typing import Protocol

import structlog

from core.clock import Clock
from core.errors import StoreUnavailable, ToolError
from core.http_access import HttpResponse
from core.ids import IdMaker
from core.json_types import Json, JsonObject
from core.triggers.condition import ERRORS_TOLD, ConditionTrigger, Judged, Watch, failed, judge, next_look
from core.triggers.engine import TriggerEngine
from core.triggers.firing import Look, run_row
from core.triggers.messages import occurrence_of
from core.triggers.schedule import read_zone
from core.triggers.types import RunState, Task, TaskState

_log = structlog.get_logger()


class ReadTools(Protocol):
    """Call tools that only read, for one person, outside of any turn."""

    async def read(self, tenant_id: str, tool: str, arguments: JsonObject) -> str:
        """Give a tool's result. Raises `ToolError`, also for a tool that does more than read."""
        ...

    async def fetch(self, tenant_id: str, url: str) -> HttpResponse:
        """Give what lies at a web address. Raises `ToolError`."""
        ...


class Looking:
    """Look at conditions that are due."""

    def __init__(self, engine: TriggerEngine, tools: ReadTools, clock: Clock, make_id: IdMaker) -> None:
        self._engine = engine
        self._tools = tools
        self._clock = clock
        self._make_id = make_id

    async def look(self, look: Look) -> None:
        """Look at one condition and start its run where that is told. Raises `StoreUnavailable`."""
        task = await self._engine.store.get(look.tenant_id, look.task_id)
        if task is None or task.state is not TaskState.ACTIVE or not isinstance(task.trigger, ConditionTrigger):
            return
        judged = await self.judge(task, task.trigger)
        now = self._clock.now()
        zone = read_zone((await self._engine.store.person(look.tenant_id))[0] or "UTC")
        next_at = next_look(task.trigger, judged.watch, now, zone)
        if judged.fires and task.trigger.count is not None and task.fired + 1 >= task.trigger.count:
            next_at = None
        runs = [self._run(task, judged)] if judged.fires or judged.watch.errors == ERRORS_TOLD else []
        lanes = await self._engine.store.record_look(task, judged.watch.to_json(), next_at, runs)
        self._engine.ring(lanes)
        _log.info("condition_seen", task=task.id, told=judged.fires, errors=judged.watch.errors)

    async def judge(self, task: Task, trigger: ConditionTrigger) -> Judged:
        """Look, and say what it means; nothing is kept."""
        watch = Watch.from_json(task.watch)
        try:
            result = await self._result(task.tenant_id, trigger)
        except StoreUnavailable:
            raise
        except ToolError as error:
            return failed(watch, str(error), self._clock.now())
        except Exception as error:  # a tool may raise anything; what it was stays in the log
            _log.exception("look_failed", task=task.id)
            return failed(watch, f"It failed with an internal error ({type(error).__name__}).", self._clock.now())
        return judge(trigger, watch, result, self._clock.now())

    async def _result(self, tenant_id: str, trigger: ConditionTrigger) -> Json:
        if trigger.tool:
            return _read(await self._tools.read(tenant_id, trigger.tool, trigger.arguments))
        answer = await self._tools.fetch(tenant_id, trigger.url)
        if answer.status >= 400:
            raise ToolError(f"The server answered {answer.status}.")
        return _read(answer.body.decode(errors="replace"))

    def _run(self, task: Task, judged: Judged) -> JsonObject:
        now = self._clock.now()
        looked = Watch.from_json(task.watch).looked
        if judged.fires:
            cause: JsonObject = {"old": judged.old, "new": judged.new, "looked": looked}
            return run_row(self._make_id, occurrence_of(now), now, channel=task.output.channel, cause=cause)
        say = (
            f"I have not been able to check “{task.title}” (task {task.number}) for a while: {judged.reason} "
            "I go on trying, less often."
        )
        return run_row(
            self._make_id, f"errors {occurrence_of(now)}", now, state=RunState.FAILED, reason=judged.reason, say=say
        )


def _read(text: str) -> Json:
    """Read a result as JSON, else as a number or the text that it is."""
    try:
        read: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    return read
