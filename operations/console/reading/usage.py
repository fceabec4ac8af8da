"""Usage and its cost: sums by day, person, task, model and tool, read from the sums that workers keep."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import asyncpg

from operations.console.access import Scope

_OPEN_DAYS = 2
"""Days, by UTC, that are not over everywhere: today, and yesterday in the zones behind it."""
PEOPLE_DAYS = 30
"""The last days of a period for which people are compared: each has a few rows a day."""
SHOWN = 30
"""Number of listed people and tasks: those with the highest spending."""
_SUMS = (
    "sum(calls)::bigint as calls, sum(failed)::bigint as failed, sum(input_tokens)::bigint as input_tokens,"
    " sum(output_tokens)::bigint as output_tokens, sum(cached_tokens)::bigint as cached_tokens, sum(cost) as cost,"
    " sum(took_ms)::bigint as took_ms from usage_days where tenant_id = $1 and day between $2 and $3"
)
_MY_USAGE = f"select day, kind, name, {_SUMS} group by day, kind, name"
_MY_TASKS = (
    f"select $1 as tenant_id, task_id, {_SUMS} and kind = 'model' and task_id <> ''"
    f" group by task_id order by sum(cost) desc, task_id limit {SHOWN}"
)
_MY_SPENDING = (
    "select coalesce(s.day, g.day) as day, coalesce(s.spent, 0) as spent, coalesce(g.segments, 0) as segments,"
    " coalesce(s.texts, 0) as texts from (select x.day, x.spent, t.spent as texts from spending x"
    "  left join spending t on t.tenant_id = x.tenant_id and t.day = x.day and t.task_id = 'texts'"
    "  where x.tenant_id = $1 and x.task_id = '' and x.day between $2 and $3) s"
    " full join (select x.day, x.segments from segment_days x where x.tenant_id = $1 and x.day between $2 and $3) g"
    " on g.day = s.day"
)


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days, the first and the last included."""

    first: date
    last: date

    @classmethod
    def until(cls, last: date, days: int) -> "Period":
        return cls(last - timedelta(days=days - 1), last)

    def newest(self, days: int) -> date:
        """Return the first of its last `days` days."""
        return max(self.first, self.last - timedelta(days=days - 1))

    def days(self) -> list[date]:
        return [self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1)]


@dataclass(frozen=True, slots=True)
class Used:
    """A sum of calls. `took_ms`: of all of them together."""

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: Decimal = Decimal(0)
    took_ms: int = 0

    def __add__(self, other: "Used") -> "Used":
        return Used(
            self.calls + other.calls,
            self.failed + other.failed,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cost + other.cost,
            self.took_ms + other.took_ms,
        )

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def mean_ms(self) -> float:
        return self.took_ms / self.calls if self.calls else 0.0


