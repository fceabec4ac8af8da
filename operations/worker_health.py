"""The health of workers, by their own reports."""

from dataclasses import dataclass

from core.db.database import Database
from core.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """A worker that reported lately.

    `ahead`: seconds by which its machine's clock is ahead of Postgres', None until it was compared. `failing`: its
    failing parts, each with part, failures (in a row), cause and at.
    """

    worker: str
    ahead: float | None
    failing: tuple[JsonObject, ...] = ()


async def workers_seen(database: Database) -> list[WorkerHealth]:
    """Return the workers that reported within the last minute."""
    rows = await database.rows(
        "select worker, clock_ahead, failing from worker_health"
        " where seen_at > clock_timestamp() - interval '1 minute' order by worker"
    )
    return [WorkerHealth(row["worker"], row["clock_ahead"], tuple(row["failing"])) for row in rows]
