"""A durable message: the delay of its turn, and the cost of an idle worker."""

import asyncio
import statistics
from contextlib import AsyncExitStack
from functools import partial

import asyncpg
from redis.asyncio import Redis

from workbench.benchmarks import turns
from workbench.benchmarks.peers.processes import serving
from workbench.benchmarks.suite.metrics import FLOOR, LEAN, OURS, Benchmark, Metric, Options, Samples, Target
from workbench.benchmarks.turns import Bench
from workbench.benchmarks.whole.way import LEAN as WITHOUT_MEMORY

PEERS = ("taskiq", "arq")
_ABOUT = """\
A committed message is taken by a worker, answered by one model call, and handed to a channel that costs nothing. It
survives a crash at any point, which no peer does. The floor from commit to begun is an insert, a push to a Redis list,
a pop and one update; the peers are hops through their queues, without a database."""
METRICS = (
    Metric("begun", "commit to turn begun, p50", "ms", Target(1.5, times=FLOOR)),
    Metric("commands", "Redis commands of a plain message", "a message", Target(10)),
    Metric("idle", "an idle worker", "% of a core", Target(1)),
)
_FLOOR_TABLE = """
create table if not exists floor_hops (id bigint primary key, received_at timestamptz, taken_at timestamptz)
"""
_FLOOR_CLAIM = "update floor_hops set taken_at = clock_timestamp() where id = $1 and taken_at is null returning id"
_FLOOR_TIMES = "select extract(epoch from taken_at - received_at) * 1000 as took from floor_hops"


async def run(options: Options) -> Samples:
    """Measure messages one by one and many at a time, as shipped and lean in turns, and then workers at rest."""
    samples = Samples()
    count, people = options.of(25, 2), options.of(8, 2)
    async with AsyncExitStack() as stack:
        benches = {OURS: await stack.enter_async_context(turns.opened(people))}
        if not options.small:
            benches[LEAN] = await stack.enter_async_context(turns.opened(people, WITHOUT_MEMORY))
        for bench in benches.values():
            await turns.settle(bench)
        for _ in range(options.rounds):
            samples.add("begun", FLOOR, await _floor(benches[OURS], count))
            for name, bench in benches.items():
                light = await turns.phase(bench, partial(turns.one_by_one, bench, count))
                samples.add("begun", name, light["begun_p50"])
                loaded = await turns.phase(bench, partial(turns.all_at_once, bench, options.of(3, 1)))
                samples.add("commands", name, loaded["commands"])
        at_rest = await asyncio.gather(*(turns.idle_for(bench, options.of(10, 1)) for bench in benches.values()))
        for name, figures in zip(benches, at_rest, strict=True):
            samples.add("idle", name, figures["worker_percent"])
        for name in PEERS if options.peers else ():
            for _ in range(min(options.rounds, 3)):
                async with serving(options.peers[name], "hop.py", name, benches[OURS].urls[1]) as (_, line):
                    samples.add("begun", name, float(line))
    return samples


async def _floor(bench: Bench, count: int) -> float:
    """Return the ms of a hop, made of no more than it takes."""
    url, redis_url = bench.urls
    writer, reader = await asyncpg.connect(url), await asyncpg.connect(url)
    claimed = asyncio.Semaphore(0)
    try:
        async with Redis.from_url(redis_url) as pushing, Redis.from_url(redis_url) as popping:
            await writer.execute(_FLOOR_TABLE)
            await writer.execute("truncate floor_hops")

            async def work() -> None:
                for _ in range(count):
                    _, told = await popping.blpop(["floor_hops"])
                    await reader.fetchval(_FLOOR_CLAIM, int(told))
                    claimed.release()

            working = asyncio.create_task(work())
            for number in range(count):
                await writer.execute("insert into floor_hops values ($1, clock_timestamp())", number)
                await pushing.rpush("floor_hops", number)
                await claimed.acquire()
            await working
            return statistics.median(float(row["took"]) for row in await writer.fetch(_FLOOR_TIMES))
    finally:
        await writer.close()
        await reader.close()


BENCHMARK = Benchmark("durable", "A durable message", _ABOUT, METRICS, run)
