"""The whole way: a text's webhook in, the answer sent to the provider, by a web and a worker process."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from tests.postgres_meter import wal_flushes
from workbench.benchmarks.suite.metrics import (
    EARLIER,
    FLOOR,
    LEAN,
    OURS,
    Benchmark,
    Metric,
    Options,
    Plot,
    Points,
    Samples,
    Target,
)
from workbench.benchmarks.whole.checkouts import HERE, Checkout, earlier
from workbench.benchmarks.whole.model import FACTS, SUM, plain
from workbench.benchmarks.whole.plain_sql import PlainSql
from workbench.benchmarks.whole.way import LEAN as WITHOUT_MEMORY
from workbench.benchmarks.whole.way import SHIPPED, Spent, Way, opened, sustained

_ABOUT = f"""\
From a text's webhook to the answer handed to the provider, by one web and one worker process, with one model call, or
two with two tools between them. Each person has told two facts, and one message in five tells another. `{EARLIER}` is
an earlier commit as shipped. CPU is of all that a message leads to. The floor is plain SQL that writes its rows over
one connection, without functions, keys, triggers and row-level security. Round trips, transactions and flushes of the
WAL are the worker's. Eight people write again once they are answered; in p50 one text is under way at a time; sustained
are 32 people. The simulated model, provider and people share the machine's cores."""
_KINDS = {"plain": "a plain message", "tools": "a message with two tools"}


def _costs(kind: str, title: str, trips: float) -> tuple[Metric, ...]:
    return (
        Metric(f"whole-worker-{kind}", f"{title}: the worker", "ms CPU", Target(0.45, times=EARLIER)),
        Metric(f"whole-postgres-{kind}", f"{title}: Postgres", "ms CPU", Target(0.35, times=EARLIER)),
        Metric(f"whole-web-{kind}", f"{title}: web", "ms CPU"),
        Metric(f"whole-wal-{kind}", f"{title}: WAL", "kB"),
        Metric(f"whole-trips-{kind}", f"{title}: round trips to Postgres", "a message", Target(trips)),
        Metric(f"whole-transactions-{kind}", f"{title}: transactions", "a message", Target(9)),
        Metric(f"whole-flushes-{kind}", f"{title}: flushes of the WAL", "a message", Target(4)),
    )


METRICS = (
    *(metric for kind, trips in (("plain", 7), ("tools", 9)) for metric in _costs(kind, _KINDS[kind], trips)),
    Metric(
        "whole-limit-postgres",
        "a message with two tools, lean, beside plain SQL: Postgres",
        "ms CPU",
        Target(2.5, times=FLOOR),
    ),
    Metric("whole-limit-wal", "the same: WAL", "kB", Target(16)),
    Metric("whole-plans", "plans of Postgres in a worker's first 100 messages", "a message", Target(10)),
    Metric("whole-pause", "pause of the worker by the garbage collector, p99.9 of a turn", "ms", Target(20)),
    Metric("whole-light", "webhook in to answer handed to the provider, p50", "ms", Target(30)),
    Metric("whole-rate", "sustained by one web and one worker", "turns/s", Target(100, more=True)),
    Metric("whole-memory-web", "memory of web with three channels after 40 turns", "MB", Target(85)),
    Metric("whole-memory-worker", "memory of the worker with three channels after 40 turns", "MB", Target(190)),
)
_PEOPLE, _WARM = 8, 40
_MADE = "select coalesce(sum(plans), 0)::int from pg_stat_statements where query not like '%pg_stat_statements%'"


@dataclass(slots=True)
class _Contestant:
    name: str
    settings: dict[str, str]
    checkout: Checkout
    way: Way = field(default_factory=lambda: Way(0))
    """Its processes, while they run."""
    turns: int = 0
    """How many were measured."""


async def run(options: Options) -> Samples:
    """Measure all contestants in turns, then count the round trips and rows, which do not depend on the machine."""
    samples = Samples()
    contestants = _contestants(options)
    if not options.small:  # a process that compiles what it loads is larger
        await asyncio.gather(*(asyncio.to_thread(one.checkout.compile) for one in contestants))
    async with AsyncExitStack() as stack:
        for one in contestants:
            one.way = await stack.enter_async_context(opened(one.settings, one.checkout, channels=True))
            await _warm(one.way, options)
            for process in ("web", "worker"):
                samples.add(f"whole-memory-{process}", one.name, one.way.memory(process))
        floor = await PlainSql.of(contestants[0].way.connection)
        for _ in range(options.rounds):
            for kind in _KINDS:
                await _measure_floor(samples, floor, kind, options)
                for one in contestants:
                    await _measure(samples, one, kind, options)
            for one in contestants:
                await _measure_times(samples, one, options)
        for one in contestants:
            longest, rare = one.way.longest_pauses(), one.turns // 1000
            samples.add("whole-pause", one.name, longest[rare] if len(longest) > rare else 0.0)
        if not options.small:
            samples.plots += await _by_concurrency(contestants[0].way)
    for one in contestants[: options.of(len(contestants), 1)]:
        await _count(samples, one, options)
    return samples


