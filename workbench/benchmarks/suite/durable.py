"""A durable message: the delay of its turn, the growth of its cost, and the cost of an idle worker."""

import asyncio
import statistics
from functools import partial

import asyncpg
from redis.asyncio import Redis

from workbench.benchmarks import turns
from workbench.benchmarks.peers.processes import serving
from workbench.benchmarks.suite.metrics import FLOOR, OURS, Benchmark, Metric, Options, Plot, Points, Samples, Target
from workbench.benchmarks.turns import Bench

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
_HISTORY = """
insert into history (tenant_id, conversation_id, position, session, message)
select h.tenant_id, h.conversation_id, h.position - 2 * n, h.session, h.message
from (select *, row_number() over (partition by conversation_id order by position) as place from history) h,
     generate_series($1::int + 1, $2::int) n where h.place <= 2
"""
_PEOPLE = """
with t as (insert into tenants (tenant_id) select 'more_' || n from generate_series($1::int + 1, $2::int) n
           returning tenant_id),
i as (insert into identities (tenant_id, id, channel, account, user_key, admitted)
      select tenant_id, 'i', 'none', 'a', tenant_id, 'open' from t returning tenant_id)
insert into conversations (tenant_id, id, identity_id, channel, account, peer, last_inbound_at)
select tenant_id, 'c_' || tenant_id, 'i', 'none', 'a', tenant_id, now() from i
"""


_FLOOR_TABLE = """
create table if not exists floor_hops (id bigint primary key, received_at timestamptz, taken_at timestamptz)
"""
_FLOOR_CLAIM = "update floor_hops set taken_at = clock_timestamp() where id = $1 and taken_at is null returning id"
_FLOOR_TIMES = "select extract(epoch from taken_at - received_at) * 1000 as took from floor_hops"


async def run(options: Options) -> Samples:
    """Measure messages, plain and with tools, in turns, then how the cost grows; count them apart."""
    samples = Samples()
    count, seconds = options.of(25, 2), options.of(5, 1)
    async with turns.opened(options.of(8, 2)) as bench:
        await turns.settle(bench)
        for _ in range(options.rounds):
            samples.add("begun", FLOOR, await _floor(bench, count))
            light = await turns.phase(bench, lambda: turns.one_by_one(bench, count))
            samples.add("begun", OURS, light["begun_p50"])
            loaded = await turns.phase(bench, partial(turns.all_at_once, bench, seconds))
            samples.add("commands", OURS, loaded["commands"])
        samples.add("idle", OURS, (await turns.idle_for(bench, options.of(10, 1)))["worker_percent"])
        for name in PEERS if options.peers else ():
            for _ in range(min(options.rounds, 3)):
                async with serving(options.peers[name], "hop.py", name, bench.urls[1]) as (_, line):
                    samples.add("begun", name, float(line))
        if not options.small:
            samples.plots.append(await _by_people(bench))
            samples.plots.append(await _by_history(bench))
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


async def _by_people(bench: Bench) -> Plot:
    lines: dict[str, Points] = {"worker": [], "Postgres": []}
    before = 0
    for people in (100, 1_000, 10_000, 100_000):
        await _ask(bench, _PEOPLE, before, people)
        before = people
        await _add_point(bench, lines, people)
    return Plot("cost-by-people", "A plain message, durable", "people", "ms CPU", lines)


async def _by_history(bench: Bench) -> Plot:
    lines: dict[str, Points] = {"worker": [], "Postgres": []}
    before = 0
    for messages in (20, 200, 2_000, 20_000):
        await _ask(bench, _HISTORY, before // 2, messages // 2)
        before = messages
        await _add_point(bench, lines, messages)
    return Plot("cost-by-history", "A plain message, durable", "earlier messages", "ms CPU", lines)


async def _add_point(bench: Bench, lines: dict[str, Points], at: int) -> None:
    await _ask(bench, "vacuum analyze")
    await turns.all_at_once(bench, 0.5)
    figures = await turns.phase(bench, lambda: turns.all_at_once(bench, 3))
    lines["worker"].append((at, figures["worker"]))
    lines["Postgres"].append((at, figures["postgres"]))


async def _ask(bench: Bench, statement: str, *arguments: object) -> None:
    async with bench.asking:
        await bench.admin.execute(statement, *arguments)


BENCHMARK = Benchmark("durable", "A durable message", _ABOUT, METRICS, run)
