"""Turns in Postgres: leases on lanes, and the transactions that begin a turn and end it."""

from collections.abc import Collection, Sequence
from datetime import timedelta

import asyncpg
import structlog

from core.db.database import Database
from core.db.decided import MOST_DECISIONS
from core.db.outages import Owners
from core.errors import StoreUnavailable
from core.ids import IdMaker
from core.journal.types import Lease
from core.json_types import JsonObject
from core.loop.control import InterruptSignal
from core.messaging.due_messages import Claim
from core.messaging.outbox import ClaimAfter
from core.messaging.streamed_message import StreamRow
from core.queue.limits import MAX_LANES_PER_TENANT
from core.queue.quarantine import USUAL_TERMS, QuarantineMode, claim_terms
from core.turns.beginnings import load_turn
from core.turns.failures import fail_turn
from core.turns.outage import ModelOutage
from core.turns.stored import BegunTurn, TurnEnd

HISTORY_ROWS = 200
"""Messages of a session that are loaded for a turn; the context manager trims them to the model's context."""

_CLAIM = "select * from claim_lane($1,$2,$3,$4,$5,$6,$7,$8)"
_CLAIM_TURN = (
    "select c.*, t.* from claim_lane($1,$2,$3,$4,$5,$6,$7,$8) c"
    " left join lateral open_turn(c.tenant_id, c.lane_id, c.fence, $9, $10, $11) t on true"
)
_RENEW = "select held.held, cut.* from renew_lane($1,$2,$3,$4) held, lane_cut($1,$2) cut"

REST_KEPT = timedelta(days=1)
"""The time for which a person may ask for the rest of a long answer."""

_log = structlog.get_logger()


