"""What a message costs a worker, and how soon it begins: a real worker process, its model in memory, no provider.

    uv run -m benchmarks.turns [--light 60] [--loaded 15] [--idle 10] [--people 8]

Servers of its own, settings as shipped but without memory and profile. A turn is one model call and a part sent to
the terminal. `light`: one message at a time; `loaded`: people who write as soon as they are answered; `idle`: nothing.
CPU is the processes' own, in ms a turn; Postgres' is without the connections of this benchmark, which takes the
messages in and asks whether they are answered. Transactions, and flushes of WAL that somebody waited for, are counted
with its own: at least the one that takes a message in. Times are by Postgres' clock, in ms. One line of JSON.
"""

import argparse
import asyncio
import base64
import json
import logging
import os
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import asyncpg
import psutil
import structlog
from redis.asyncio import Redis

from channels.terminal.receive import TerminalChannel
from core.db.database import Database
from core.db.migrate import migrate
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.people.access_policy import Access, Policy
from core.queue.wakeups import RedisWakeups
from tests.scripted_model import ScriptedModel, echo
from tests.services import private_postgres, private_valkey

_TIMES = """
select extract(epoch from t.started_at - i.received_at) * 1000 as begun,
       extract(epoch from o.sent_at - i.received_at) * 1000 as sent
from inbound i join turns t on t.tenant_id = i.tenant_id and t.id = i.turn_id
join outbound o on o.tenant_id = t.tenant_id and o.turn_id = t.id
where i.received_at >= $1 and o.sent_at is not null
"""
_OPEN = "select count(*) from inbound where state in ('waiting', 'taken')"
_UNSENT = "select count(*) from outbound where state in ('ready', 'sending')"
_OURS = """
select pid from pg_stat_activity where backend_type = 'client backend' and application_name <> 'onevalet worker'
"""
_FLUSHES = "select coalesce(sum(fsyncs), 0) from pg_stat_io where object = 'wal' and backend_type = 'client backend'"
_COMMITS = "select xact_commit from pg_stat_database where datname = current_database()"


@dataclass(slots=True)
class Bench:
    """The worker and what it works with."""

    admin: "asyncpg.Connection[asyncpg.Record]"
    redis: Redis
    worker: psutil.Process
    servers: dict[str, psutil.Process]
    people: list[TerminalChannel]

    async def measured(self, begun: float) -> dict[str, float]:
        """Return what everything has spent so far: CPU in ms, Redis' commands, transactions."""
        stats = await self.redis.info("commandstats")
        not_the_workers = [psutil.Process(row["pid"]) for row in await self.admin.fetch(_OURS)]
        ours = ("cmdstat_info", "cmdstat_client", "cmdstat_hello", "cmdstat_select")
        return {
            "worker": _cpu(self.worker),
            **{name: _cpu(process) for name, process in self.servers.items()},
            "commands": sum(value["calls"] for name, value in stats.items() if not name.startswith(ours)),
            "postgres": _cpu(self.servers["postgres"]) - sum(map(_cpu, not_the_workers)),
            "transactions": float(await self.admin.fetchval(_COMMITS)),
            "flushes": float(await self.admin.fetchval(_FLUSHES)),
            "seconds": time.monotonic() - begun,
        }

    async def until_answered(self) -> None:
        """Wait until nothing is left to answer."""
        while await self.admin.fetchval(_OPEN) or await self.admin.fetchval(_UNSENT):  # noqa: ASYNC110 - rows ring no bell
            await asyncio.sleep(0.02)


async def measure(light: int, loaded: float, idle: float, people: int) -> dict[str, object]:
    """Measure all three and return the figures."""
    async with _bench(people) as bench:
        for person in bench.people:
            await person.say("hello")
            await bench.until_answered()
        await asyncio.sleep(2)
        figures: dict[str, object] = {"load": round(os.getloadavg()[0], 1)}
        figures["light"] = await _phase(bench, lambda: _one_by_one(bench, light))
        figures["loaded"] = await _phase(bench, lambda: _all_at_once(bench, loaded))
        await asyncio.sleep(2)
        figures["idle"] = await _idle(bench, idle)
        return figures


