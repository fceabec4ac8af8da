"""The outbox: messages queued for people, in order of seq, each provider call committed before it leaves."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import Any

from core.db.database import Database, fetch_one
from core.errors import StoreUnavailable
from core.ids import IdMaker
from core.messaging.channels import Part, Receipt
from core.messaging.messages import Action, ActionStyle, Address, Media, OutboundKind, OutboundMessage
from core.messaging.segments import MOVED, OVER, Bill


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to send one outbound row, until its lease ends; every write carries the fence."""

    tenant_id: str
    outbound_id: str
    conversation_id: str
    fence: int
    owner: str


@dataclass(frozen=True, slots=True)
class DueMessage:
    """A claimed row: what to send, where, how often it was tried, and how long it has waited.

    `reachable` is false when the person said STOP or blocked us, unless this is what confirms that STOP.
    """

    message: OutboundMessage
    address: Address
    reachable: bool
    attempts: int
    age: timedelta
    stream: str = ""
    """The provider's id of the message that grew while this was written; empty while that is not known."""
    stream_at: datetime | None = None
    """When that message was begun, by the database's clock; None when none was."""
    overtaken: bool = False
    """Whether something else was said since then, so that the answer belongs below it."""
    missing: bool = False
    """Whether an earlier message of this conversation was given up, and nobody has told the person yet."""
    exact: bool = False
    """Whether it says one fixed thing alone: what confirms a STOP."""
    own_chat: bool = True
    """Whether it goes to the person's own chat: what a group refuses says nothing of whether they can be reached."""
    hangs: int = 0
    """How many workers it has blocked."""

    @property
    def takes_back(self) -> bool:
        """Tell that there is nothing to say, only a message without an answer to take back."""
        return self.stream_at is not None and not self.message.text

    @property
    def tells_missing(self) -> bool:
        """Tell that an earlier message may be missing: never on a card, which shows what is consented to."""
        return self.missing and not self.exact and self.message.kind is not OutboundKind.CARD


@dataclass(frozen=True, slots=True)
class KeptPart:
    """A part as it was rendered at the first attempt.

    `attempt`: the number of its last call, 0 before the first; `silent_for`: how long ago that started.
    `lost`: how many of its calls have an unknown outcome; `lost_since`: when the first of those started, by
    the database's clock.
    """

    number: int
    ref: str
    part: Part
    state: str
    attempt: int
    silent_for: timedelta
    lost: int
    lost_since: datetime | None


class Begun(StrEnum):
    """Whether a call may leave."""

    GO = "go"
    SENT = "sent"
    """A callback proved meanwhile that the part arrived."""
    UNREACHABLE = "unreachable"
    """The person stopped or blocked the channel meanwhile."""
    OVER_PERSON = "over_person"
    """The person has had all of the day's segments: the message was ended, and sent elsewhere where that can be."""
    OVER_ALL = "over_all"
    """All people together have had all of the day's segments."""


