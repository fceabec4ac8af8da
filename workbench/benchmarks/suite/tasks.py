"""Due tasks among many: claimed, rescheduled, and their runs started."""

import statistics

import asyncpg
import psutil

from core.db.database import Database
from onevalet.migrating import migrate
from tests.services import private_postgres
from workbench.benchmarks import triggers
from workbench.benchmarks.suite.metrics import FLOOR, OURS, Benchmark, Metric, Options, Plot, Samples, Target

_ABOUT = """\
Among these tasks, by cron in five time zones, 10,000 are due at once: each is claimed and rescheduled, and its run is
queued. Floor: statements that claim 1,000 tasks each and only move them on by a day."""
METRICS = (
    Metric("tasks", "due tasks taken, of 1,000,000", "a second", Target(0.8, more=True, times=FLOOR)),
    Metric("tasks-none", "a look when nothing is due, of 1,000,000", "ms", Target(1)),
)
_SIZES = (10_000, 100_000, 1_000_000)


async def run(options: Options) -> Samples:
    """Measure each size; the largest counts."""
    samples = Samples()
    lines: dict[str, list[tuple[float, float]]] = {OURS: [], FLOOR: []}
    for tasks in (2_000,) if options.small else _SIZES:
        measured = await _measure(tasks, options)
        for name, line in lines.items():
            line.append((tasks, statistics.median(measured[name])))
    for name in lines:
        samples.add("tasks", name, *measured[name])
    samples.add("tasks-none", OURS, *measured["none"])
    if not options.small:
        samples.plots.append(Plot("cost-by-tasks", "Due tasks taken", "tasks", "a second", lines))
    return samples


async def _measure(tasks: int, options: Options) -> dict[str, list[float]]:
    """Return the floor's tasks per second, ours, and the ms of a look that finds nothing."""
    async with private_postgres() as postgres:
        await migrate(postgres.url)
        eye = await asyncpg.connect(postgres.url, command_timeout=1200)
        database = Database(postgres.url, patience=60)
        server = psutil.Process(psutil.Process(await eye.fetchval("select pg_backend_pid()")).ppid())
        floors, ours = list[float](), list[float]()
        try:
            await triggers.fill(eye, tasks)
            await triggers.one_round(eye, database, tasks, server)  # plans are made, parsed schedules kept
            for _ in range(options.rounds):
                floors.append(await triggers.floor(eye, tasks))
                seconds, due, _, _ = await triggers.one_round(eye, database, tasks, server)
                ours.append(due / seconds)
            none = [await triggers.empty(database) * 1000 for _ in range(options.of(20, 3))]
        finally:
            await eye.close()
            await database.close()
    return {FLOOR: floors, OURS: ours, "none": none}


BENCHMARK = Benchmark("tasks", "Due tasks", _ABOUT, METRICS, run)
