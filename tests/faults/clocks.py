"""T8: clocks that disagree: people's clock, which we hand in, and the machine's own, which steps and runs too fast."""

import asyncio
import re
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from core.clock import set_clock
from tests.eventually import eventually
from tests.faults.database import execute
from tests.faults.harness import Harness
from tests.faults.members import Member
from tests.faults.results import Result, conclude, deliver, settle, timed

LIBRARY = Path("/usr/lib")
"""Where Debian's package faketime puts its library, in a folder of the machine's kind."""
STEPS = ("+600", "-600", "+90", "-90", "+0")
"""What the machine's clock does in turn, in seconds off: far ahead, far behind, a little off, right again."""
STEPPED = "worker-stepped"
DRIFT = 1.3
"""How fast people's clock runs in one of the other workers."""
FAR = 60.0
"""Seconds off, from which a line of a log shows that its process lived in another time."""
_WORK = re.compile(r"\b(turn_finished|part_sent)\b")
RUNS_WITHIN = 60.0
STARTED_WITHIN = 90.0
_DUE = """
insert into tasks (tenant_id, id, number, title, kind, trigger, executor, action, anchor, due_at, next_at, created_at)
select t.tenant_id, 'task_clock_' || t.n, 1, 'Clock', 'schedule', jsonb_build_object('at', t.due), 'orchestrator',
       '{"instruction": "go"}', now(), t.due, t.due, now()
from (select tenant_id, n, now() + make_interval(secs => $1 * n / count(*) over ()) as due
      from (select tenant_id, row_number() over (order by tenant_id) as n from tenants) numbered) t
"""
_RUNS = """
select k.id, count(r.task_id) as runs, count(*) filter (where r.state = 'COMPLETED') as completed
from tasks k left join task_runs r on r.tenant_id = k.tenant_id and r.task_id = k.id
where k.id like 'task_clock_%' group by k.id
"""


async def clocks(harness: Harness, *, messages: int, seconds: float, steps: bool = True) -> Result:
    """T8: workers whose clocks are up to ten minutes off and step; leases go by the database's clock.

    `steps`: a machine's own clock as well, which takes longer.
    """
    result = Result("T8", "workers' clocks 45 s to 10 min off, stepping", "leases hold, nothing twice, tasks fire once")
    began = time.time()
    stepped = stepped_worker(harness) if steps else None
    machine = harness.folder / "machine-clock"
    machine.write_text(STEPS[-1])
    await asyncio.gather(*(worker.end() for worker in harness.workers))
    async with timed(result):
        if stepped is not None:
            await start_stepped(stepped)
            harness.workers.append(stepped)  # it ends with the others, whatever happens here
        files = [] if stepped else _given_clocks(harness)
        # By the one alone, so that what it loads at its first turn is behind it when its clock steps.
        first = harness.say(messages // 3, seconds=seconds / 3)
        await deliver(harness, first, result)
        files = files or _given_clocks(harness)
        await execute(harness, _DUE, seconds)
        sayings = harness.say(messages - len(first), seconds=seconds)
        writing = asyncio.create_task(deliver(harness, sayings, result))
        for number, step in enumerate(STEPS):
            machine.write_text(step)
            for other, path in enumerate(files):
                set_clock(path, offset=(-1) ** other * 45.0 + (number % 2) * -600.0, rate=1.0 if other else DRIFT)
            harness.strike(f"clocks stepped{f', one machine to {step}' if stepped else ''}")
            await asyncio.sleep(seconds / len(STEPS))
        await writing
        await _judge_tasks(harness, result)
        await settle(harness, result)
        await conclude(harness, [*first, *sayings], result)
    if steps:
        _judge_steps(harness, result, began, stepped)
    await asyncio.gather(*(worker.end() for worker in harness.workers))
    if stepped is not None:
        harness.workers.remove(stepped)
    for worker in harness.workers:
        worker.start()
    return result


def _given_clocks(harness: Harness) -> list[Path]:
    """Start each worker with a clock of its own, ten minutes ahead or behind; return their files."""
    files: list[Path] = []
    for number, worker in enumerate(worker for worker in harness.workers if worker.name != STEPPED):
        files.append(harness.folder / f"clock-{worker.name}.json")
        set_clock(files[-1], offset=(-1) ** number * 600.0)
        worker.start(ONEVALET_CLOCK=str(files[-1]))
    return files


def stepped_worker(harness: Harness) -> Member | None:
    """Make one more worker, on a machine whose own clock steps; None where faketime is not installed."""
    library = next(LIBRARY.glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        return None
    environment = harness.environment | {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(harness.folder / "machine-clock"),
        "FAKETIME_NO_CACHE": "1",
        # A step of the time of day leaves the time since the start alone, on a real machine too.
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    return Member(harness.folder, harness.forker, STEPPED, "worker", environment)


async def start_stepped(worker: Member) -> None:
    """Begin it, and wait until its imports are behind it."""
    await worker.start_alone()

    def started() -> bool:
        return "worker_started" in worker.log.read_text(errors="replace")

    await eventually(started, within=STARTED_WITHIN)


async def _judge_tasks(harness: Harness, result: Result) -> None:
    """Wait for every task's run, and see that each fired once, however many clocks thought that it was due."""
    connection = await harness.connect()
    try:

        async def all_run() -> bool:
            return all(row["completed"] >= 1 for row in await connection.fetch(_RUNS))

        with suppress(AssertionError):
            await eventually(all_run, within=RUNS_WITHIN)
        rows = await connection.fetch(_RUNS)
    finally:
        await connection.close()
    twice = [row["id"] for row in rows if row["runs"] > 1]
    never = [row["id"] for row in rows if row["completed"] < 1]
    result.numbers |= {
        "tasks that fell due": str(len(rows)),
        "fired twice": str(len(twice)),
        "never run": str(len(never)),
    }
    result.require(bool(rows), "no task fell due")
    result.require(not twice, f"{len(twice)} tasks fired twice")
    result.require(not never, f"{len(never)} tasks were not run")


def _judge_steps(harness: Harness, result: Result, began: float, stepped: Member | None) -> None:
    """Tell whether the machine's clock really stepped: by the times that its worker wrote beside its work."""
    if stepped is None:
        result.untested.append("a machine's own clock stepped: faketime is not installed")
        return
    ends = time.time()
    lines = [line.split() for line in stepped.log.read_text(errors="replace").splitlines() if _WORK.search(line)]
    times = [datetime.fromisoformat(words[0]).timestamp() for words in lines]
    ahead, behind = sum(at > ends + FAR for at in times), sum(at < began - FAR for at in times)
    result.numbers |= {
        "a machine's own clock stepped": f"by faketime to {', '.join(STEPS)} s; monotonic time is left alone",
        "what its worker did": f"{len(times)} turns ended and sends, {ahead} far ahead, {behind} far behind",
    }
    result.require(ahead + behind > 0, "nothing was done while the machine's clock was wrong: nothing was tested")
