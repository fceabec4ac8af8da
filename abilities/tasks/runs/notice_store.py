"""The notices of runs in Postgres: each run's news for its person."""

from dataclasses import dataclass
from datetime import timedelta

from core.db.database import Database
from core.notifications.types import Notified


@dataclass(frozen=True, slots=True)
class ClaimedNotice:
    """A notice that is ours to hand over; `traceparent` is the context of the span that left it behind."""

    tenant_id: str
    run_id: str
    key: str
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class PutOff:
    """A notice whose hand-over failed: it is set aside, or is due again after a pause."""

    set_aside: bool = False
    pause: timedelta | None = None


@dataclass(frozen=True, slots=True)
class NoticeStore:
    """Everybody's notices."""

    database: Database

    async def claim(self, limit: int, lease: timedelta) -> list[ClaimedNotice]:
        """Claim open notices of all people for a time."""
        rows = await self.database.rows("select * from claim_notices($1,$2)", limit, lease)
        return [ClaimedNotice(row["tenant_id"], row["run_id"], row["key"], row["traceparent"]) for row in rows]

    async def handed_over(self, tenant_id: str, run_id: str, key: str, notified: Notified) -> None:
        """Store that the notifier has a notice, and its status there."""
        await self.database.tenant_rows(
            tenant_id,
            "update run_notices set state = 'handed_over', notification_id = $4, fate = $5, place = $6"
            " where tenant_id = $1 and run_id = $2 and key = $3",
            run_id,
            key,
            notified.id,
            notified.fate.value,
            notified.where or "",
        )

    async def put_off(self, tenant_id: str, run_id: str, key: str, attempts: int) -> PutOff:
        """Leave a notice for later, or set it aside after the last attempt."""
        row = await self.database.call("select * from put_off_notice($1,$2,$3,$4)", tenant_id, run_id, key, attempts)
        return PutOff(row["failed"], row["pause"]) if row else PutOff()

    async def failed(self, limit: int = 100) -> list[tuple[str, int]]:
        """Return the people whose notices were set aside, with their number."""
        rows = await self.database.rows("select * from find_failed_notices($1)", limit)
        return [(row["tenant_id"], row["notices"]) for row in rows]

    async def retry(self, tenant_id: str) -> int:
        """Retry the notices of a person that were set aside; return their number."""
        row = await self.database.call("select retry_notices($1) as count", tenant_id)
        return int(row["count"]) if row else 0