def _contestants(options: Options) -> Sequence[_Contestant]:
    ours = [_Contestant(OURS, SHIPPED, HERE), _Contestant(LEAN, WITHOUT_MEMORY, HERE)]
    return [*ours, _Contestant(EARLIER, SHIPPED, earlier(EARLIER))] if options.earlier else ours


async def _warm(way: Way, options: Options) -> None:
    """Let each person tell two facts, and 40 turns be done."""
    people = options.of(_PEOPLE, 2)
    for turn in range(options.of(_WARM, 4)):
        facts = FACTS[turn // people] if turn < people * len(FACTS) else plain(turn)
        await way.ask(turn % people, facts)
    await way.rest()
    way.longest_pauses()


async def _talk(way: Way, people: int, messages: int, kind: str) -> int:
    """Let people write so many messages in all, each once the previous is answered."""

    async def talk(person: int) -> None:
        for number in range(messages // people):
            await way.ask(person, SUM if kind == "tools" else plain(number))

    await asyncio.gather(*(talk(person) for person in range(people)))
    return messages // people * people


async def _measure_floor(samples: Samples, floor: PlainSql, kind: str, options: Options) -> None:
    cpu, wal = await floor.run(options.of(500, 20), tools=kind == "tools")
    for name, figure in (("postgres", cpu), ("wal", wal)):
        samples.add(f"whole-{name}-{kind}", FLOOR, figure)
        if kind == "tools":
            samples.add(f"whole-limit-{name}", FLOOR, figure)


async def _measure(samples: Samples, one: _Contestant, kind: str, options: Options) -> None:
    before = await one.way.spent()
    messages = await _talk(one.way, options.of(_PEOPLE, 2), options.of(160, 4), kind)
    one.turns += messages
    await one.way.rest()
    spent = await one.way.spent() - before
    for name in Spent.__slots__:
        samples.add(f"whole-{name}-{kind}", one.name, getattr(spent, name) / messages)
        if kind == "tools" and one.name == LEAN and name in ("postgres", "wal"):
            samples.add(f"whole-limit-{name}", OURS, getattr(spent, name) / messages)


async def _measure_times(samples: Samples, one: _Contestant, options: Options) -> None:
    times = sorted([await one.way.ask(person % _PEOPLE) for person in range(options.of(30, 3))])
    samples.add("whole-light", one.name, times[len(times) // 2] * 1000)
    rate, _ = await sustained(one.way, options.of(32, 2), options.of(6, 1))
    samples.add("whole-rate", one.name, rate)
    await one.way.rest()


async def _count(samples: Samples, one: _Contestant, options: Options) -> None:
    """Count plans, statements, transactions and flushes, of fresh processes."""
    people = options.of(_PEOPLE, 2)
    async with opened(one.settings, one.checkout, counted=True) as way:
        assert way.meter is not None  # noqa: S101 - it is counted
        await way.connection.execute("select pg_stat_statements_reset()")
        messages = await _talk(way, people, options.of(104, 4), "plain")
        await way.rest()
        samples.add("whole-plans", one.name, await way.connection.fetchval(_MADE) / messages)
        for kind in _KINDS:
            await _talk(way, people, options.of(16, 2), kind)
            await way.rest()
            before = await wal_flushes(way.url)
            await way.rest()  # connections are opened again
            way.meter.clear()
            messages = await _talk(way, people, options.of(80, 4), kind)
            await way.rest()
            samples.add(f"whole-trips-{kind}", one.name, len(way.meter.statements) / messages)
            samples.add(f"whole-transactions-{kind}", one.name, way.meter.transactions / messages)
            samples.add(f"whole-flushes-{kind}", one.name, (await wal_flushes(way.url) - before) / messages)


async def _by_concurrency(way: Way) -> list[Plot]:
    rates: Points = []
    times: dict[str, Points] = {"p50": [], "p95": [], "p99": []}
    for people in (1, 4, 16, 32):
        rate, took = await sustained(way, people, 6)
        rates.append((people, rate))
        for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            times[label].append((people, sorted(took)[int(len(took) * share)] * 1000))
    return [
        Plot(
            "whole-way-by-concurrency",
            "Whole way, turns a second",
            "people who write at once",
            "turns/s",
            {OURS: rates},
        ),
        Plot("whole-way-latency", "Whole way, time of a turn", "people who write at once", "ms", times),
    ]


BENCHMARK = Benchmark("whole-way", "The whole way", _ABOUT, METRICS, run)
