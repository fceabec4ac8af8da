"""Standing consents in Postgres: each call names the tenant. Every call may be repeated."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from core.clock import Clock
from core.consents.types import MAX_ACTIVE, Agreed, ConsentUse, EndReason, StandingConsent
from core.db.database import Connection, Database
from core.journal.types import Outcome
from core.json_types import JsonObject, canonical_hash
from core.people.merge import MergeHook, Parting

_EXAMPLES = 20
_LISTED = 100


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a turn that a consent may cover."""

    tenant_id: str
    turn_id: str
    call_id: str
    tool: str
    arguments: JsonObject

    @property
    def use_id(self) -> str:
        """Return the id that its use has, in each repeat."""
        return f"use_{canonical_hash([self.turn_id, self.call_id])[:26]}"

    @property
    def arguments_hash(self) -> str:
        return canonical_hash(self.arguments)


class ConsentStore:
    """The consents of all tenants; each call names the tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def grant(self, agreed: Agreed, turn_id: str, key: str, agent: str, asked: JsonObject, now: datetime) -> int:
        """Store a consent that the person approved in this turn, and return its number; 0 if they have too many.

        `asked` are the approved arguments of `agent`. Raises `PermissionError` if there is no such approval.
        """
        consent = {
            "id": f"cns_{canonical_hash([turn_id, key])[:26]}",
            "turn_id": turn_id,
            "agent": agent,
            "asked": asked,
            "name": agreed.tool,
            "sealed": agreed.sealed,
            "hash": agreed.hash,
            "told": agreed.told,
            "max_uses": agreed.max_uses,
            "expires_at": agreed.expires_at.isoformat(),
        }
        row = await self._database.call(
            "select * from grant_consent($1,$2,$3,$4)", agreed.tenant, consent, MAX_ACTIVE, now
        )
        if row is None or row["refused"] == "not_approved":
            raise PermissionError("no approval of the person stands behind this consent")
        return int(row["number"])

    async def used_by(self, call: Call) -> ConsentUse | None:
        """Return the use that this very call, with these arguments, has recorded before; None if there is none."""
        row = await self._database.tenant_row(
            call.tenant_id,
            "select id, number from consent_uses where tenant_id = $1 and turn_id = $2 and call_id = $3"
            " and arguments_hash = $4",
            call.turn_id,
            call.call_id,
            call.arguments_hash,
        )
        return ConsentUse(row["id"], row["number"]) if row else None

    async def use(self, consent: StandingConsent, call: Call, notice: str, now: datetime) -> ConsentUse | None:
        """Check, count and record a use in a transaction; None if the consent is no longer valid.

        `notice` is the message about it to the person, with the id of the use in place of its number.
        """
        use: JsonObject = {
            "id": call.use_id,
            "consent_id": consent.id,
            "hash": consent.hash,
            "turn_id": call.turn_id,
            "call_id": call.call_id,
            "arguments_hash": call.arguments_hash,
        }
        row = await self._database.call("select * from use_consent($1,$2,$3,$4)", call.tenant_id, use, notice, now)
        return ConsentUse(row["use_id"], row["used"]) if row and row["used"] else None

    async def note_outcome(self, tenant_id: str, use_id: str, outcome: Outcome) -> None:
        """Record the outcome of a call that ran by a consent; the first record counts."""
        await self._database.repeat(
            tenant_id,
            "update consent_uses set outcome = $3 where tenant_id = $1 and id = $2 and outcome = ''",
            use_id,
            outcome,
        )

    async def active(self, tenant_id: str, now: datetime, tool: str | None = None) -> Sequence[StandingConsent]:
        """Return the valid consents for a tool, or for all, the oldest first."""
        rows = await self._database.tenant_rows(
            tenant_id,
            "select * from standing_consents where tenant_id = $1 and state = 'active' and expires_at > $2"
            " and ($3::text is null or name = $3) order by number",
            now,
            tool,
        )
        return [StandingConsent.from_row(dict(row)) for row in rows]

    async def all(self, tenant_id: str) -> Sequence[StandingConsent]:
        """Return a person's consents, including those that ended lately, the newest first."""
        rows = await self._database.tenant_rows(
            tenant_id,
            "select * from standing_consents where tenant_id = $1 order by number desc limit $2",
            _LISTED,
        )
        return [StandingConsent.from_row(dict(row)) for row in rows]

    async def withdraw(
        self, tenant_id: str, number: int | None, how: str, now: datetime, text: str = ""
    ) -> Sequence[int]:
        """End a consent, or all if no number is given. Return the numbers of the consents that ended now.

        `text`: the message about it to the person, empty if they know.
        """
        rows = await self._database.rows(
            "select * from end_consents($1,$2,null,$3,$4,$5,$6)", tenant_id, number, EndReason.WITHDRAWN, how, text, now
        )
        return sorted(row["number"] for row in rows)

    async def end(self, consent: StandingConsent, tenant_id: str, reason: EndReason, text: str, now: datetime) -> None:
        """End a consent that is no longer valid, and notify the person."""
        await self._database.rows(
            "select * from end_consents($1,null,$2,$3,'',$4,$5)", tenant_id, consent.id, reason, text, now
        )

    async def approved_calls(self, tenant_id: str, tool: str) -> Sequence[JsonObject]:
        """Return the arguments of calls that the person approved, the newest first."""
        rows = await self._database.tenant_rows(
            tenant_id,
            "select arguments from approvals where tenant_id = $1 and name = $2 and state = 'approved'"
            " order by decided_at desc limit $3",
            tool,
            _EXAMPLES,
        )
        return [cast(JsonObject, row["arguments"]) for row in rows]


class ConsentMerge(MergeHook):
    """End, when two people are merged or part, the consents that were bound to either as they were before."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        """End the consents of the person who goes."""
        await _end_all(connection, gone, self._clock.now())

    async def before_parting(self, connection: Connection, parting: Parting) -> None:
        """End all consents: nothing says who granted each."""
        await _end_all(connection, parting.tenant_id, parting.now)


async def _end_all(connection: Connection, tenant_id: str, now: datetime) -> None:
    await connection.execute(
        "select * from end_consents($1,null,null,$2,'','',$3)", tenant_id, EndReason.LINKED.value, now
    )
