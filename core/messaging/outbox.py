"""The outbox: messages queued for people, in order of seq, each provider call committed before it leaves."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import groupby
from typing import Any

from core.db.database import Database
from core.errors import StoreUnavailable
from core.ids import IdMaker
from core.messaging.channels import Part, Receipt
from core.messaging.due_messages import Claim, DueMessage, KeptPart, kept_parts, load_message, load_parts
from core.messaging.messages import OutboundMessage
from core.messaging.segments import MOVED, OVER, Bill
from core.messaging.states import CallOutcome, IdentityState, SendState


class Begun(StrEnum):
    """Whether a call may leave."""

    GO = "go"
    SENT = "sent"
    """A callback has proved that the part arrived."""
    UNREACHABLE = "unreachable"
    """The person has stopped or blocked the channel."""
    OVER_PERSON = "over_person"
    """The person has had all of the day's segments: the message was ended, and sent elsewhere where that can be."""
    OVER_ALL = "over_all"
    """All people together have had all of the day's segments."""


@dataclass(frozen=True, slots=True)
class PartEnd:
    """What became of one attempt: `state` of the part, `outcome` for the record, when to come back.

    `identity_state` is what the attempt showed of the person's address; None where it showed nothing.
    """

    state: SendState
    outcome: CallOutcome
    receipt: Receipt | None = None
    error_code: str = ""
    reason: str = ""
    delay: timedelta = timedelta()
    identity_state: IdentityState | None = None


class Outbox:
    """Claim what is due, head by head, and record what became of it."""

    def __init__(self, database: Database, make_id: IdMaker, lease: timedelta) -> None:
        self._database = database
        self._make_id = make_id
        self.lease = lease
        # Owners whose claim was not answered: it may have been made, and asking again as them gives it to us.
        self._unanswered: list[str] = []

    async def enqueue(
        self, tenant_id: str, conversation_id: str, messages: Sequence[OutboundMessage], *, held: bool = False
    ) -> None:
        """Put messages into the outbox outside of a turn; held ones wait for `release`. Repeatable by their ids."""
        rows = [asdict(message) | {"held": held} for message in messages]
        await self._database.call("select enqueue($1,$2,$3,$4)", tenant_id, conversation_id, None, rows)

    async def release(self, tenant_id: str, outbound_id: str) -> bool:
        """Let a held message go, after all that became sendable before it; False when it was not held."""
        row = await self._database.call("select release_outbound($1,$2) as released", tenant_id, outbound_id)
        return bool(row and row["released"])

    async def claim(self, conversation_id: str | None, worker: str) -> Claim | None:
        """Take the head of the named conversation, or whichever is due longest; None when none is due."""
        owner = self._unanswered.pop() if self._unanswered else f"{worker}/{self._make_id('own')}"
        try:
            row = await self._database.call(
                "select * from claim_outbound($1,$2,$3)", conversation_id, owner, self.lease
            )
        except StoreUnavailable:
            self._unanswered.append(owner)
            raise
        if row is None:
            return None
        return Claim(row["tenant_id"], row["outbound_id"], row["conversation_id"], row["fence"], owner)

    async def load(self, claim: Claim) -> DueMessage:
        """Return the claimed row with the address it goes to."""
        return await load_message(self._database, claim)

    async def keep_parts(self, claim: Claim, parts: Sequence[Part], text: str | None = None) -> list[KeptPart]:
        """Store the rendering, or return the one that an earlier attempt stored.

        `text`: the words that the message's sentences became; they are its text from now on.
        """
        rendered = [self._kept(portion) for portion in _portions(parts)]
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

    def _kept(self, parts: Sequence[Part]) -> list[dict[str, Any]]:
        return [
            {**asdict(part), "part": number, "ref": self._make_id("part")} for number, part in enumerate(parts, start=1)
        ]

    async def parts(self, claim: Claim) -> list[KeptPart]:
        """Return the stored parts in order; empty before the first attempt."""
        return await load_parts(self._database, claim)

    async def begin_delivery(self, claim: Claim, part: int, attempt: int, bill: Bill | None = None) -> Begun:
        """Commit that a call is about to leave, and what it costs, or learn why it must not. Raises `LeaseLost`."""
        given = (claim.tenant_id, claim.outbound_id, claim.fence, part, attempt, claim.owner, self.lease)
        if bill is None:
            row = await self._database.one("select begin_delivery($1,$2,$3,$4,$5,$6,$7) as begun", *given)
        else:
            row = await self._database.one(
                "select begin_delivery($1,$2,$3,$4,$5,$6,$7,$8) as begun",
                *given,
                {
                    "segments": bill.segments,
                    "now": bill.now.isoformat(),
                    "limit_of_person": bill.budget.person_day,
                    "limit_of_all": bill.budget.all_day,
                    "over": OVER,
                    "moved": MOVED,
                    "notice": self._make_id("out"),
                    "copy": self._make_id("out"),
                },
            )
        return Begun(row["begun"])

    async def settle(self, claim: Claim) -> SendState:
        """End a row whose parts have all ended; return its state, `sending` while a part is open."""
        row = await self._database.one(
            "select settle_outbound($1,$2,$3) as state", claim.tenant_id, claim.outbound_id, claim.fence
        )
        return SendState(row["state"])

    async def end_delivery(self, claim: Claim, part: int, attempt: int, end: PartEnd) -> SendState:
        """Record what became of the call; return the row's state."""
        row = await self._database.one(
            "select end_delivery($1,$2,$3,$4,$5,$6,$7) as state",
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
        )
        if end.receipt and end.receipt.moved_to:
            await self._database.call(
                "select move_conversation($1,$2,$3)", claim.tenant_id, claim.conversation_id, end.receipt.moved_to
            )
        return SendState(row["state"])

    async def tell_missing(self, claim: Claim) -> None:
        """Note that this row tells of the messages of its conversation that were given up; repeatable."""
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

        `missed`: it is our fault, so the person is told with the next message that they may miss something.
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
        """End a row about which nothing can be written; what comes after it goes on."""
        await self._database.call(
            "select set_aside_outbound($1,$2,$3,$4)", claim.tenant_id, claim.outbound_id, claim.fence, reason
        )

    async def give_back(self, claim: Claim) -> None:
        """Let go between parts, for a shutdown."""
        await self._database.call(
            "select give_back_outbound($1,$2,$3)", claim.tenant_id, claim.outbound_id, claim.fence
        )

    async def end_stream(self, claim: Claim) -> None:
        """Drop a row whose growing message was taken back."""
        await self._database.call("select end_stream($1,$2,$3)", claim.tenant_id, claim.outbound_id, claim.fence)

    async def put_off(self, claim: Claim, delay: timedelta) -> None:
        """Come back to a row later; it counts as an attempt."""
        await self._database.call(
            "select put_off_outbound($1,$2,$3,$4)", claim.tenant_id, claim.outbound_id, claim.fence, delay
        )


def _portions(parts: Sequence[Part]) -> list[list[Part]]:
    """Return the parts by the portions in which they are sent."""
    return [list(portion) for _, portion in groupby(parts, key=lambda part: part.portion)] or [[]]
