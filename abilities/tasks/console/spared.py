"""Model calls that were spared, with their estimated cost: in quiet hours, and as nothing had changed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from operations.console.access import Scope
from operations.console.rendering import money

DAYS = 30
_MINE = (
    "select coalesce(sum(quiet), 0)::bigint as quiet, coalesce(sum(unchanged), 0)::bigint as unchanged,"
    " coalesce(sum(quiet + unchanged) filter (where cost is null), 0)::bigint as unknown,"
    " coalesce(sum(cost), 0) as cost from spared_runs($2) where tenant_id = $1"
)


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


async def read_spared(scope: Scope, now: datetime, task_of: tuple[str, str] | None = None) -> Spared:
    """Return the viewer's sums, an operator's of everybody, or those of one task."""
    since = now - timedelta(days=DAYS)
    if task_of is not None:
        row = await scope.tenant_row(task_of[0], f"{_MINE} and task_id = $3", since, task_of[1])
    elif scope.viewer.operator:
        row = (await scope.everybody().rows("select * from console_spared($1)", since))[0]
    else:
        row = await scope.tenant_row(scope.viewer.tenant_id, _MINE, since)
    return Spared(row["quiet"], row["unchanged"], row["unknown"], row["cost"]) if row else Spared()
