"""Calls of models that quiet hours spared: counted by work, whichever ability's it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from core.db.database import Database
from operations.console.access import Scope

DAYS = 30
_PEOPLE = 100


@dataclass(frozen=True, slots=True)
class SparedWork:
    """The calls that a work was spared, and their estimated cost in dollars; None if no price of it is known."""

    work: str
    calls: int
    cost: Decimal | None


async def count_spared(database: Database, tenant_id: str, work: str) -> None:
    """Count a call that was not made."""
    await database.call("select count_spared($1,$2)", tenant_id, work)


async def read_spared(scope: Scope, today: date) -> list[SparedWork]:
    """Return the calls spared in the last days: an operator's view has everybody's, a person's their own."""
    since = today - timedelta(days=DAYS)
    people = [scope.viewer.tenant_id]
    if scope.viewer.operator:
        found = await scope.everybody().rows("select * from list_spared($1,$2)", since, _PEOPLE)
        people = [row["tenant_id"] for row in found]
    rows = [
        (row["work"], row["calls"], row["price"])
        for person in people
        for row in await scope.tenant_rows(person, "select * from spared_of($1,$2)", since)
    ]
    return sorted((_sum(work, rows) for work in {work for work, _, _ in rows}), key=lambda one: (-one.calls, one.work))


def _sum(work: str, rows: Iterable[tuple[str, int, Decimal | None]]) -> SparedWork:
    calls, costs = 0, list[Decimal]()
    for of, number, price in rows:
        if of == work:
            calls += number
            costs += [] if price is None else [number * price]
    return SparedWork(work, calls, sum(costs, Decimal(0)) if costs else None)
