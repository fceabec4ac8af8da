"""What waits until a person has connected an account: it is woken where the account is stored, and hurried here."""

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
