"""Calls that wait until a person has connected an account: woken when the account is stored, and hurried here."""

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
        """Hurry the calls that go on now that a person has connected or renewed an account; return whether any do.

        Call it after the commit. The function that stored the account (`save_credentials`) has woken the turns; if
        Redis or this process is away, workers find them by themselves.
        """
        rows = await self.database.rows("select * from wake_for_account($1)", tenant_id)
        for row in rows:
            self.wakeups.wake_turn(row["lane_id"])
        return any(row["held"] for row in rows)


async def needs_that_wait(database: Database, tenant_id: str) -> Sequence[str]:
    """Return the needs of a person's calls that wait for an account, the latest call's first."""
    rows = await database.tenant_rows(
        tenant_id,
        "select context -> 'needs' as needs from pool_entries"
        " where tenant_id = $1 and status = 'WAITING_FOR_ACCOUNT' order by created_at desc, agent_id",
    )
    return tuple(dict.fromkeys(str(need) for row in rows for need in row["needs"] or ()))
