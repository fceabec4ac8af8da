"""Tasks and runs in Postgres. Reading changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from core.db.database import Connection, Database
from core.json_types import JsonObject
from core.triggers.codec import Kind, kept_trigger, trigger_to_json
from core.triggers.types import RunState, Task, TaskOutput, TaskRun, TaskState

_TASK = "select * from tasks where tenant_id = $1"
_RUN = (
    "select r.*, coalesce((select jsonb_agg(jsonb_build_object('key', n.key, 'text', n.text, 'state', n.state, 'fate',"
    " n.fate, 'place', n.place, 'at', n.created_at) order by n.created_at) from run_notices n"
    " where n.tenant_id = r.tenant_id and n.run_id = r.id), '[]') as told from task_runs r where r.tenant_id = $1"
)


@dataclass(frozen=True, slots=True)
class SetAside:
    """A task that was set aside, and the error after which it was."""

    tenant_id: str
    task_id: str
    number: int
    cause: str


class TaskStore:
    """The tasks of all people, one tenant at a time."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def add(self, task: Task, now: datetime, most: int) -> Task | None:
        """Keep a new task under the next number; None when there are `most` already. Repeatable by its id."""
        async with self.database.tenant(task.tenant_id) as connection:
            # One at a time for each person, so that numbers are given once.
            await connection.execute("select 1 from tenants where tenant_id = $1 for update", task.tenant_id)
            if known := await self._task(connection, task.tenant_id, task.id):
                return known
            counts = await connection.fetchrow(
                "select coalesce(max(number), 0) + 1 as number, count(*) filter (where state = 'ACTIVE') as active"
                " from tasks where tenant_id = $1",
                task.tenant_id,
            )
            assert counts is not None  # noqa: S101 - an aggregate always gives a row
            if counts["active"] >= most:
                return None
            await connection.execute(
                "insert into tasks (tenant_id, id, number, title, kind, trigger, executor, action, output, state,"
                " anchor, due_at, next_at, zone, created_at)"
                " values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15)",
                task.tenant_id,
                task.id,
                counts["number"],
                task.title,
                task.kind.value,
                trigger_to_json(task.trigger),
                task.executor,
                task.action,
                task.output.to_json(),
                task.state.value,
                task.anchor,
                task.due_at,
                task.next_at,
                task.zone,
                now,
            )
            return await self._task(connection, task.tenant_id, task.id)

    async def get(self, tenant_id: str, task_id: str) -> Task | None:
        """Return a task, also one that was stopped."""
        async with self.database.tenant(tenant_id) as connection:
            return await self._task(connection, tenant_id, task_id)

    async def tasks(self, tenant_id: str, *, stopped: bool = False) -> Sequence[Task]:
        """Return a person's tasks by number; `stopped`: also those that were stopped."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"{_TASK} and ($2 or deleted_at is null) order by number",
                tenant_id,
                stopped,
            )
        return [task_of(row) for row in rows]

    async def on_events(self, tenant_id: str) -> Sequence[Task]:
        """Return a person's active tasks that wait for events."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(f"{_TASK} and kind = 'event' and state = 'ACTIVE' order by number", tenant_id)
        return [task_of(row) for row in rows]

    async def runs(self, tenant_id: str, task_id: str, most: int = 10) -> Sequence[TaskRun]:
        """Return the newest runs of a task, the newest first."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                f"{_RUN} and r.task_id = $2 order by r.created_at desc, r.id desc limit $3", tenant_id, task_id, most
            )
        return [run_of(row) for row in rows]

    async def run(self, tenant_id: str, run_id: str) -> tuple[Task, TaskRun] | None:
        """Return a run with its task."""
        async with self.database.tenant(tenant_id) as connection:
            row = await connection.fetchrow(f"{_RUN} and r.id = $2", tenant_id, run_id)
            task = await self._task(connection, tenant_id, row["task_id"]) if row else None
        return (task, run_of(row)) if row and task else None

    async def person(self, tenant_id: str) -> tuple[str, str]:
        """Return a person's timezone, empty while it is not known, and language."""
        async with self.database.tenant(tenant_id) as connection:
            row = await connection.fetchrow("select timezone, language from tenants where tenant_id = $1", tenant_id)
        return (row["timezone"], row["language"]) if row else ("", "")

    async def set_timezone(self, tenant_id: str, timezone: str) -> None:
        """Keep a person's timezone where none is known."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "update tenants set timezone = $2 where tenant_id = $1 and timezone = ''", tenant_id, timezone
            )

    async def change(self, task: Task, change: str, now: datetime) -> bool:
        """Pause, resume or delete a task as it is given; False where it was in no state that allows it."""
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
        """Start runs of one person's tasks, each once; return the lanes of those that are new."""
        rows = await self.database.rows("select start_runs($1,$2) as lane", tenant_id, list(runs))
        return [row["lane"] for row in rows]

    async def record_look(
        self, task: Task, watch: JsonObject, next_at: datetime | None, runs: Sequence[JsonObject]
    ) -> list[str]:
        """Keep what a look at a condition found, unless another look was quicker; return the lanes of new runs."""
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

    async def begin_look(self, task: Task, now: datetime, lease: timedelta) -> bool:
        """Count a look that is about to be made; False where another worker was quicker."""
        row = await self.database.call(
            "select begin_look($1,$2,$3,$4,$5) as begun", task.tenant_id, task.id, task.looks_begun, now, lease
        )
        return bool(row and row["begun"])

    async def put_off_look(self, task: Task) -> None:
        """Count a look no more that was stopped from outside."""
        await self.database.call("select put_off_look($1,$2,$3)", task.tenant_id, task.id, task.looks_begun)

    async def set_aside(self, tenant_id: str, task_id: str, cause: str, run: JsonObject) -> bool:
        """Disable a task that raised what nobody foresaw, and let its person be told by `run`; False if it rests.

        Its due moment stays: `retry` takes it up there.
        """
        async with self.database.tenant(tenant_id) as connection:
            found = await connection.fetchval(
                "update tasks set state = 'DISABLED', reason = $3, set_aside = $4, next_at = null,"
                " revision = revision + 1 where tenant_id = $1 and id = $2 and state = 'ACTIVE' returning id",
                *(tenant_id, task_id, run["reason"], cause),
            )
            if found is not None:
                await connection.execute("select start_run($1,$2,$3)", tenant_id, task_id, run)
        return found is not None

    async def retry(self, tenant_id: str, task_id: str, now: datetime) -> bool:
        """Try a task again that was set aside, from the moment at which it was due; False where it was not."""
        async with self.database.tenant(tenant_id) as connection:
            found = await connection.fetchval(
                "update tasks set state = 'ACTIVE', reason = '', failures = 0, revision = revision + 1,"
                " next_at = case when kind <> 'event' then coalesce(due_at, $3) end"
                " where tenant_id = $1 and id = $2 and set_aside <> '' and deleted_at is null returning id",
                *(tenant_id, task_id, now),
            )
        return found is not None

    async def find_set_aside(self, most: int = 100) -> list[SetAside]:
        """Return the tasks of all people that were set aside."""
        rows = await self.database.rows("select * from find_set_aside($1)", most)
        return [SetAside(row["tenant_id"], row["task_id"], row["number"], row["cause"]) for row in rows]

    async def event_runs(self, tenant_id: str, task_id: str, within: timedelta) -> int:
        """Count how often a task has run on events lately."""
        row = await self.database.call("select count_event_runs($1,$2,$3) as runs", tenant_id, task_id, within)
        return int(row["runs"]) if row else 0

    async def prune(self, kept: timedelta, limit: int = 100) -> int:
        """Delete runs, and tasks, that have been over for so long; return how many went."""
        runs = await self.database.call("select * from prune_runs($1,$2)", kept, limit)
        tasks = await self.database.call("select * from prune_tasks($1,$2)", kept, limit)
        return sum(int(one["pruned"]) for one in (runs, tasks) if one)

    async def next_due(self) -> datetime | None:
        """Return when the next task is due, of anybody's."""
        row = await self.database.call("select due from next_due_task()")
        due: datetime | None = row["due"] if row else None
        return due

    async def claim_notices(self, most: int, lease: timedelta) -> list[tuple[str, str, str]]:
        """Take what is to be told, of all people, for a time: (tenant, run, key)."""
        rows = await self.database.rows("select * from claim_notices($1,$2)", most, lease)
        return [(row["tenant_id"], row["run_id"], row["key"]) for row in rows]

    async def end_notice(self, tenant_id: str, run_id: str, key: str, end: JsonObject) -> None:
        """Note what became of one thing that was to be told: state, id, fate, place."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "update run_notices set state = $4, notification_id = $5, fate = $6, place = $7"
                " where tenant_id = $1 and run_id = $2 and key = $3",
                *(tenant_id, run_id, key, end["state"], end.get("id", ""), end.get("fate", ""), end.get("place", "")),
            )

    async def leave_notice(self, tenant_id: str, run_id: str, key: str, most: int) -> bool:
        """Let what could not be told come again later; True where it is set aside after `most` attempts."""
        row = await self.database.call("select leave_notice($1,$2,$3,$4) as failed", tenant_id, run_id, key, most)
        return bool(row and row["failed"])

    async def failed_notices(self, most: int = 100) -> list[tuple[str, int]]:
        """Return the people of whom something was to be told and was set aside, with how much."""
        rows = await self.database.rows("select * from find_failed_notices($1)", most)
        return [(row["tenant_id"], row["notices"]) for row in rows]

    async def retry_notices(self, tenant_id: str) -> int:
        """Tell again what was set aside; return how much that is."""
        row = await self.database.call("select retry_notices($1) as count", tenant_id)
        return int(row["count"]) if row else 0

    async def _task(self, connection: Connection, tenant_id: str, task_id: str) -> Task | None:
        row = await connection.fetchrow(f"{_TASK} and id = $2", tenant_id, task_id)
        return task_of(row) if row else None


async def run_of_turn(connection: Connection, tenant_id: str, turn_id: str) -> tuple[Task, TaskRun] | None:
    """Return the run whose turn it is, with its task; None for a turn that no trigger began."""
    run = await connection.fetchrow(f"{_RUN} and r.turn_id = $2", tenant_id, turn_id)
    task = await connection.fetchrow(f"{_TASK} and id = $2", tenant_id, run["task_id"]) if run else None
    return (task_of(task), run_of(run)) if run and task else None


def task_of(row: asyncpg.Record) -> Task:
    """Read a row of `tasks`."""
    return Task(
        tenant_id=row["tenant_id"],
        id=row["id"],
        number=row["number"],
        title=row["title"],
        trigger=kept_trigger(row["kind"], row["trigger"]),
        kind=Kind(row["kind"]),
        executor=row["executor"],
        action=row["action"],
        output=TaskOutput.from_json(row["output"]),
        state=TaskState(row["state"]),
        reason=row["reason"],
        anchor=row["anchor"],
        due_at=row["due_at"],
        next_at=row["next_at"],
        zone=row["zone"],
        fired=row["fired"],
        failures=row["failures"],
        watch=row["watch"],
        revision=row["revision"],
        looks_begun=row["looks_begun"],
        deleted=row["deleted_at"] is not None,
        set_aside=row["set_aside"],
        held=row["held"],
    )


def run_of(row: asyncpg.Record) -> TaskRun:
    """Read a row of `task_runs`, with what it had to say."""
    return TaskRun(
        id=row["id"],
        task_id=row["task_id"],
        occurrence=row["occurrence"],
        due_at=row["due_at"],
        state=RunState(row["state"]),
        reason=row["reason"],
        cause=row["cause"],
        conversation_id=row["conversation_id"] or "",
        turn_id=row["turn_id"] or "",
        created_at=row["created_at"],
        finished_at=row["finished_at"],
        told=tuple(row["told"]),
    )
