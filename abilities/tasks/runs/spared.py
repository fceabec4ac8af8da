"""Runs that nobody waits for ask no model in quiet hours, nor while all that they look at is unchanged."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import structlog

from abilities.tasks.codec import Kind
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.runs.looks import ReadTools
from abilities.tasks.service import SPARED
from abilities.tasks.types import HEARTBEAT, ORCHESTRATOR, Task, TaskRun
from core.budgets.self_started import Never, NotNow, OutsideQuietHours, SelfStarted
from core.clock import zone_or_utc
from core.errors import StoreUnavailable, ToolError
from core.journal.types import Effect, StepKind, StepRecord
from core.json_types import JsonObject, canonical_hash, object_in, storable
from core.language.catalogue import speaking
from core.llm.types import ModelAnswer
from core.loop.outside import as_data
from core.turns.orchestrator import Orchestrator

MAX_READS = 12
"""Most calls of a run that are repeated without a model, to compare results; a run with more is never compared."""
NEAR = timedelta(hours=1)
"""A time of day that a result names counts as a change once it is so near."""
_CLOCK = re.compile(r"(?<!\d)([01]?\d|2[0-3]):([0-5]\d)(?!\d)")

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Before:
    """The person's state before a run. `seen`: the values that an earlier run read; empty if nothing can be compared.

    `asked`: a hash of the task's wish and the person's day, on which everything is looked at anew. `mark`: of their
    words and other tasks. `came`: whether anything has come in since the earlier run.
    """

    now: datetime
    language: str | None
    asked: str
    at: datetime
    mark: str
    came: bool
    seen: JsonObject


class SparedRuns:
    """Decides whether a run of a task is skipped, and remembers the values that its last run read."""

    def __init__(self, engine: TriggerEngine, orchestrator: Orchestrator, reading: ReadTools | None = None) -> None:
        self._engine = engine
        self._orchestrator = orchestrator
        self._reading = reading
        self._quiet = OutsideQuietHours(engine.store.database, engine.clock)

    async def by_quiet(self, task: Task) -> bool:
        """Return whether quiet hours spare a run; one run then makes up for all of them when they end."""
        if not task.waits_in_quiet or (end := await self._quiet.until(task.tenant_id)) is None:
            return False
        await self._engine.store.make_up_at(task, end)
        self._engine.come_due(end, SPARED)
        return True

    async def before(self, task: Task) -> Before | None:
        """Return the state before a run that tells nothing unless something is new; None for any other task's."""
        silent = task.output.silent and task.kind is Kind.SCHEDULE and task.executor == ORCHESTRATOR
        if not silent or self._reading is None or task.output.at_night:
            return None
        zone, language = await self._engine.store.person(task.tenant_id)
        now = self._engine.clock.now().astimezone(zone_or_utc(zone))
        asked = canonical_hash([task.action, now.date().isoformat()])
        seen = task.watch if task.watch.get("asked") == asked else {}
        since = datetime.fromisoformat(str(seen["at"])) if seen else None
        row = await self._engine.store.state_for(task, since)
        return Before(now, language, asked, row["at"], row["mark"], bool(row["came"]), seen)

    async def by_sameness(self, task: Task, run: TaskRun, before: Before) -> bool:
        """Return whether nothing has changed since the last run. A run that makes up for others is never spared."""
        seen = before.seen
        if not seen or before.came or before.mark != seen["mark"] or "waited" in run.cause:
            return False
        texts = await self._read(task, before, cast("list[JsonObject]", seen["reads"]))
        if texts is None or canonical_hash([*texts]) != seen["hash"]:
            return False
        return set(_near(texts, before.now)) <= set(cast("list[str]", seen["near"]))

    async def note(self, task: Task, before: Before, steps: Sequence[StepRecord]) -> None:
        """Remember the values that a run has read: nothing if no other run can be compared with it."""
        seen: JsonObject = {}
        reads = self._reads(steps)
        if reads or (reads is not None and task.output.category == HEARTBEAT):
            calls = [call for call, _ in reads]
            texts = await self._read(task, before, calls)
            # If it is another by now, the model has not seen it.
            if texts is not None and all(
                said in (text, as_data(text)) for text, (_, said) in zip(texts, reads, strict=True)
            ):
                known: JsonObject = {"asked": before.asked, "at": before.at.isoformat(), "mark": before.mark}
                near = _near(texts, before.now)
                seen = known | {"reads": [*calls], "hash": canonical_hash([*texts]), "near": [*near]}
        await self._engine.store.keep_seen(task, seen)

    def _reads(self, steps: Sequence[StepRecord]) -> list[tuple[JsonObject, str]] | None:
        """Return the calls of a run, each with its result; None if it did more than read."""
        calls = {
            (step.key.step, number): call
            for step in steps
            if step.kind is StepKind.MODEL and not step.key.agent_path
            for number, call in enumerate(ModelAnswer.from_json(step.result, step.usage).tool_calls, 1)
        }
        found: list[tuple[JsonObject, str]] = []
        for step in steps:
            if step.key.agent_path or step.kind in (StepKind.MODEL, StepKind.JUDGE):
                continue
            call = calls.get((step.key.step, step.key.call_index))
            if call is None or step.effect is not Effect.READ:
                return None
            if self._is_offered(step.name):  # not a tool of the turn's own, such as the one that opens a group
                arguments: JsonObject = {"tool": step.name, "arguments": object_in(call.arguments)}
                found.append((arguments, str(step.result.get("text", ""))))
        return found if len(found) <= MAX_READS else None

    def _is_offered(self, name: str) -> bool:
        return self._orchestrator.tools.get(name) is not None or self._orchestrator.agents.get(name) is not None

    async def _read(self, task: Task, before: Before, calls: Sequence[JsonObject]) -> list[str] | None:
        """Repeat calls that only read; None if any fails, or would ask a model."""
        if self._reading is None:
            return None
        read = SelfStarted(Never(), self._reading.read)
        texts: list[str] = []
        with speaking(before.language):
            for call in calls:
                try:
                    text = await read(task.tenant_id, str(call["tool"]), cast(JsonObject, call["arguments"]))
                except StoreUnavailable:
                    raise
                except (ToolError, NotNow):
                    return None
                except Exception:  # a tool may raise anything: the model is asked, and sees for itself
                    _log.exception("not_looked_again", task=task.id)
                    return None
                texts.append(str(storable(str(text))))
        return texts


def _near(texts: Sequence[str], now: datetime) -> list[str]:
    """Return the times of day in texts that are about to come."""
    named = {(int(hour), int(minute)) for text in texts for hour, minute in _CLOCK.findall(text)}
    near = (now.replace(hour=hour, minute=minute, second=0, microsecond=0) for hour, minute in named)
    return sorted(f"{at:%H:%M}" for at in near if timedelta() <= at - now <= NEAR)