@dataclass(frozen=True, slots=True)
class PartEnd:
    """What became of one attempt: `state` of the part, `outcome` for the record, when to come back."""

    state: str
    outcome: str
    receipt: Receipt | None = None
    error_code: str = ""
    reason: str = ""
    delay: timedelta = timedelta()
    identity_state: str = ""


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
        """Read the claimed row with the address it goes to."""
        async with self._database.tenant(claim.tenant_id) as connection:
            row = await fetch_one(
                connection,
                "select o.*, clock_timestamp() - o.created_at as age, c.channel, c.account, c.peer, c.thread,"
                " o.stream_at is not null and stream_overtaken(o.tenant_id, o.id) as overtaken,"
                " c.peer = i.user_key or c.last_inbound_at is not null as own_chat,"
                " exists (select 1 from outbound g where g.tenant_id = o.tenant_id and g.id <> o.id"
                "  and g.conversation_id = o.conversation_id and g.given_up_at is not null"
                "  and g.state in ('ambiguous', 'failed') and coalesce(g.told_missing_by, o.id) = o.id) as missing,"
                " i.state as identity_state from outbound o"
                " join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id"
                " join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id"
                " where o.tenant_id = $1 and o.id = $2",
                claim.tenant_id,
                claim.outbound_id,
            )
        message = OutboundMessage(
            id=row["id"],
            kind=OutboundKind(row["kind"]),
            text=row["text"],
            actions=tuple(_action(one) for one in row["actions"]),
            media=tuple(Media(**media) for media in row["media"]),
            wants_reply=row["wants_reply"],
        )
        return DueMessage(
            message=message,
            address=Address(row["channel"], row["account"], row["peer"], row["thread"]),
            reachable=row["identity_state"] == "active" or (row["regardless"] and row["identity_state"] == "stopped"),
            attempts=row["attempts"],
            age=row["age"],
            stream=row["stream"],
            stream_at=row["stream_at"],
            overtaken=row["overtaken"],
            missing=row["missing"],
            exact=row["regardless"],
            own_chat=row["own_chat"],
            hangs=row["hangs"],
        )

    async def keep_parts(self, claim: Claim, parts: Sequence[Part]) -> list[KeptPart]:
        """Store the rendering, or give the one that an earlier attempt stored."""
        rendered = [self._kept(one) for one in _portions(parts)]
        await self._database.rows(
            "select * from keep_parts($1,$2,$3,$4,$5)",
            claim.tenant_id,
            claim.outbound_id,
            claim.fence,
            rendered[0],
            rendered[1:],
        )
        return await self.parts(claim)

    def _kept(self, parts: Sequence[Part]) -> list[dict[str, Any]]:
        return [
            {**asdict(part), "part": number, "ref": self._make_id("part")} for number, part in enumerate(parts, start=1)
        ]

    async def parts(self, claim: Claim) -> list[KeptPart]:
        """Return the stored parts in order; empty before the first attempt."""
        async with self._database.tenant(claim.tenant_id) as connection:
            rows = await connection.fetch(
                "select p.part, p.ref, p.text, p.data, p.segments, p.state, coalesce(max(d.attempt), 0) as attempt,"
                " coalesce(clock_timestamp() - max(d.started_at), interval '0') as silent_for,"
                " count(*) filter (where d.outcome in ('started', 'ambiguous')) as lost,"
                " min(d.started_at) filter (where d.outcome in ('started', 'ambiguous')) as lost_since"
                " from outbound_parts p left join deliveries d on d.tenant_id = p.tenant_id"
                " and d.outbound_id = p.outbound_id and d.part = p.part"
                " where p.tenant_id = $1 and p.outbound_id = $2 group by p.tenant_id, p.outbound_id, p.part"
                " order by p.part",
                claim.tenant_id,
                claim.outbound_id,
            )
        return [
            KeptPart(
                number=row["part"],
                ref=row["ref"],
                part=Part(row["text"], row["data"], row["segments"]),
                state=row["state"],
                attempt=row["attempt"],
                silent_for=row["silent_for"],
                lost=row["lost"],
                lost_since=row["lost_since"],
            )
            for row in rows
        ]

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

    async def settle(self, claim: Claim) -> str:
        """End a row whose parts have all ended; return its state, `sending` while a part is open."""
        row = await self._database.one(
            "select settle_outbound($1,$2,$3) as state", claim.tenant_id, claim.outbound_id, claim.fence
        )
        return str(row["state"])

    async def end_delivery(self, claim: Claim, part: int, attempt: int, end: PartEnd) -> str:
        """Record what became of the call; return the row's state."""
        row = await self._database.one(
            "select end_delivery($1,$2,$3,$4,$5,$6,$7) as state",
            claim.tenant_id,
            claim.outbound_id,
            claim.fence,
            part,
            attempt,
            {
                "part_state": end.state,
                "outcome": end.outcome,
                "error_code": end.error_code,
                "reason": end.reason,
                "provider_id": end.receipt.provider_id if end.receipt else "",
                "degraded": bool(end.receipt and end.receipt.degraded),
                "identity_state": end.identity_state,
            },
            end.delay,
        )
        if end.receipt and end.receipt.moved_to:
            await self._database.call(
                "select move_conversation($1,$2,$3)", claim.tenant_id, claim.conversation_id, end.receipt.moved_to
            )
        return str(row["state"])

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


def _action(row: dict[str, Any]) -> Action:
    return Action(row["label"], row["token"], ActionStyle(row.get("style", "plain")), row.get("needs_forms", False))


def _portions(parts: Sequence[Part]) -> list[list[Part]]:
    """Return the parts by the portions in which they are sent."""
    return [list(portion) for _, portion in groupby(parts, key=lambda part: part.portion)] or [[]]