NOTHING = Used()


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The usage of a kind and name on a day."""

    day: date
    kind: str
    name: str
    used: Used


@dataclass(frozen=True, slots=True)
class Spending:
    """Money spent, background work included, and the segments of SMS that were sent, with their part of the money."""

    spent: Decimal = Decimal(0)
    segments: int = 0
    texts: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Spender:
    """A person with the amount spent for them."""

    tenant_id: str
    spending: Spending
    used: Used


@dataclass(frozen=True, slots=True)
class Usage:
    """The sums of a period. `spenders`: for operators only; `tasks` by person and id. Both: those that cost most."""

    period: Period
    rows: tuple[UsageRow, ...]
    spending: dict[date, Spending]
    spenders: tuple[Spender, ...] = ()
    tasks: dict[tuple[str, str], Used] = field(default_factory=dict)

    def total(self, kind: str) -> Used:
        """Return the sum of all usage of a kind."""
        return sum((row.used for row in self.rows if row.kind == kind), NOTHING)

    def by[T](self, key: Callable[[UsageRow], T], *kinds: str) -> dict[T, Used]:
        """Return sums of some kinds by a key, those that cost most first, then those that were called most."""
        sums: dict[T, Used] = defaultdict(Used)
        for row in self.rows:
            # A step without a name called no model: it holds the call with which a turn begins.
            if row.kind in kinds and row.name:
                sums[key(row)] += row.used
        return dict(sorted(sums.items(), key=lambda item: (-item[1].cost, -item[1].calls, str(item[0]))))

    @property
    def spent(self) -> Decimal:
        """Return the total cost of models."""
        return sum(self.spent_by_day().values(), Decimal(0))

    @property
    def background(self) -> Decimal:
        """Return the spending besides answers and tasks: on memory, embeddings, pictures, recordings, judges."""
        return self.spent - self.total("model").cost

    def spent_by_day(self) -> dict[date, Decimal]:
        """Return the cost of models by day: the amount charged to a budget, or that of the calls if it is more."""
        called = self.by(lambda row: row.day, "model", "background")
        spent = {day: self.spending.get(day, Spending()) for day in self.spending.keys() | called.keys()}
        return {day: max(paid.spent - paid.texts, called.get(day, NOTHING).cost) for day, paid in spent.items()}

    @property
    def segments(self) -> int:
        return sum(day.segments for day in self.spending.values())

    @property
    def texts(self) -> Decimal:
        """Return the price of the segments, by ONEVALET_SMS_PRICE when they were sent."""
        return sum((day.texts for day in self.spending.values()), Decimal(0))

    def answers(self) -> "dict[date, dict[int, int]]":
        """Return for each day how many answers took how long, by steps of `percentile`."""
        counts: dict[date, dict[int, int]] = defaultdict(dict)
        for row in self.rows:
            if row.kind == "answer":
                counts[row.day][int(row.name)] = row.used.calls
        return dict(counts)


def percentile(counts: dict[int, int], share: float) -> float | None:
    """Return the milliseconds within which a share of the answers was sent; None without answers.

    Times are kept in steps: `step` stands for those up to 2 to the power of `step` / 4, so the result is a fifth too
    long at most.
    """
    wanted = math.ceil(sum(counts.values()) * share)
    for step in sorted(counts):
        wanted -= counts[step]
        if wanted <= 0:
            return float(2 ** (step / 4))
    return None


async def read_usage(scope: Scope, period: Period, now: datetime) -> Usage:
    """Return the viewer's usage in a period; for an operator, all people's."""
    span = (period.first, period.last)
    spenders: list[asyncpg.Record] = []
    viewer = scope.viewer
    if viewer.operator:
        database = scope.everybody()
        closed = now.astimezone(UTC).date() - timedelta(days=_OPEN_DAYS)
        rows = await database.rows("select * from console_usage($1, $2, $3)", *span, closed)
        spending = _spending_of_all(rows)
        spenders = await database.rows(
            "select * from console_spenders($1, $2, $3)", period.newest(PEOPLE_DAYS), period.last, SHOWN
        )
        tasks = await database.rows("select * from console_task_usage($1, $2, $3)", *span, SHOWN)
    else:
        async with scope.tenant(viewer.tenant_id) as connection:
            rows = await connection.fetch(_MY_USAGE, viewer.tenant_id, *span)
            spending = {
                row["day"]: Spending(row["spent"], row["segments"], row["texts"])
                for row in await connection.fetch(_MY_SPENDING, viewer.tenant_id, *span)
            }
            tasks = await connection.fetch(_MY_TASKS, viewer.tenant_id, *span)
    return Usage(
        period,
        tuple(UsageRow(row["day"], row["kind"], row["name"], _used(row)) for row in rows),
        spending,
        tuple(
            Spender(row["tenant_id"], Spending(row["spent"], row["segments"], row["texts"]), _used(row))
            for row in spenders
        ),
        {(row["tenant_id"], row["task_id"]): _used(row) for row in tasks},
    )


def _spending_of_all(rows: Sequence[asyncpg.Record]) -> dict[date, Spending]:
    days: dict[date, Spending] = defaultdict(Spending)
    for row in rows:
        match row["kind"]:
            case "spent":
                days[row["day"]] = replace(days[row["day"]], spent=row["cost"])
            case "texts":
                days[row["day"]] = replace(days[row["day"]], texts=row["cost"])
            case "segment":
                days[row["day"]] = replace(days[row["day"]], segments=row["calls"])
    return dict(days)


def _used(row: asyncpg.Record) -> Used:
    return Used(
        row["calls"],
        row["failed"],
        row["input_tokens"],
        row["output_tokens"],
        row["cached_tokens"],
        row["cost"],
        row["took_ms"],
    )