class TurnStore:
    """Claim lanes, begin and finish turns. Statements may be repeated: an error does not mean they failed.

    `channels`: those that are on, on which runs may speak; empty: any. `described`: the collections of a person's
    stored values of which a turn begins with the keys and descriptions.
    """

    def __init__(
        self,
        database: Database,
        make_id: IdMaker,
        lease: timedelta,
        channels: Collection[str] = (),
        quarantine: QuarantineMode = QuarantineMode.TAKE,
        *,
        described: Sequence[str] = (),
    ) -> None:
        self._database = database
        self._make_id = make_id
        self.lease = lease
        self._channels = frozenset(channels)
        self._quarantine = quarantine
        self._described = list(described)
        self._owners = Owners(make_id)

    async def claim(self, lane_id: str | None, worker: str) -> Lease | None:
        """Claim the named lane, or the lane that has waited longest. Return None if nothing waits."""
        return await self._claim(_CLAIM, lane_id, worker)

    async def claim_turn(self, lane_id: str, worker: str) -> Lease | None:
        """Claim the named lane and begin its turn, in one round trip. Return None if nothing waits there.

        A turn that the database refuses is left to `begin`, whose failure ends it.
        """
        try:
            return await self._claim(_CLAIM_TURN, lane_id, worker, self._make_id("turn"), HISTORY_ROWS, self._described)
        except StoreUnavailable:
            raise
        except asyncpg.PostgresError:
            _log.exception("turn_not_begun", lane=lane_id)
            return await self.claim(lane_id, worker)

    async def _claim(self, statement: str, lane_id: str | None, worker: str, *more: object) -> Lease | None:
        facts, terms = None, USUAL_TERMS[self._quarantine]
        for _ in range(MOST_DECISIONS):
            with self._owners.claiming(worker) as owner:
                given = (lane_id, worker, owner, self.lease, MAX_LANES_PER_TENANT)
                row = await self._database.call(statement, *given, facts, terms.patience, terms.others, *more)
            if row is None:
                return None
            if row["lane_id"]:
                return Lease(row["tenant_id"], row["lane_id"], row["fence"], owner, row if row.get("turn_id") else None)
            if (next_terms := claim_terms(self._quarantine, facts := row["quarantine"])) is None:
                return None
            terms = next_terms
        return None

    async def end_leases(self, worker: str, hung_on: str | None = None) -> None:
        """Free at once the lanes of this worker, which is known to be dead, and count the crashes of its turns.

        `hung_on`: None unless its event loop hung, else the lane or the outbound message that blocked it, which alone
        has then crashed, or "" if that is not known.
        """
        await self._database.call("select end_leases($1,$2)", worker, hung_on)

    async def renew(self, lease: Lease, interrupt: InterruptSignal | None = None) -> bool:
        """Prolong the lease; False when another worker has it by now. Sets `interrupt` to cut off the turn."""
        row = await self._database.call(_RENEW, lease.tenant_id, lease.lane_id, lease.fence, self.lease)
        if row and interrupt:
            interrupt.set(row["stop"], superseded=row["superseded"], halted=row["halted"])
        return bool(row and row["held"])

    async def look_for_interrupt(self, lease: Lease, interrupt: InterruptSignal) -> None:
        """Set `interrupt` if the person has asked to stop the lane's turn, or sent a message that should end it."""
        row = await self._database.call("select * from lane_cut($1,$2)", lease.tenant_id, lease.lane_id)
        if row:
            interrupt.set(row["stop"], superseded=row["superseded"], halted=row["halted"])

    async def leave(self, lease: Lease, delay: timedelta) -> None:
        """Release the lease voluntarily; the turn is retried after `delay`, not counted as an attempt."""
        await self._database.call("select leave_lane($1,$2,$3,$4)", lease.tenant_id, lease.lane_id, lease.fence, delay)

    async def begin(self, lease: Lease) -> BegunTurn | None:
        """Begin or resume the lane's turn, unless the claim did; None if nothing waits: the lease is handed back."""
        row = lease.opened
        if row is None:
            row = await self._database.call(
                "select * from open_turn($1,$2,$3,$4,$5,$6)",
                lease.tenant_id,
                lease.lane_id,
                lease.fence,
                self._make_id("turn"),
                HISTORY_ROWS,
                self._described,
            )
        if row is None:
            return None
        channels, described = self._channels, self._described
        return await load_turn(self._database, lease, row, channels, described)

    async def finish(
        self, lease: Lease, turn_id: str, end: TurnEnd, steps: Sequence[JsonObject], claim: ClaimAfter | None
    ) -> tuple[bool, Claim | None]:
        """Commit the turn's results and last steps, and `claim` the head of its outbox in the same transaction.

        Return whether more inbound came, so that the lease is kept, and the claim.
        """
        write, given = end.statement((lease.tenant_id, lease.lane_id, lease.fence), turn_id, steps)
        if claim is None:
            return bool((await self._database.one(write, *given))["more"]), None
        row, claimed = await claim(write, given, lease.lane_id)
        return bool(row["more"]), claimed

    async def fail(self, lease: Lease, turn_id: str | None, absorbed: Sequence[str] = ()) -> bool:
        """End a turn that cannot end by itself, or messages for which none can begin. Return True if more waits."""
        lane = (lease.tenant_id, lease.lane_id, lease.fence)
        return await fail_turn(self._database, lane, turn_id, self._make_id("out"), absorbed)

    async def say_more(self, tenant_id: str, conversation_id: str, turn_id: str) -> bool:
        """Owe the next portion of the conversation's last answer; False if none of it is left."""
        given = (tenant_id, conversation_id, turn_id, self._make_id("out"), REST_KEPT)
        row = await self._database.call("select say_more($1,$2,$3,$4,$5) as said", *given)
        return bool(row and row["said"])

    def outage(self, lease: Lease, turn_id: str, *, tells: bool) -> ModelOutage:
        """Return the handling of a turn while its model is down; `tells`: somebody waits for its answer."""
        return ModelOutage(self._database, lease, turn_id, self._make_id, tells)

    def stream_row(self, lease: Lease, turn_id: str) -> StreamRow:
        """Return the row in which a turn's answer may grow on the screen."""
        return StreamRow(self._database, lease.tenant_id, lease.lane_id, lease.fence, turn_id, self._make_id("out"))
