"""Tasks and their runs in Postgres."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

import asyncpg

from abilities.tasks.codec import Kind, stored_trigger, trigger_to_json
from abilities.tasks.types import RunNotice, Task, TaskOutput, TaskRun
from core import tracing
from core.db.database import Connection, Database, fetch_one
from core.json_types import JsonObject
from core.tools.context import TaskChange, TaskState
from core.turns.runs import RunState

_TASK = "select * from tasks where tenant_id = $1"
_RUN = (
    "select r.*, coalesce((select jsonb_agg(jsonb_build_object('key', n.key, 'kind', n.kind, 'text', n.text,"
    " 'state', n.state, 'fate', n.fate, 'place', n.place, 'media', n.media,"
    " 'outside', n.outside) order by n.created_at) from run_notices n"
    " where n.tenant_id = r.tenant_id and n.run_id = r.id), '[]') as notices from task_runs r where r.tenant_id = $1"
)


type Also = Callable[[Connection, str], Awaitable[object]]
"""A write of the caller's that commits with a task, whose id it is given."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """A task that was set aside, and the error that caused it."""

    tenant_id: str
    task_id: str
    number: int
    cause: str


class TaskStore:
    """Everybody's tasks; each call names the tenant."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def add(self, task: Task, now: datetime, limit: int, also: Also | None = None) -> Task | None:
        """Add a task under the next number; None when `limit` are active already. Repeatable by the task's id.

        `also` runs before it in the same transaction: an exception adds nothing.
        """
        async with self.database.tenant(task.tenant_id) as connection:
            # In sequence for each person, so that no number is given twice.
            await connection.execute("select 1 from tenants where tenant_id = $1 for update", task.tenant_id)
            if known := await self._task(connection, task.tenant_id, task.id):
                return known
            counts = await fetch_one(
                connection,
                "select coalesce(max(number), 0) + 1 as number, count(*) filter (where state = 'ACTIVE') as active"
                " from tasks where tenant_id = $1",
                task.tenant_id,
            )
            if counts["active"] >= limit:
                return None
            if also is not None:
                await also(connection, task.id)
            await connection.execute(
                "insert into tasks (tenant_id, id, number, title, kind, trigger, executor, action, output, state,"
                " anchor, due_at, next_at, zone, created_at)"
                " select tenant_id, id, $2, title, kind, trigger, executor, action, output, state, $3, $4, $5, zone, $6"
                " from jsonb_populate_record(null::tasks, $1)",
                {
                    "tenant_id": task.tenant_id,
                    "id": task.id,
                    "title": task.title,
                    "kind": task.kind.value,
                    "trigger": trigger_to_json(task.trigger),
                    "executor": task.executor,
                    "action": task.action,
                    "output": task.output.to_json(),
                    "state": task.state.value,
                    "zone": task.zone,
                },
                counts["number"],
                task.anchor,
                task.due_at,
                task.next_at,
                now,
            )
            return await self._task(connection, task.tenant_id, task.id)

    async def get(self, tenant_id: str, task_id: str) -> Task | None:
        """Return a task, even if it was deleted."""
        row = await self.database.tenant_row(tenant_id, f"{_TASK} and id = $2", task_id)
        return _task_of(row) if row else None

    async def tasks(self, tenant_id: str, *, deleted: bool = False) -> Sequence[Task]:
        """Return a person's tasks by number; `deleted` includes those that were deleted."""
        rows = await self.database.tenant_rows(
            tenant_id, f"{_TASK} and ($2 or deleted_at is null) order by number", deleted
        )
        return [_task_of(row) for row in rows]

    async def by_ids(self, tenant_id: str, task_ids: Sequence[str]) -> Sequence[Task]:
        """Return some of a person's tasks by number, even those that were deleted."""
        rows = await self.database.tenant_rows(tenant_id, f"{_TASK} and id = any ($2) order by number", task_ids)
        return [_task_of(row) for row in rows]

    async def on_events(self, tenant_id: str) -> Sequence[Task]:
        """Return a person's active tasks that wait for events."""
        rows = await self.database.tenant_rows(
            tenant_id, f"{_TASK} and kind = 'event' and state = 'ACTIVE' order by number"
        )
        return [_task_of(row) for row in rows]

    async def runs(self, tenant_id: str, task_id: str, most: int = 10) -> Sequence[TaskRun]:
        """Return the newest runs of a task, the newest first."""
        rows = await self.database.tenant_rows(
            tenant_id, f"{_RUN} and r.task_id = $2 order by r.created_at desc, r.id desc limit $3", task_id, most
        )
        return [_run_of(row) for row in rows]

    async def run(self, tenant_id: str, run_id: str) -> tuple[Task, TaskRun] | None:
        async with self.database.tenant(tenant_id) as connection:
            row = await connection.fetchrow(f"{_RUN} and r.id = $2", tenant_id, run_id)
            task = await self._task(connection, tenant_id, row["task_id"]) if row else None
        return (task, _run_of(row)) if row and task else None

    async def person(self, tenant_id: str) -> tuple[str | None, str | None]:
        """Return a person's timezone and language, each None while it is not known."""
        row = await self.database.tenant_row(
            tenant_id,
            "select nullif(timezone, '') as timezone, nullif(language, '') as language from tenants"
            " where tenant_id = $1",
        )
        return (row["timezone"], row["language"]) if row else (None, None)

    async def set_timezone(self, tenant_id: str, timezone: str) -> None:
        """Store a person's timezone if none is known."""
        await self.database.tenant_rows(
            tenant_id, "update tenants set timezone = $2 where tenant_id = $1 and timezone = ''", timezone
        )

    async def change(self, task: Task, change: TaskChange, now: datetime) -> bool:
        """Pause, resume or delete a task as given; return False if its state does not allow that."""
        row = await self.database.call(
            "select change_task($1,$2,$3,$4,$5,$6,$7) as changed",
            task.tenant_id,
            task.id,
            change,
            now,
            task.due_at,
            task.next_at,
            task.zone,
        )
        return bool(row and row["changed"])

    async def start(self, tenant_id: str, runs: Sequence[JsonObject]) -> list[str]:
        """Start runs of a person's tasks, each once; return the lanes of new runs."""
        given = [run | tracing.carried() for run in runs]
        rows = await self.database.rows("select start_runs($1,$2) as lane", tenant_id, given)
        return [row["lane"] for row in rows]

    async def begin_look(self, task: Task, now: datetime, lease: timedelta) -> bool:
        """Count a look that is about to begin; return False if another worker was faster."""
        begun = await self.database.repeat(
            task.tenant_id,
            "update tasks set looks_begun = $3 + 1, next_at = $4::timestamptz + $5::interval * power(2, least($3, 5))"
            " where tenant_id = $1 and id = $2 and state = 'ACTIVE' and looks_begun in ($3, $3 + 1) returning id",
            task.id,
            task.looks_begun,
            now,
            lease,
        )
        return bool(begun)

    async def put_off_look(self, task: Task) -> None:
        """Reverse the count of a look that was interrupted from outside."""
        await self.database.repeat(
            task.tenant_id,
            "update tasks set looks_begun = $3 where tenant_id = $1 and id = $2 and looks_begun = $3 + 1",
            task.id,
            task.looks_begun,
        )

    async def record_look(
        self, task: Task, watch: JsonObject, next_at: datetime | None, runs: Sequence[JsonObject]
    ) -> list[str]:
        """Store the result of a look, unless another look was faster; return the lanes of new runs."""
        rows = await self.database.rows(
            "select record_look($1,$2,$3,$4,$5,$6) as lane",
            task.tenant_id,
            task.id,
            task.revision,
            watch,
            next_at,
            list(runs),
        )
        return [row["lane"] for row in rows]

    async def set_aside(self, tenant_id: str, task_id: str, cause: str, run: JsonObject) -> bool:
        """Disable a task that raised an unforeseen error, and notify its person by `run`; False if it is not active.

        Its due moment stays: `retry` resumes there.
        """
        async with self.database.tenant(tenant_id) as connection:
            disabled = await connection.fetchval(
                "update tasks set state = 'DISABLED', reason = $3, set_aside = $4, next_at = null,"
                " revision = revision + 1 where tenant_id = $1 and id = $2 and state = 'ACTIVE' returning id",
                tenant_id,
                task_id,
                run["reason"],
                cause,
            )
            if disabled is not None:
                await connection.execute("select start_run($1,$2,$3)", tenant_id, task_id, run)
        return disabled is not None

    async def retry(self, tenant_id: str, task_id: str, now: datetime) -> bool:
        """Retry a task that was set aside, from the moment at which it was due; return False for any other task."""
        row = await self.database.tenant_row(
            tenant_id,
            "update tasks set state = 'ACTIVE', reason = '', failures = 0, revision = revision + 1,"
            " next_at = case when kind <> 'event' then coalesce(due_at, $3) end"
            " where tenant_id = $1 and id = $2 and set_aside <> '' and deleted_at is null returning id",
            task_id,
            now,
        )
        return row is not None

    async def make_up_at(self, task: Task, end: datetime) -> None:
        """Schedule a single run at the end of quiet hours for those skipped during them."""
        statement = "update tasks set make_up_at = $3 where tenant_id = $1 and id = $2 and deleted_at is null"
        await self.database.tenant_rows(task.tenant_id, statement, task.id, end)

    async def find_spared(self, now: datetime, limit: int) -> list[tuple[str, str]]:
        """Return the tenants and ids of tasks whose quiet hours are over."""
        rows = await self.database.rows("select * from find_spared($1,$2)", now, limit)
        return [(row["tenant_id"], row["task_id"]) for row in rows]

    async def make_up(self, tenant_id: str, task_id: str, now: datetime, run: JsonObject, size: int) -> str | None:
        """Start the run that makes up for spared runs, unless none is needed; return its lane."""
        given = run | tracing.carried()
        row = await self.database.call("select make_up($1,$2,$3,$4,$5) as lane", tenant_id, task_id, now, given, size)
        return row["lane"] if row else None

    async def state_for(self, task: Task, since: datetime | None) -> asyncpg.Record:
        """Return the person's state for a run that looks by itself, as `state_for_task` does."""
        statement = "select * from state_for_task($1,$2,$3)"
        (row,) = await self.database.repeat(task.tenant_id, statement, task.id, since)
        return row

    async def keep_seen(self, task: Task, seen: JsonObject) -> None:
        """Store the values that a task's last run read."""
        statement = "update tasks set watch = $3 where tenant_id = $1 and id = $2 and kind = 'schedule'"
        await self.database.tenant_rows(task.tenant_id, statement, task.id, seen)

    async def find_set_aside(self, limit: int = 100) -> list[SetAside]:
        rows = await self.database.rows("select * from find_set_aside($1)", limit)
        return [SetAside(row["tenant_id"], row["task_id"], row["number"], row["cause"]) for row in rows]

    async def event_runs(self, tenant_id: str, task_id: str, within: timedelta) -> int:
        """Return the number of a task's runs on events within a time."""
        (row,) = await self.database.repeat(
            tenant_id,
            "select count(*) as runs from task_runs where tenant_id = $1 and task_id = $2"
            " and created_at > clock_timestamp() - $3::interval and state <> 'SKIPPED'",
            task_id,
            within,
        )
        return int(row["runs"])

    async def prune(self, kept: timedelta, limit: int = 100) -> int:
        """Delete runs and tasks that ended longer ago than their lifetime; return their number."""
        runs = await self.database.call("select * from prune_runs($1,$2)", kept, limit)
        tasks = await self.database.call("select * from prune_tasks($1,$2)", kept, limit)
        wishes = await self.database.call("select * from prune_wishes($1,$2)", kept, limit)
        return sum(int(row["pruned"]) for row in (runs, tasks, wishes) if row)

    async def next_due(self) -> datetime | None:
        row = await self.database.call("select due from next_due_task()")
        return row["due"] if row else None

    async def _task(self, connection: Connection, tenant_id: str, task_id: str) -> Task | None:
        row = await connection.fetchrow(f"{_TASK} and id = $2", tenant_id, task_id)
        return _task_of(row) if row else None


