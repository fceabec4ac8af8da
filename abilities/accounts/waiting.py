"""What waits until a person has connected an account: it is woken where the account is stored, and hurried here."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.db.database import Database
from core.queue.wakeups import Wakeups


@dataclass(frozen=True, slots=True)
class WaitingForAccounts:
    """Turns of all people that wait for an account."""

    database: Database
    wakeups: Wakeups

    async def connected(self, tenant_id: str) -> bool:
        """Hurry what goes on now that a person has connected, renewed or extended an account; return whether any does.

        Call it after the commit. What stored the account (`save_credentials`) has woken the turns; where Redis or this
        process is away, workers find them by themselves.
        """
        rows = await self.database.rows("select * from wake_for_account($1)", tenant_id)
        for row in rows:
            self.wakeups.wake_turn(row["lane_id"])
        return any(row["held"] for row in rows)


async def needs_that_wait(database: Database, tenant_id: str) -> Sequence[str]:
    """Return what a person's calls that wait for an account need, the latest one's first."""
    rows = await database.tenant_rows(
        tenant_id,
        "select context -> 'needs' as needs from pool_entries"
        " where tenant_id = $1 and status = 'WAITING_FOR_ACCOUNT' order by created_at desc, agent_id",
    )
    return tuple(dict.fromkeys(str(need) for row in rows for need in row["needs"] or ()))
