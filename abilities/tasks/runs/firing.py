"""Claim due tasks, decide about each, write that back and start the runs: a short transaction, without a model.

A worker that dies within it leaves everything as it was; a repeat starts no occurrence twice (promise 13).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

import asyncpg

from abilities.tasks.codec import Kind, Trigger, trigger_from_json
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from abilities.tasks.messages import LATE, occurrence_of
from abilities.tasks.reasons import Reason
from abilities.tasks.runs.misfires import Course, Plan
from core.db.database import Connection, Database
from core.errors import OneValetError
from core.ids import IdMaker
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.turns.runs import RunState

BATCH = 500
LOOK_LEASE = timedelta(minutes=2)
"""The time after which a look is repeated if its worker died."""
_OWN_FAULTS = ("22", "23", "54")
"""Classes of Postgres errors caused by values: data exception, constraint violation, limit exceeded."""


@dataclass(frozen=True, slots=True)
class Look:
    """A condition that is due."""

    tenant_id: str
    task_id: str


@dataclass(frozen=True, slots=True)
class Stumbled:
    """A claimed task that raised an unforeseen error; the other tasks of the claim were fired."""

    tenant_id: str
    task_id: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Fired:
    """The result of a claim: the number of due tasks, the lanes of new runs, and the conditions to check.

    `stumbled` tasks are unchanged and still due: the caller sets them aside.
    """

    due: int
    lanes: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()
    stumbled: tuple[Stumbled, ...] = ()


async def fire_due(database: Database, make_id: IdMaker, now: datetime, limit: int = BATCH) -> Fired:
    """Fire up to `limit` due tasks of all people. Raises `StoreUnavailable`."""
    # No tenant's rows can be read here: the claim returns ids and times, and the write names each row's tenant.
    async with database.tenant("") as connection:
        rows = await connection.fetch("select * from take_due_tasks($1,$2)", now, limit)
        if not rows:
            return Fired(0)
        ends, stumbled = _ends(rows, now, make_id)
        lanes = await _fire(connection, ends, stumbled)
    failed = {task.task_id for task in stumbled}
    looks = tuple(
        Look(row["tenant_id"], row["task_id"])
        for row in rows
        if row["kind"] == Kind.CONDITION and row["task_id"] not in failed
    )
    return Fired(len(rows), lanes, looks, tuple(stumbled))


def is_own_fault(error: Exception) -> bool:
    """Return whether an error was caused by the values, and not by a database that cannot write at the moment."""
    if isinstance(error, asyncpg.PostgresError):
        return str(error.sqlstate or "").startswith(_OWN_FAULTS)
    return not isinstance(error, OneValetError | OSError | asyncpg.InterfaceError)


@dataclass(frozen=True, slots=True)
class _Run:
    """An occurrence that runs or is skipped. `cause` is JSON."""

    occurrence: str
    due: datetime
    state: RunState
    reason: str
    cause: str


@dataclass(frozen=True, slots=True)
class _Decision:
    """The decision about a task: the same for all with the same schedule, zone and due moment, unless it has jitter."""

    zone: str
    due: datetime | None
    taken: datetime | None
    fires: int = 0
    runs: tuple[_Run, ...] = ()


type _Known = dict[tuple[object, ...], _Decision]


@dataclass(frozen=True, slots=True)
class _End:
    """A task and its runs, as the types `fired_task` and `fired_run` have them."""

    task: tuple[object, ...]
    runs: tuple[tuple[object, ...], ...]


def _ends(rows: Sequence[asyncpg.Record], now: datetime, make_id: IdMaker) -> tuple[list[_End], list[Stumbled]]:
    """Decide about each claimed task by itself, so that an error concerns that task only."""
    ends: list[_End] = []
    stumbled: list[Stumbled] = []
    known: _Known = {}
    for row in rows:
        try:
            ends.append(_end(row, now, make_id, known))
        except Exception as error:
            stumbled.append(Stumbled(row["tenant_id"], row["task_id"], error))
    return ends, stumbled


async def _fire(connection: Connection, ends: list[_End], stumbled: list[Stumbled]) -> tuple[str, ...]:
    """Write all back at once; if the database refuses the values of any of them, write each by itself."""
    try:
        return await _write(connection, ends)
    except asyncpg.PostgresError as error:
        if not is_own_fault(error):
            raise
    lanes: list[str] = []
    for end in ends:
        try:
            lanes += await _write(connection, [end])
        except asyncpg.PostgresError as error:
            if not is_own_fault(error):
                raise
            stumbled.append(Stumbled(str(end.task[0]), str(end.task[1]), error))
    return tuple(lanes)


async def _write(connection: Connection, ends: list[_End]) -> tuple[str, ...]:
    # An error in it does not undo the claim.
    await connection.execute("savepoint firing")
    try:
        rows = await connection.fetch(
            "select lane_id from fire_tasks($1::fired_task[], $2::fired_run[])",
            [end.task for end in ends],
            [run for end in ends for run in end.runs],
        )
    except asyncpg.PostgresError:
        await connection.execute("rollback to savepoint firing")
        raise
    return tuple(row["lane_id"] for row in rows)


def run_row(
    make_id: IdMaker,
    occurrence: str,
    due_at: datetime,
    *,
    channel: str | None = None,
    cause: JsonObject | None = None,
    state: RunState = RunState.QUEUED,
    reason: str = "",
    say: str = "",
) -> JsonObject:
    """Return a run in the form that the SQL function `start_run` takes."""
    return {
        "run_id": make_id("run"),
        "turn_id": make_id("turn"),
        "occurrence": occurrence,
        "due_at": due_at.isoformat(),
        "channel": channel or "",
        "cause": cause or {},
        "state": state.value,
        "reason": reason,
        "say": say,
    }


def _end(row: asyncpg.Record, now: datetime, make_id: IdMaker, known: _Known) -> _End:
    """Decide about a claimed task; return the rows that `fire_tasks` writes."""
    tenant_id, task_id, kind = row["tenant_id"], row["task_id"], row["kind"]
    if kind == Kind.CONDITION:
        return _End((tenant_id, task_id, row["due_at"], now + LOOK_LEASE, "", 0), ())
    trigger = _trigger(kind, row["schedule"])
    if not isinstance(trigger, ScheduleTrigger):
        raise TriggerError(gettext("It is not a schedule."))
    decision = _decided(row, trigger, now, known)
    return _End(
        (tenant_id, task_id, decision.due, decision.taken, decision.zone, decision.fires),
        tuple(
            (
                tenant_id,
                task_id,
                make_id("run"),
                make_id("turn"),
                run.occurrence,
                run.due,
                run.state,
                run.reason,
                run.cause,
            )
            for run in decision.runs
        ),
    )


@lru_cache(maxsize=2048)
def _trigger(kind: str, stored: str) -> Trigger:
    """Parse a trigger once: thousands of tasks are due by the same few schedules."""
    return trigger_from_json(kind, json.loads(stored))


def _decided(row: asyncpg.Record, trigger: ScheduleTrigger, now: datetime, known: _Known) -> _Decision:
    """Decide once about all tasks of a batch with the same schedule, zone and due moment."""
    if trigger.jitter_seconds:  # each task has its own
        return _scheduled(row, trigger, now)
    key: tuple[object, ...] = (row["schedule"], row["person_zone"], row["due_at"], row["rezone"])
    if not trigger.cron or trigger.count is not None or trigger.every is not None:
        key = (*key, row["anchor"], row["fired"])
    if (decision := known.get(key)) is None:
        decision = known[key] = _scheduled(row, trigger, now)
    return decision


def _scheduled(row: asyncpg.Record, trigger: ScheduleTrigger, now: datetime) -> _Decision:
    zone = trigger.zone(row["person_zone"])
    course = Course(row["task_id"], trigger, zone, row["anchor"], row["fired"])
    due: datetime = row["due_at"]
    if row["rezone"]:
        moved = trigger.next_after(due, zone, row["anchor"]) if due <= now else _moved(course, now)
        if moved is None or (taken := course.taken_at(moved)) is None or taken > now:
            return _Decision(zone.key, moved, course.taken_at(moved))
        due = moved
    plan = course.plan(due, now)
    return _Decision(zone.key, plan.next_due, course.taken_at(plan.next_due), len(plan.fires), _runs(plan, now))


def _moved(course: Course, now: datetime) -> datetime | None:
    """Return the next occurrence after the person moved: a moment that is past in the new zone is due at once."""
    return course.next_after(now) or course.trigger.last_before(now, course.zone, course.anchor)


def _runs(plan: Plan, now: datetime) -> tuple[_Run, ...]:
    missed: JsonObject = {"missed_since": plan.missed_since.isoformat()} if plan.missed_since else {}
    if plan.skipped is not None:
        cause = json.dumps(missed)
        return (_Run(occurrence_of(plan.skipped), plan.skipped, RunState.SKIPPED, Reason.MISSED, cause),)
    return tuple(
        _Run(
            occurrence_of(due),
            due,
            RunState.QUEUED,
            "",
            json.dumps(missed | ({"late": True} if now - due > LATE else {})),
        )
        for due in plan.fires
    )
