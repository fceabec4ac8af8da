"""A provider's later word about a part that was sent."""

from dataclasses import dataclass

from core.db.database import Database
from core.messaging.channels import Received
from core.messaging.messages import StatusUpdate
from core.queue.wakeups import Wakeups


@dataclass(frozen=True, slots=True)
class Statuses:
    """Move parts by rank, never back."""

    database: Database
    wakeups: Wakeups

    async def apply(self, update: StatusUpdate) -> Received:
        row = await self.database.call(
            "select * from apply_status($1,$2,$3,$4,$5,$6,$7,$8)",
            update.channel,
            update.account,
            update.ref,
            update.provider_id,
            update.status.value,
            update.status.rank,
            update.error_code,
            update.files_lost,
        )
        if row and update.gone:
            await self.database.call(
                "select mark_gone($1,$2,$3,$4)", update.channel, update.account, update.ref, update.error_code
            )
        if row and row["resolved"]:
            self.wakeups.wake_delivery(row["conversation_id"])
        return Received(update.provider_id, duplicate=row is None)
