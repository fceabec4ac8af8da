"""How the cost of a plain message grows: with people, history, memories, and with what waits."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from workbench.benchmarks import backlog, memories, turns
from workbench.benchmarks.cpu import until_rest
from workbench.benchmarks.suite.metrics import FLOOR, OURS, Benchmark, Metric, Options, Plot, Points, Samples, Target
from workbench.benchmarks.turns import Bench

_ABOUT = """\
A plain message to worker and Postgres while one number grows: people, a conversation's earlier messages, memories of
the only person who writes, once the worker has its index of them; then a message, claims of each kind and a look for
talks while others wait. Floor: the smallest number."""
_FLAT = Target(1.25, times=FLOOR)
METRICS = (
    Metric("growth-people", "100,000 people", "ms CPU", _FLAT),
    Metric("growth-history", "20,000 earlier messages", "ms CPU", _FLAT),
    Metric("growth-memories", "100,000 memories", "ms CPU"),
    Metric("growth-wal", "WAL, the most of these", "kB", _FLAT),
    Metric("growth-backlog", "100,000 that wait", "µs CPU", _FLAT),
)
_PEOPLE = """
with t as (insert into tenants (tenant_id) select 'more_' || n from generate_series($1::int + 1, $2::int) n
           returning tenant_id),
i as (insert into identities (tenant_id, id, channel, account, user_key, admitted)
      select tenant_id, 'i', 'none', 'a', tenant_id, 'open' from t returning tenant_id)
insert into conversations (tenant_id, id, identity_id, channel, account, peer, last_inbound_at)
select tenant_id, 'c_' || tenant_id, 'i', 'none', 'a', tenant_id, now() from i
"""
_HISTORY = """
insert into history (tenant_id, conversation_id, position, session, message)
select h.tenant_id, h.conversation_id, h.position - 2 * n, h.session, h.message
from (select *, row_number() over (partition by conversation_id order by position) as place from history) h,
     generate_series($1::int / 2 + 1, $2::int / 2) n where h.place <= 2
"""
_BEGUN, _INDEXED = 12.0, 900.0
"""Seconds until a worker begins with the index of a person's memories, and at most until it has it."""
_WRITER = "select tenant_id from conversations where channel = 'terminal' and peer = 'person0'"


@dataclass(frozen=True, slots=True)
class _Number:
    """What grows, its values, and how it does so from one to the next; `writers`: how many people write, if not all."""

    name: str
    of: str
    values: Sequence[int]
    grow: Callable[[Bench, int, int], Awaitable[None]]
    writers: int | None = None


async def run(options: Options) -> Samples:
    """Measure each value once: what counts is the line."""
    samples = Samples()
    wal: dict[str, Points] = {}
    async with turns.opened(options.of(8, 2)) as bench:
        await turns.settle(bench)
        for number in _NUMBERS:
            wal[number.of] = await _measure(samples, bench, number, options)
    most = max(wal.values(), key=lambda line: line[-1][1])
    samples.add("growth-wal", FLOOR, most[0][1])
    samples.add("growth-wal", OURS, most[-1][1])
    samples.plots.append(Plot("wal-by-size", "WAL of a plain message", "so many", "kB", wal))
    await _measure_backlog(samples, options)
    return samples


async def _measure(samples: Samples, bench: Bench, number: _Number, options: Options) -> Points:
    """Measure a message at each value; return its WAL."""
    wal: Points = []
    lines: dict[str, Points] = {"worker": [], "Postgres": []}
    before = 0
    for value in number.values[: options.of(4, 2)]:
        await number.grow(bench, before, value)
        await _ask(bench, "vacuum analyze")
        # After a checkpoint, the first change of each page writes it whole: what grew would count as a message's WAL.
        await _ask(bench, "checkpoint")
        await turns.all_at_once(bench, options.of(4, 1), number.writers)
        await until_rest(bench.worker, window=_BEGUN if number.writers and not options.small else 0.5, longest=_INDEXED)
        figures = await turns.phase(bench, partial(turns.all_at_once, bench, options.of(4, 1), number.writers))
        for line in lines:
            lines[line].append((value, figures[line.lower()]))
        wal.append((value, figures["wal"]))
        before = value
    _add(samples, f"growth-{number.name}", lines)
    samples.plots.append(Plot(f"cost-by-{number.name}", "A plain message, durable", number.of, "ms CPU", lines))
    return wal


async def _measure_backlog(samples: Samples, options: Options) -> None:
    sizes = options.of(1_000, 100), options.of(10_000, 200), *(() if options.small else (100_000,))
    lines: dict[str, Points] = {}
    async for size, figures in backlog.measure(sizes, options.of(200, 2)):
        for name, figure in figures.items():
            lines.setdefault(name, []).append((size, figure))
    _add(samples, "growth-backlog", lines)
    samples.plots.append(Plot("cost-by-backlog", "Postgres, while others wait", "people who wait", "µs CPU", lines))


def _add(samples: Samples, metric: str, lines: dict[str, Points]) -> None:
    """Add the sums of all lines at the smallest value, which is the floor, and at the largest."""
    for contestant, place in ((FLOOR, 0), (OURS, -1)):
        samples.add(metric, contestant, sum(points[place][1] for points in lines.values()))


async def _more_people(bench: Bench, before: int, after: int) -> None:
    await _ask(bench, _PEOPLE, before, after)


async def _more_history(bench: Bench, before: int, after: int) -> None:
    await _ask(bench, _HISTORY, before, after)


async def _more_memories(bench: Bench, before: int, after: int) -> None:
    async with bench.asking:
        await memories.fill(bench.admin, await bench.admin.fetchval(_WRITER), after - before)


async def _ask(bench: Bench, statement: str, *arguments: object) -> None:
    async with bench.asking:
        await bench.admin.execute(statement, *arguments)


_NUMBERS = (
    _Number("people", "people", (100, 1_000, 10_000, 100_000), _more_people),
    _Number("history", "earlier messages", (20, 200, 2_000, 20_000), _more_history),
    _Number("memories", "memories", (10, 1_000, 10_000, 100_000), _more_memories, writers=1),
)
BENCHMARK = Benchmark("growth", "Growth", _ABOUT, METRICS, run)
