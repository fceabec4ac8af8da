"""A provider's later reports on sent parts."""

from dataclasses import dataclass

from core.db.database import Database
from core.messaging.channels import Received
from core.messaging.messages import DeliveryStatus, StatusUpdate
from core.queue.wakeups import Wakeups

_RANKS = {
    DeliveryStatus.ACCEPTED: 0,
    DeliveryStatus.SENT: 1,
    DeliveryStatus.FAILED: 2,
    DeliveryStatus.UNDELIVERED: 2,
    DeliveryStatus.DELIVERED: 3,
    DeliveryStatus.READ: 4,
}


@dataclass(frozen=True, slots=True)
class Statuses:
    """Move parts by the ranks of their statuses, so that a late report never moves a part back."""

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
            _RANKS[update.status],
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
