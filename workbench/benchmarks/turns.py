"""The cost of a message to a worker, and the delay of its turn: a real worker process, its model in memory, no
provider.

    uv run -m workbench.benchmarks.turns [--light 60] [--loaded 15] [--idle 10] [--people 8]

Servers of its own, settings as shipped. A turn is one model call and a part sent to the terminal. `light`: one message
at a time; `loaded`: people who write as soon as they are answered; `idle`: nothing. CPU is the processes' own, in ms a
turn, Postgres' without the connections of this benchmark; times are by Postgres' clock, in ms. One line of JSON.
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
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import asyncpg
import psutil
import structlog
from redis.asyncio import Redis

from channels.terminal.receive import TerminalChannel
from core.db.database import Database
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.people.access_policy import Access, Policy
from core.queue.wakeups import RedisWakeups
from onevalet.migrating import migrate
from tests.scripted_model import ScriptedModel
from tests.services import private_postgres, private_valkey
from workbench.benchmarks.cpu import cpu_of, until_rest
from workbench.benchmarks.whole.model import FACTS, answer, plain
from workbench.benchmarks.whole.plain_sql import wal_written
from workbench.benchmarks.whole.way import SHIPPED

_TIMES = """
select extract(epoch from t.started_at - i.received_at) * 1000 as begun,
       extract(epoch from o.sent_at - i.received_at) * 1000 as sent
from inbound i join turns t on t.tenant_id = i.tenant_id and t.id = i.turn_id
join outbound o on o.tenant_id = t.tenant_id and o.turn_id = t.id
where i.received_at >= $1 and o.sent_at is not null
"""
_BUSY = """
select c.peer from inbound i join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id
where i.state in ('waiting', 'taken')
union select c.peer from turns t join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
where t.state = 'running' or t.state = 'waiting' and t.ready
union select c.peer from outbound o join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
where o.state in ('ready', 'sending', 'checking')
"""
_LOOK_EVERY = 0.005
"""Seconds between two looks at who waits: rows ring no bell."""
_OTHERS = """
select pid from pg_stat_activity where backend_type = 'client backend' and application_name <> 'onevalet worker'
"""


@dataclass(slots=True)
class Bench:
    """The worker and its servers."""

    admin: "asyncpg.Connection[asyncpg.Record]"
    redis: Redis
    worker: psutil.Process
    servers: dict[str, psutil.Process]
    people: list[TerminalChannel]
    urls: tuple[str, str]
    """Postgres and Redis."""
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held during a query by `admin`."""
    looks: int = 0
    busy: frozenset[str] = frozenset()

    async def measured(self, begun: float) -> dict[str, float]:
        """Return the total use so far: CPU in ms, WAL in kB, Redis' commands."""
        stats = await self.redis.info("commandstats")
        async with self.asking:
            wal = await wal_written(self.admin) / 1000
            others = [psutil.Process(row["pid"]) for row in await self.admin.fetch(_OTHERS)]
        ours = ("cmdstat_info", "cmdstat_client", "cmdstat_hello", "cmdstat_select")
        return {
            "worker": 1000 * cpu_of(self.worker),
            "postgres": 1000 * (cpu_of(self.servers["postgres"]) - sum(map(cpu_of, others))),
            "redis": 1000 * cpu_of(self.servers["redis"]),
            "wal": wal,
            "commands": sum(value["calls"] for name, value in stats.items() if not name.startswith(ours)),
            "seconds": time.monotonic() - begun,
        }

    async def until_answered(self, person: str | None = None) -> None:
        """Wait until all messages are answered, of a person or of all people."""
        seen = self.looks + 1  # the look that is under way may have begun before
        while self.looks <= seen or (person in self.busy if person else self.busy):  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_EVERY)

    async def look(self) -> None:
        """Look again and again who waits."""
        while True:
            async with self.asking:
                self.busy = frozenset(row["peer"] for row in await self.admin.fetch(_BUSY))
            self.looks += 1
            await asyncio.sleep(_LOOK_EVERY)


