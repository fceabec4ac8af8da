"""Tasks that fall due over scaled time while workers are killed: the outcome of each, and its lateness."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg

from core.clock import Clock, set_clock
from tests.eventually import eventually

ROOT = Path(__file__).parents[2]
REPEATS = 10
"""How often each repeated task falls due."""

_PEOPLE = """
with t as (insert into tenants (tenant_id, timezone)
           select 'tn_' || n, 'Europe/Berlin' from generate_series(1, $1::int) n returning tenant_id),
i as (insert into identities (tenant_id, id, channel, account, user_key, admitted)
      select tenant_id, 'i', 'none', 'a', tenant_id, 'open' from t returning tenant_id)
insert into conversations (tenant_id, id, identity_id, channel, account, peer, last_inbound_at)
select tenant_id, 'c_' || tenant_id, 'i', 'none', 'a', tenant_id, now() from i
"""
_ONCE = """
insert into tasks (tenant_id, id, number, title, kind, trigger, executor, action, anchor, due_at, next_at, created_at)
select 'tn_' || (n % $1::int + 1), 'task_' || n, n, 'Task', 'schedule', jsonb_build_object('at', due), 'orchestrator',
       '{"instruction": "go"}', $3, due, due, $3
from (select n, $3::timestamptz + $4::interval * (n::float8 / $2::int) as due from generate_series(1, $2::int) n) x
"""
_REPEATED = """
insert into tasks (tenant_id, id, number, title, kind, trigger, executor, action, anchor, due_at, next_at, created_at)
select 'tn_1', 'again_' || n, 1000000 + n, 'Again', 'schedule',
       jsonb_build_object('interval_minutes', extract(epoch from $3::interval) / 60, 'count', $2::int), 'orchestrator',
       '{"instruction": "go"}', $4::timestamptz, $4 + $3, $4 + $3, $4
from generate_series(1, $1::int) n
"""
_SEEN = """
select r.due_at, r.created_at, r.finished_at, r.state, t.attempts, r.task_id, r.occurrence
from task_runs r join turns t on t.tenant_id = r.tenant_id and t.id = r.turn_id
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run: how many tasks, over which span of scaled time, with a kill every few real seconds."""

    tasks: int
    again: int
    span: timedelta
    rate: float
    kill_every: float
    lease: float
    people: int = 50

    @property
    def occurrences(self) -> int:
        """Return how many occurrences fall due."""
        return self.tasks + self.again * REPEATS


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run. Lateness is in real seconds after an occurrence was due, ascending."""

    wanted: int
    runs: int
    occurrences: int
    completed: int
    early: int
    told: int
    kills: int
    to_row: Sequence[float]
    to_end: Sequence[float]
    taken_over: Sequence[float]

    @property
    def well(self) -> bool:
        """Return whether each occurrence ran once, on time, and was reported once."""
        once = self.wanted == self.runs == self.occurrences == self.completed == self.told
        return once and not self.early

    def lines(self) -> list[str]:
        """Return the outcome in words."""
        return [
            f"occurrences {self.wanted}  runs {self.runs}  completed {self.completed}  told {self.told}"
            f"  early {self.early}  kills {self.kills}",
            f"due to run row:  {_figures(self.to_row)}",
            f"due to its end:  {_figures(self.to_end)}",
            f"taken over from the dead, due to its end:  {_figures(self.taken_over)}",
        ]


