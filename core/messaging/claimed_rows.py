"""Claimed rows of the outbox that end without a call to a provider."""

from datetime import timedelta

from core.db.database import Database
from core.messaging.due_messages import Claim


class ClaimedRows:
    """End, put off or hand back claimed rows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tell_missing(self, claim: Claim) -> None:
        """Record that this row tells the person of the conversation's lost messages; repeatable."""
        async with self._database.tenant(claim.tenant_id) as connection:
            await connection.execute(
                "update outbound set told_missing_by = $3 where tenant_id = $1 and conversation_id = $2 and id <> $3"
                " and given_up_at is not null and told_missing_by is null and state in ('ambiguous', 'failed')",
                claim.tenant_id,
                claim.conversation_id,
                claim.outbound_id,
            )

    async def fail(self, claim: Claim, reason: str, *, missed: bool = False) -> None:
        """End a row that may not be sent at all; it stays visible with its reason.

        `missed`: the failure is ours, so the next message tells the person that they may have missed something.
        """
        if missed:
            async with self._database.tenant(claim.tenant_id) as connection:
                await connection.execute(
                    "update outbound set given_up_at = clock_timestamp()"
                    " where tenant_id = $1 and id = $2 and fence = $3 and owner is not null",
                    claim.tenant_id,
                    claim.outbound_id,
                    claim.fence,
                )
        await self._database.call(
            "select fail_outbound($1,$2,$3,$4)", claim.tenant_id, claim.outbound_id, claim.fence, reason
        )

    async def set_aside(self, claim: Claim, reason: str) -> None:
        """End a row whose other writes fail, so that the rows after it can be sent."""
        await self._database.call(
            "select set_aside_outbound($1,$2,$3,$4)", claim.tenant_id, claim.outbound_id, claim.fence, reason
        )

    async def give_back(self, claim: Claim) -> None:
        """Release the row between parts, for a shutdown."""
        await self._database.call(
            "select give_back_outbound($1,$2,$3)", claim.tenant_id, claim.outbound_id, claim.fence
        )

    async def end_stream(self, claim: Claim) -> None:
        """End a row whose growing message was deleted."""
        await self._database.call("select end_stream($1,$2,$3)", claim.tenant_id, claim.outbound_id, claim.fence)

    async def put_off(self, claim: Claim, delay: timedelta) -> None:
        """Postpone a row; this counts as an attempt."""
        await self._database.call(
            "select put_off_outbound($1,$2,$3,$4)", claim.tenant_id, claim.outbound_id, claim.fence, delay
        )
