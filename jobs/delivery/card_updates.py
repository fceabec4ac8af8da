"""Due card updates in Postgres: claimed by row, each write checked against the fence."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from core.db.database import Database, fetch_one
from core.messaging.channels import Part
from core.messaging.messages import Address

LEASE = timedelta(seconds=20)
"""Longer than a provider call may take."""

_END = """
update redraws r
set state = case when v.current then $6 else 'due' end, reason = $7, lease_until = null,
    next_attempt_at = clock_timestamp() + case when v.current then $8::interval else interval '0' end,
    drawn_at = case when $6 = 'drawn' then clock_timestamp() else r.drawn_at end
from (select (outcome, outcome_at) = ($4, $5) as current from redraws
      where tenant_id = $1 and outbound_id = $2 for update) v
where r.tenant_id = $1 and r.outbound_id = $2 and r.fence = $3 and r.state = 'due'
"""


@dataclass(frozen=True, slots=True)
class RedrawClaim:
    """The right to update a card."""

    tenant_id: str
    outbound_id: str
    fence: int


@dataclass(frozen=True, slots=True)
class DueRedraw:
    """A message to update: its last part, which has the buttons, and its address.

    `ended_by`: a `CardOutcome`, a `QuestionEnd`, or the token of the pressed word button. `part` and `provider_id` are
    None if it was never sent, as far as is known. `language` and `timezone` are the person's; empty if they are not
    known.
    """

    outbound_id: str
    ended_by: str
    outcome_at: datetime
    attempts: int
    address: Address
    part: Part | None
    provider_id: str | None
    language: str
    timezone: str
    answer: str | None = None
    """The answer to a question, or the label of the pressed button; None on the card of an approval."""


class RedrawState(StrEnum):
    """The state in which an attempt leaves a card update."""

    DRAWN = "drawn"
    GIVEN_UP = "given_up"
    DUE = "due"
    """Due again, after a delay."""


@dataclass(frozen=True, slots=True)
class RedrawEnd:
    """The outcome of an attempt to update a card."""

    state: RedrawState
    reason: str = ""
    delay: timedelta = timedelta()


class Redraws:
    """Claim, load and end card updates."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self) -> RedrawClaim | None:
        """Claim the update that is due longest, of a card that was sent; None when there is none."""
        row = await self._database.call("select * from claim_redraw($1)", LEASE)
        return RedrawClaim(row["tenant_id"], row["outbound_id"], row["fence"]) if row else None

    async def load(self, claim: RedrawClaim) -> DueRedraw:
        async with self._database.tenant(claim.tenant_id) as connection:
            row = await fetch_one(
                connection,
                "select r.outcome, r.outcome_at, r.attempts, c.channel, c.account, c.peer, c.thread, p.text, p.data,"
                " p.segments, nullif(p.provider_id, '') as provider_id, t.language, t.timezone,"
                " coalesce(q.answer, b.label) as answer from redraws r"
                " join tenants t on t.tenant_id = r.tenant_id"
                " join outbound o on o.tenant_id = r.tenant_id and o.id = r.outbound_id"
                " join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id"
                " left join lateral (select k.answer from question_cards c join questions k"
                "  on k.tenant_id = c.tenant_id and k.id = c.question_id"
                "  where c.tenant_id = o.tenant_id and c.outbound_id = o.id) q on true"
                " left join lateral (select a ->> 'label' as label from jsonb_array_elements(o.actions) a"
                "  where a ->> 'token' = r.outcome limit 1) b on true"
                " left join lateral (select * from outbound_parts e where e.tenant_id = o.tenant_id"
                "  and e.outbound_id = o.id order by e.part desc limit 1) p on true"
                " where r.tenant_id = $1 and r.outbound_id = $2",
                claim.tenant_id,
                claim.outbound_id,
            )
        part = Part(row["text"], row["data"], row["segments"]) if row["text"] is not None else None
        address = Address(row["channel"], row["account"], row["peer"], row["thread"])
        return DueRedraw(
            outbound_id=claim.outbound_id,
            ended_by=row["outcome"],
            outcome_at=row["outcome_at"],
            attempts=row["attempts"],
            address=address,
            part=part,
            provider_id=row["provider_id"],
            language=row["language"],
            timezone=row["timezone"],
            answer=row["answer"],
        )

    async def end(self, claim: RedrawClaim, due: DueRedraw, end: RedrawEnd) -> None:
        """Record the end of an attempt. If the outcome to show has changed since, the update is due again."""
        await self._database.repeat(
            claim.tenant_id,
            _END,
            claim.outbound_id,
            claim.fence,
            due.ended_by,
            due.outcome_at,
            end.state,
            end.reason,
            end.delay,
        )

    async def set_aside(self, claim: RedrawClaim, reason: str) -> None:
        """Set aside an update whose end cannot be recorded."""
        await self._database.repeat(
            claim.tenant_id,
            "update redraws set state = 'given_up', reason = $4, lease_until = null"
            " where tenant_id = $1 and outbound_id = $2 and fence = $3 and state = 'due'",
            claim.outbound_id,
            claim.fence,
            reason,
        )