async def _phase(bench: Bench, work: Callable[[], Awaitable[int]]) -> dict[str, float]:
    since, begun = await bench.admin.fetchval("select clock_timestamp()"), time.monotonic()
    before = await bench.measured(begun)
    turns = await work()
    await bench.until_answered()
    after = await bench.measured(begun)
    figures = {name: round((after[name] - before[name]) / turns, 2) for name in after if name != "seconds"}
    figures |= {"turns": turns, "a_second": round(turns / (after["seconds"] - before["seconds"]), 1)}
    rows = await bench.admin.fetch(_TIMES, since)
    for name in ("begun", "sent"):
        times = sorted(float(row[name]) for row in rows)
        figures[f"{name}_p50"] = round(statistics.median(times), 1)
        figures[f"{name}_p99"] = round(times[int(len(times) * 0.99)], 1)
    return figures


async def _one_by_one(bench: Bench, count: int) -> int:
    for number in range(count):
        await bench.people[number % len(bench.people)].say(f"line {number}")
        await bench.until_answered()
        await asyncio.sleep(random.uniform(0.02, 0.2))
    return count


async def _all_at_once(bench: Bench, seconds: float) -> int:
    until = time.monotonic() + seconds

    async def talk(person: TerminalChannel) -> int:
        said = 0
        while time.monotonic() < until:
            await person.say(f"line {said}")
            said += 1
            while await person.busy():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return said

    return sum(await asyncio.gather(*(talk(person) for person in bench.people)))


async def _idle(bench: Bench, seconds: float) -> dict[str, float]:
    begun = time.monotonic()
    before = await bench.measured(begun)
    await asyncio.sleep(seconds)
    after = await bench.measured(begun)
    spent = after["seconds"] - before["seconds"]
    cpu = {f"{name}_percent": (after[name] - before[name]) / spent / 10 for name in ("worker", *bench.servers)}
    rest = {f"{name}_a_second": (after[name] - before[name]) / spent for name in ("commands", "transactions")}
    return {name: round(value, 2) for name, value in (cpu | rest).items()}


@asynccontextmanager
async def _bench(people: int) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(private_postgres())
        valkey = await stack.enter_async_context(private_valkey())
        model = await stack.enter_async_context(ScriptedModel(echo))
        await migrate(postgres.url)
        admin = await asyncpg.connect(postgres.url)
        stack.push_async_callback(admin.close)
        redis = await stack.enter_async_context(Redis.from_url(valkey.url))
        environment = {
            **os.environ,
            "DATABASE_URL": postgres.url,
            "REDIS_URL": valkey.url,
            "ONEVALET_ACCESS": "open",
            "ONEVALET_SECRET_KEYS": base64.b64encode(bytes(32)).decode(),
            "ONEVALET_MODEL": "openai/scripted",
            "ONEVALET_MEMORY": "off",
            "ONEVALET_PROFILE": "off",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_API_BASE": model.url,
        }
        worker = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "onevalet", "worker", "--no-spare", env=environment, stderr=asyncio.subprocess.DEVNULL
        )
        stack.push_async_callback(worker.wait)
        stack.callback(worker.terminate)
        while not await admin.fetchval("select count(*) from worker_health"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        database, wakeups = Database(postgres.url), RedisWakeups(valkey.url)
        await wakeups.start()
        stack.push_async_callback(database.close)
        stack.push_async_callback(wakeups.stop)
        inbox = Inbox(database, wakeups, make_id, Access(Policy.OPEN))
        servers = {name: psutil.Process(await _pid(admin, redis, name)) for name in ("postgres", "redis")}
        lines = [TerminalChannel(inbox, database, make_id, f"person{number}") for number in range(people)]
        yield Bench(admin, redis, psutil.Process(worker.pid), servers, lines)


async def _pid(admin: "asyncpg.Connection[asyncpg.Record]", redis: Redis, name: str) -> int:
    if name == "redis":
        return int((await redis.info("server"))["process_id"])
    return psutil.Process(await admin.fetchval("select pg_backend_pid()")).ppid()


def _cpu(process: psutil.Process) -> float:
    """Return a process' own CPU and that of its children, in ms; children that ended are in their parent's."""
    spent = 0.0
    for one in (process, *process.children(recursive=True)):
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        spent += times.user + times.system
    times = process.cpu_times()
    return 1000 * (spent + times.children_user + times.children_system)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.turns")
    parser.add_argument("--light", type=int, default=60)
    parser.add_argument("--loaded", type=float, default=15)
    parser.add_argument("--idle", type=float, default=10)
    parser.add_argument("--people", type=int, default=8)
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    figures = asyncio.run(measure(options.light, options.loaded, options.idle, options.people))
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