async def run_plan(folder: Path, database_url: str, redis_url: str, plan: Plan) -> Outcome:
    """Run the plan with two workers, which are killed and replaced in turn."""
    clock_path = folder / "clock.json"
    set_clock(clock_path, rate=plan.rate)
    clock = Clock(clock_path)
    options = {"database": database_url, "redis": redis_url, "clock": str(clock_path), "lease": plan.lease}
    admin = await asyncpg.connect(database_url)
    try:
        async with forker(options | {"log": str(folder / "workers.log")}) as order:
            start = clock.now() + timedelta(seconds=1.5 * plan.rate)
            await admin.execute(_PEOPLE, plan.people)
            await admin.execute(_ONCE, plan.people, plan.tasks, start, plan.span)
            await admin.execute(_REPEATED, plan.again, REPEATS, plan.span / (REPEATS + 1), start)
            pids = [await order({"start": f"w{n}"}) for n in (1, 2)]
            kills = 0
            while clock.now() < start + plan.span:
                await asyncio.sleep(plan.kill_every)
                await order({"end": pids.pop(0), "signal": signal.SIGKILL})
                pids.append(await order({"start": f"w{kills + 3}"}))
                kills += 1
            await _until_quiet(admin, plan, folder)
            for pid in pids:
                await order({"end": pid, "signal": signal.SIGTERM})
        return await _outcome(admin, plan, json.loads(clock_path.read_text())["base"], kills)
    finally:
        await admin.close()


async def _until_quiet(admin: "asyncpg.Connection[asyncpg.Record]", plan: Plan, folder: Path) -> None:
    open_now = (
        "select (select count(*) from task_runs where finished_at is not null),"
        " (select count(*) from run_notices where state = 'handed_over')"
    )

    async def all_told() -> bool:
        seen = tuple(await admin.fetchrow(open_now) or ())
        assert seen == (plan.occurrences, plan.occurrences), f"{seen}\n{(folder / 'workers.log').read_text()[-3000:]}"
        return True

    await eventually(all_told)


async def _outcome(admin: "asyncpg.Connection[asyncpg.Record]", plan: Plan, base: float, kills: int) -> Outcome:
    rows = await admin.fetch(_SEEN)

    def late(row: asyncpg.Record, column: str) -> float:
        """Return the real seconds since an occurrence was due; people's time runs `rate` times as fast."""
        due = base + (row["due_at"].timestamp() - base) / plan.rate
        at: datetime = row[column]
        return float(at.astimezone(UTC).timestamp() - due)

    return Outcome(
        wanted=plan.occurrences,
        runs=len(rows),
        occurrences=len({(row["task_id"], row["occurrence"]) for row in rows}),
        completed=sum(row["state"] == "COMPLETED" for row in rows),
        early=sum(late(row, "created_at") < 0 for row in rows),
        told=await admin.fetchval("select count(*) from outbound where kind = 'notification'"),
        kills=kills,
        to_row=sorted(late(row, "created_at") for row in rows),
        to_end=sorted(late(row, "finished_at") for row in rows if row["attempts"] == 1),
        taken_over=sorted(late(row, "finished_at") for row in rows if row["attempts"] > 1),
    )


@asynccontextmanager
async def forker(options: dict[str, object]) -> "AsyncIterator[Order]":
    """Yield the process that starts and ends workers."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.triggers.workers", json.dumps(options), cwd=ROOT, stdin=-1, stdout=-1
    )
    order = Order(process)
    try:
        await order.answer()
        yield order
    finally:
        for pid in list(order.children):
            await order({"end": pid, "signal": signal.SIGKILL})
        assert process.stdin is not None
        process.stdin.close()
        await asyncio.wait_for(process.wait(), 30)


@dataclass(slots=True)
class Order:
    """The orders to the process that forks workers."""

    process: asyncio.subprocess.Process
    children: list[int] = field(default_factory=list)
    """The running workers."""

    async def __call__(self, order: dict[str, object]) -> int:
        """Send an order and return the worker's process id."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        pid = int((await self.answer())["pid"])
        if "start" in order:
            self.children.append(pid)
        else:
            self.children.remove(pid)
        return pid

    async def answer(self) -> dict[str, int]:
        """Read one line."""
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), 60)
        answer: dict[str, int] = json.loads(line)
        return answer


def _figures(seconds: Sequence[float]) -> str:
    if not seconds:
        return "none"
    p99 = seconds[min(int(len(seconds) * 0.99), len(seconds) - 1)]
    return f"n {len(seconds)}  p50 {seconds[len(seconds) // 2]:.3f} s  p99 {p99:.3f} s  max {seconds[-1]:.3f} s"
