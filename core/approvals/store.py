"""Approvals in Postgres: decided outside of the inbox, read, and maintained."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import asyncpg

from core.approvals.decisions import MADE, decide_said
from core.approvals.exact_replies import Verb, new_codes
from core.approvals.facts import ApprovalFacts
from core.approvals.types import Approval, DecidedBy, PendingApproval
from core.clock import Clock
from core.db.database import Connection, Database
from core.db.decided import decide_and_write
from core.ids import IdMaker
from core.journal.types import Outcome
from core.json_types import JsonObject
from core.people.merge import MergeHook, Parting
from core.queue.rounds import take_each
from core.queue.wakeups import Wakeups

CODE_RESTS = timedelta(days=7)
"""How long a code stays reserved after its approval, before another action may get it."""
REMIND_GAP = timedelta(minutes=10)
"""The shortest time between two reminders of an approval that are sent by hand."""
_MAX_AT_ONCE = 100
_SELECT = (
    "select a.*, (select min(o.sent_at) from approval_cards c join outbound o on o.tenant_id = c.tenant_id"
    " and o.id = c.outbound_id where c.tenant_id = a.tenant_id and c.approval_id = a.id and c.role = 'card')"
    " as sent_at, task_of_turn(a.tenant_id, a.turn_id) as task_id from approvals a where a.tenant_id = $1 and "
)


async def load_approvals(connection: Connection, tenant_id: str, turn_id: str) -> tuple[Approval, ...]:
    """Return a turn's own approvals, and all that are pending for its person, the oldest first."""
    rows = await connection.fetch(
        f"{_SELECT} (a.turn_id = $2 or a.state = 'pending') order by a.created_at, a.id", tenant_id, turn_id
    )
    return tuple(Approval.from_row(dict(row)) for row in rows)


