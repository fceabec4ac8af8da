"""The outbox: messages queued for people, in order of seq, each provider call committed before it leaves."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import asyncpg
import structlog

from core.db.database import Database
from core.db.outages import Owners
from core.errors import StoreUnavailable
from core.ids import IdMaker
from core.messaging.calls import Begun, PartEnd, Rendered
from core.messaging.capabilities import Bill
from core.messaging.channels import Part
from core.messaging.claimed_rows import ClaimedRows
from core.messaging.due_messages import (
    Claim,
    DueMessage,
    KeptPart,
    kept_parts,
    load_message,
    load_parts,
    new_parts,
    portions_of,
)
from core.messaging.files import FILE_LEASE
from core.messaging.states import SendState

_CLAIM = "select * from claim_outbound($1,$2,$3)"
# Not flushed: a claim that Postgres loses as it dies is made again, and `begin_delivery`, without which nothing leaves,
# takes none but the newest owner's.
_CLAIM_AND_READ = (
    "select c.*, o.*, set_config('synchronous_commit', 'off', true) from claim_outbound($1,$2,$3) c"
    " left join lateral read_outbound(c.tenant_id, c.outbound_id) o on true"
)

_log = structlog.get_logger()

type ClaimAfter = Callable[[str, Sequence[object], str], Awaitable[tuple[asyncpg.Record, Claim | None]]]
"""`Outbox.claim_after` for a worker."""


class Outbox(ClaimedRows):
    """Claim due rows, the head of each conversation first, and record the outcome of their calls."""

    def __init__(self, database: Database, make_id: IdMaker, lease: timedelta) -> None:
        super().__init__(database)
        self._make_id = make_id
        self.lease = lease
        self._owners = Owners(make_id)

    async def claim(self, conversation_id: str | None, worker: str) -> Claim | None:
        """Claim the head of the named conversation, or the row that is due longest; return None if none is due.

        The message is read with the claim. A message that cannot be read is claimed nevertheless, and `load` fails.
        """
        try:
            return await self._claim(_CLAIM_AND_READ, conversation_id, worker)
        except StoreUnavailable:
            raise
        except asyncpg.PostgresError:
            _log.exception("outbound_not_read", conversation=conversation_id)
            return await self._claim(_CLAIM, conversation_id, worker)

    async def _claim(self, statement: str, conversation_id: str | None, worker: str) -> Claim | None:
        with self._owners.claiming(worker) as owner:
            row = await self._database.call(statement, conversation_id, owner, self.lease)
        return _claimed(row, owner, read=statement is _CLAIM_AND_READ)

    async def claim_after(
        self, write: str, given: Sequence[object], conversation_id: str, *, worker: str
    ) -> tuple[asyncpg.Record, Claim | None]:
        """Run a statement of one row that queues messages, and claim their conversation's head in its transaction."""
        first = len(given) + 1
        # The condition keeps the order: the messages are queued before the head is looked for.
        head = f"case when w is distinct from null then ${first} else '' end"
        statement = (
            f"select w.*, c.*, o.* from ({write}) w"  # noqa: S608 - a constant of the caller
            f" left join lateral claim_outbound({head}, ${first + 1}, ${first + 2}) c on true"
            " left join lateral read_outbound(c.tenant_id, c.outbound_id) o on true"
        )
        with self._owners.claiming(worker) as owner:
            row = await self._database.one(statement, *given, conversation_id, owner, self.lease)
        return row, _claimed(row, owner, read=True)

    async def load(self, claim: Claim) -> DueMessage:
        """Return the claimed row with its address."""
        return await load_message(self._database, claim)

    async def keep_parts(self, claim: Claim, parts: Sequence[Part], text: str | None = None) -> list[KeptPart]:
        """Store the rendering, or return the rendering that an earlier attempt stored.

        `text`: the message's translated sentences, which become its text.
        """
        rendered = portions_of(claim, parts, self._make_id)
        rows = await self._database.rows(
            "select * from keep_parts($1,$2,$3,$4,$5,$6)",
            claim.tenant_id,
            claim.outbound_id,
            claim.fence,
            rendered[0],
            rendered[1:],
            text,
        )
        return kept_parts(rows)

    async def parts(self, claim: Claim) -> list[KeptPart]:
        """Return the stored parts in order; empty before the first attempt."""
        return await load_parts(self._database, claim)

    async def begin_delivery(
        self, claim: Claim, part: int, attempt: int, bill: Bill | None = None, *, uploads: bool = False
    ) -> Begun:
        """Commit that a call is about to leave, with its cost, or return why it must not. Raises `LeaseLost`."""
        lease = FILE_LEASE if uploads else self.lease
        cost = bill and bill.to_json(self._make_id)
        given = (claim.tenant_id, claim.outbound_id, claim.fence, part, attempt, claim.owner, lease, cost)
        row = await self._database.one("select begin_delivery($1,$2,$3,$4,$5,$6,$7,$8) as begun", *given)
        return Begun(row["begun"])

    async def begin_rendered(
        self,
        claim: Claim,
        rendered: Rendered,
        attempt: int,
        bill: Bill | None = None,
    ) -> tuple[Begun, list[KeptPart]]:
        """Do `keep_parts`, and `begin` for the first part, in one round trip.

        `Begun.KEPT`: the returned parts were stored by an earlier attempt, and no call has begun.
        """
        portions = portions_of(claim, rendered.parts, self._make_id)
        row = await self._database.one(
            "select begin_rendered($1,$2,$3,$4,$5,$6,$7,$8) as begun",
            claim.tenant_id,
            claim.outbound_id,
            claim.fence,
            attempt,
            claim.owner,
            FILE_LEASE if rendered.parts[0].uploads else self.lease,
            {"parts": portions[0], "rest": portions[1:], "text": rendered.text},
            bill and bill.to_json(self._make_id),
        )
        begun = Begun(row["begun"])
        return begun, await self.parts(claim) if begun is Begun.KEPT else new_parts(portions[0])

    async def settle(self, claim: Claim) -> SendState:
        """End a row if all its parts have ended; return its state, which is `sending` while a part is open."""
        row = await self._database.one(
            "select settle_outbound($1,$2,$3) as state", claim.tenant_id, claim.outbound_id, claim.fence
        )
        return SendState(row["state"])

    async def end_delivery(self, claim: Claim, part: int, attempt: int, end: PartEnd) -> SendState:
        """Record the outcome of a call; return the row's state."""
        row = await self._end("select end_delivery($1,$2,$3,$4,$5,$6,$7) as state", claim, part, attempt, end)
        return SendState(row["state"])

    async def end_and_claim(
        self, claim: Claim, part: int, attempt: int, end: PartEnd, worker: str
    ) -> tuple[SendState, Claim | None]:
        """Do `end_delivery`; if it ends the row, also claim the conversation's next row."""
        statement = "select * from end_delivery($1,$2,$3,$4,$5,$6,$7,$8)"
        try:
            with self._owners.claiming(worker) as owner:
                row = await self._end(statement, claim, part, attempt, end, {"owner": owner, "ttl": str(self.lease)})
        except asyncpg.PostgresError:
            # The outcome is known nowhere else, so recording it must not depend on the next row.
            _log.exception("following_not_claimed", conversation=claim.conversation_id)
            return await self.end_delivery(claim, part, attempt, end), None
        return SendState(row["state"]), _claimed(row, owner)

    async def _end(
        self, statement: str, claim: Claim, part: int, attempt: int, end: PartEnd, *more: object
    ) -> asyncpg.Record:
        row = await self._database.one(
            statement,
            claim.tenant_id,
            claim.outbound_id,
            claim.fence,
            part,
            attempt,
            {
                "part_state": end.state.value,
                "outcome": end.outcome.value,
                "error_code": end.error_code,
                "reason": end.reason,
                "provider_id": end.receipt.provider_id if end.receipt else "",
                "degraded": bool(end.receipt and end.receipt.degraded),
                "identity_state": end.identity_state.value if end.identity_state else "",
            },
            end.delay,
            *more,
        )
        if end.receipt and end.receipt.moved_to:
            await self._database.call(
                "select move_conversation($1,$2,$3)", claim.tenant_id, claim.conversation_id, end.receipt.moved_to
            )
        return row


def _claimed(row: asyncpg.Record | None, owner: str, *, read: bool = False) -> Claim | None:
    if row is None or row["outbound_id"] is None:
        return None
    given = (row["tenant_id"], row["outbound_id"], row["conversation_id"], row["fence"])
    return Claim(*given, owner, row if read else None)
