"""Model calls that were spared, with their estimated cost: in quiet hours, and as nothing had changed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby

from abilities.tasks.types import Task
from operations.console.access import Scope
from operations.console.rendering import money

DAYS = 30


@dataclass(frozen=True, slots=True)
class Spared:
    """Counts of the last days. `unknown`: calls whose cost nobody knows, since no run of their task has a price."""

    quiet: int = 0
    unchanged: int = 0
    unknown: int = 0
    cost: Decimal = Decimal(0)

    @property
    def figures(self) -> tuple[tuple[str, str], ...]:
        """Return the figures as (name, value); none if nothing was spared."""
        if not self.quiet and not self.unchanged:
            return ()
        price = f"about {money(float(self.cost))}" if self.cost else "not known yet"
        if self.cost and self.unknown:
            price += f", and {self.unknown:,} of unknown cost"
        return (
            ("Spared in quiet hours", f"{self.quiet:,}"),
            ("Spared, nothing had changed", f"{self.unchanged:,}"),
            ("Cost spared (estimate)", price),
        )


async def read_spared(scope: Scope, tasks: Iterable[Task], now: datetime) -> Spared:
    """Return the sums of some tasks, as many as a page shows."""
    rows = [
        await scope.tenant_row(
            tenant_id,
            "select * from spared_runs($1,$2,$3)",
            [task.id for task in theirs],
            now - timedelta(days=DAYS),
        )
        for tenant_id, theirs in groupby(sorted(tasks, key=_person), key=_person)
    ]
    found = [row for row in rows if row is not None]
    return Spared(
        sum(row["quiet"] for row in found),
        sum(row["unchanged"] for row in found),
        sum(row["unknown"] for row in found),
        sum((row["cost"] for row in found), Decimal(0)),
    )


def _person(task: Task) -> str:
    return task.tenant_id