class ApprovalStore:
    """Issue codes, decide, list. Every statement may be repeated: an error does not mean that it failed.

    On the channels in `codes_only`, a person's own words may change actions but neither approve nor cancel them.
    """

    def __init__(self, database: Database, wakeups: Wakeups, codes_only: frozenset[str] = frozenset()) -> None:
        self.codes_only = codes_only
        self._database = database
        self._wakeups = wakeups

    async def issue_code(self, tenant_id: str, approval_id: str, now: datetime) -> str:
        """Return an approval's short code, which is the same on every call."""
        while True:
            row = await self._database.call(
                "select issue_code($1,$2,$3,$4,$5) as code", tenant_id, approval_id, new_codes(), now, CODE_RESTS
            )
            if row and row["code"]:
                return str(row["code"])

    async def decide(
        self,
        tenant_id: str,
        approval_id: str,
        verb: Verb,
        *,
        how: DecidedBy,
        channel: str | None,
        now: datetime,
        said_in: str,
        changes: JsonObject | None = None,
    ) -> bool:
        """Decide, or propose changes (`Verb.EDIT`), and wake the turn. Return False if the approval was not open.

        `said_in` is the message with the decision, whose sender decides, or an id that the operator makes for it.
        """
        made, row = await decide_and_write(
            self._database,
            ("select approval_facts($1,$2) as facts from set_tenant($1)", (tenant_id, approval_id)),
            lambda facts: decide_said(
                ApprovalFacts.from_json(facts) if facts else None, verb, how, said_in, changes, now
            ),
            lambda facts, ruling: (
                "select decide_approval($1,$2,$3,$4,$5) as lane_id",
                (tenant_id, facts, ruling.to_json(), {"channel": channel or "", "said_in": said_in}, now),
            ),
        )
        if row["lane_id"]:
            self._wakeups.wake_turn(row["lane_id"])
        return made.outcome in MADE.values()

    async def find(self, tenant_id: str, code: str) -> Approval | None:
        """Return the newest approval with a code, decided or not."""
        statement = f"{_SELECT} a.code = $2 order by a.created_at desc limit 1"
        row = await self._database.tenant_row(tenant_id, statement, code.upper())
        return Approval.from_row(dict(row)) if row else None

    async def get(self, tenant_id: str, approval_id: str) -> Approval | None:
        row = await self._database.tenant_row(tenant_id, f"{_SELECT} a.id = $2", approval_id)
        return Approval.from_row(dict(row)) if row else None

    async def find_pending(self, code: str = "") -> Sequence[tuple[str, str]]:
        """Return all tenants' pending approvals, or those with a code, as (tenant, approval), the oldest first."""
        rows = await self._database.rows("select * from find_pending($1,$2)", code.upper(), _MAX_AT_ONCE)
        return [(row["tenant_id"], row["approval_id"]) for row in rows]

    async def pending(self, tenant_id: str) -> Sequence[Approval]:
        """Return a person's pending approvals, the oldest first."""
        statement = f"{_SELECT} a.state = 'pending' order by a.created_at, a.id"
        rows = await self._database.tenant_rows(tenant_id, statement)
        return [Approval.from_row(dict(row)) for row in rows]

    async def list_pending(self, tenant_id: str) -> list[PendingApproval]:
        """Return a person's pending approvals in the seed's fields."""
        return [
            PendingApproval(
                code=approval.code,
                agent_name=approval.name,
                action_summary=approval.summary,
                created_at=approval.created_at,
                expires_at=approval.expires_at,
                source=approval.source,
                risk=approval.risk,
                task_id=approval.task_id,
                details=dict(approval.arguments),
            )
            for approval in await self.pending(tenant_id)
        ]

    async def ran(self, tenant_id: str, approval_id: str, outcome: Outcome, now: datetime) -> None:
        """Record that an approved action ran; only the first record counts."""
        await self._database.call("select approval_ran($1,$2,$3,$4)", tenant_id, approval_id, outcome, now)

    async def refused(self, tenant_id: str, approval_id: str, reason: str, now: datetime) -> None:
        """Record that an approved action was not run after all."""
        await self._database.call(
            "select audit_approval($1,$2,$3,'refused','','',$4,'{}') from set_tenant($1)",
            tenant_id,
            approval_id,
            now,
            reason,
        )

    async def audit(self, tenant_id: str, approval_id: str) -> Sequence[JsonObject]:
        rows = await self._database.tenant_rows(
            tenant_id,
            "select at, what, hash, identity_id, channel, how, detail from approval_audit"
            " where tenant_id = $1 and approval_id = $2 order by id",
            approval_id,
        )
        return [dict(row) | {"at": row["at"].isoformat()} for row in rows]

    async def show_elsewhere(self, tenant_id: str, approval_id: str, outbound_id: str) -> None:
        """Show a high-risk card that went out by SMS or email in another chat of the person too, if there is any."""
        row = await self._database.call("select show_elsewhere($1,$2,$3) as shown", tenant_id, approval_id, outbound_id)
        if row and row["shown"]:
            self._wakeups.wake_delivery(row["shown"])

    async def sweep_cards(self, now: datetime) -> None:
        """Start the expiry of cards whose sender died after sending, and end approvals that could not be shown."""
        for row in await self._database.rows("select * from sweep_cards($1,$2)", now, _MAX_AT_ONCE):
            self._wakeups.wake_turn(row["lane_id"])

    async def scrub(self, now: datetime) -> None:
        """Remove used confirmation numbers from stored messages."""
        await self._database.call("select scrub_numbers($1,$2)", now, _MAX_AT_ONCE)

    async def expire(self, now: datetime) -> int:
        """End the expired approvals of all tenants and wake their turns. Return their number."""
        rows = await self._database.rows("select * from expire_approvals($1,$2)", now, _MAX_AT_ONCE)
        for row in rows:
            if row["lane_id"]:
                self._wakeups.wake_turn(row["lane_id"])
        return len(rows)

    async def remind(self, make_id: IdMaker, now: datetime) -> None:
        """Remind people of undecided approvals, once, in the chat that has the card."""

        async def take(due: asyncpg.Record) -> None:
            row = await self._database.one(
                "select remind_approval($1,$2,$3,$4) as told", due["tenant_id"], due["approval_id"], make_id("out"), now
            )
            if row["told"]:
                self._wakeups.wake_delivery(row["told"])

        rows = await self._database.rows("select * from due_reminders($1,$2)", now, _MAX_AT_ONCE)
        await take_each(rows, take, "approval_not_reminded")

    async def remind_now(
        self, tenant_id: str, approval_id: str, outbound_id: str, *, how: DecidedBy, channel: str, now: datetime
    ) -> bool:
        """Remind a person by hand; return False if the approval is decided, or they were just reminded.

        Repeatable by `outbound_id`.
        """
        row = await self._database.call(
            "select remind_approval_now($1,$2,$3,$4,$5,$6) as told",
            tenant_id,
            approval_id,
            outbound_id,
            {"channel": channel, "how": how},
            REMIND_GAP,
            now,
        )
        if row and row["told"]:
            self._wakeups.wake_delivery(row["told"])
        return bool(row and row["told"])


class ApprovalMerge(MergeHook):
    """Reissue, when two people are merged, the approvals that are bound to the person who goes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        """Close the open approvals; their turns ask again, bound to the person who stays."""
        await connection.execute("select reissue_approvals($1,$2)", gone, self._clock.now())

    async def before_parting(self, connection: Connection, parting: Parting) -> None:
        """Close the open approvals; each side's turns ask again, bound to their new owner."""
        await connection.execute("select reissue_approvals($1,$2)", parting.tenant_id, parting.now)