async def measure(light: int, loaded: float, idle: float, people: int) -> dict[str, object]:
    """Measure all of them and return the figures."""
    async with opened(people) as bench:
        await settle(bench)
        figures: dict[str, object] = {"load": round(os.getloadavg()[0], 1)}
        figures["light"] = await phase(bench, lambda: one_by_one(bench, light))
        figures["loaded"] = await phase(bench, lambda: all_at_once(bench, loaded))
        await asyncio.sleep(2)
        figures["idle"] = await idle_for(bench, idle)
    return figures


async def settle(bench: Bench) -> None:
    """Store two facts of each person, so that one-time preparation is not measured."""
    for words in FACTS:
        for number, person in enumerate(bench.people):
            await person.say(f"{words} {number}")
            await bench.until_answered()
    await until_rest(bench.worker)


async def phase(bench: Bench, work: Callable[[], Awaitable[int]]) -> dict[str, float]:
    """Return the cost of a turn of some work, and the delays of its start and its answer."""
    async with bench.asking:
        since, begun = await bench.admin.fetchval("select clock_timestamp()"), time.monotonic()
    before = await bench.measured(begun)
    turns = await work()
    await bench.until_answered()
    seconds = time.monotonic() - begun - before["seconds"]
    await until_rest(bench.worker)
    after = await bench.measured(begun)
    figures = {name: round((after[name] - before[name]) / turns, 2) for name in after if name != "seconds"}
    figures |= {"turns": turns, "a_second": round(turns / seconds, 1)}
    async with bench.asking:
        rows = await bench.admin.fetch(_TIMES, since)
    if len(rows) < turns:
        raise RuntimeError(f"{len(rows)} of {turns} messages were answered by a turn")
    for name in ("begun", "sent"):
        times = sorted(float(row[name]) for row in rows)
        figures[f"{name}_p50"] = round(statistics.median(times), 2)
        figures[f"{name}_p99"] = round(times[int(len(times) * 0.99)], 2)
    return figures


async def one_by_one(bench: Bench, count: int) -> int:
    """Send messages in sequence, with pauses."""
    for number in range(count):
        await bench.people[number % len(bench.people)].say(plain(number, number))
        await bench.until_answered()
        await asyncio.sleep(random.uniform(0.02, 0.1))
    return count


async def all_at_once(bench: Bench, seconds: float, people: int | None = None) -> int:
    """Send messages for people, or all of them, for so long, each right after the previous answer."""
    until = time.monotonic() + seconds

    async def talk(number: int, person: TerminalChannel) -> int:
        said = 0
        while time.monotonic() < until:
            await person.say(plain(said, said))
            said += 1
            await bench.until_answered(f"person{number}")
        return said

    return sum(await asyncio.gather(*(talk(number, person) for number, person in enumerate(bench.people[:people]))))


async def idle_for(bench: Bench, seconds: float) -> dict[str, float]:
    """Return the use while no person writes."""
    begun = time.monotonic()
    before = await bench.measured(begun)
    await asyncio.sleep(seconds)
    after = await bench.measured(begun)
    spent = after["seconds"] - before["seconds"]
    cpu = {f"{name}_percent": (after[name] - before[name]) / spent / 10 for name in ("worker", *bench.servers)}
    commands = (after["commands"] - before["commands"]) / spent
    return {name: round(value, 2) for name, value in {**cpu, "commands_a_second": commands}.items()}


@asynccontextmanager
async def opened(people: int, settings: Mapping[str, str] = SHIPPED) -> AsyncIterator[Bench]:
    """Run a worker with its servers, and people who may write; these settings come besides those of a bench."""
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(private_postgres())
        valkey = await stack.enter_async_context(private_valkey())
        model = await stack.enter_async_context(ScriptedModel(answer))
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
            "ONEVALET_RATE_PER_MINUTE": "1000000",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_API_BASE": model.url,
            **settings,
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
        bench = Bench(admin, redis, psutil.Process(worker.pid), servers, lines, (postgres.url, valkey.url))
        looking = asyncio.create_task(bench.look())
        stack.callback(looking.cancel)
        yield bench


async def _pid(admin: "asyncpg.Connection[asyncpg.Record]", redis: Redis, name: str) -> int:
    if name == "redis":
        return int((await redis.info("server"))["process_id"])
    return psutil.Process(await admin.fetchval("select pg_backend_pid()")).ppid()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.turns")
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