async def run_of_turn(connection: Connection, tenant_id: str, turn_id: str) -> tuple[Task, TaskRun] | None:
    """Return the run of a turn with its task; None for a turn that no trigger started."""
    run = await connection.fetchrow(f"{_RUN} and r.turn_id = $2", tenant_id, turn_id)
    task = await connection.fetchrow(f"{_TASK} and id = $2", tenant_id, run["task_id"]) if run else None
    return (_task_of(task), _run_of(run)) if run and task else None


_PLAIN = {field.name for field in fields(Task)} - {"trigger", "kind", "output", "state", "deleted", "set_aside"}
_PLAIN_OF_RUN = {field.name for field in fields(TaskRun)} - {"state", "notices"}
"""The fields of a task and of a run that their rows hold as they are."""


def _task_of(row: asyncpg.Record) -> Task:
    return Task(
        trigger=stored_trigger(row["kind"], row["trigger"]),
        kind=Kind(row["kind"]),
        output=TaskOutput.from_json(row["output"]),
        state=TaskState(row["state"]),
        deleted=row["deleted_at"] is not None,
        set_aside=row["set_aside"] or None,
        **{name: row[name] for name in _PLAIN},
    )


def _run_of(row: asyncpg.Record) -> TaskRun:
    return TaskRun(
        state=RunState(row["state"]),
        notices=tuple(RunNotice.from_row(notice) for notice in row["notices"]),
        **{name: row[name] for name in _PLAIN_OF_RUN},
    )
