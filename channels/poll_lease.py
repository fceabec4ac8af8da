"""The lease on polling: a single web process at a time reads a provider's news for an account."""

from dataclasses import dataclass
from datetime import timedelta

from core.db.database import Database
from core.errors import StoreUnavailable
from core.messaging.channels import Check

TTL = timedelta(seconds=15)
"""Longer than a long poll with its margin. A process that died keeps the others waiting for so long."""


@dataclass(frozen=True, slots=True)
class PollState:
    """The state of polling across all processes."""

    polled: bool
    problem: str


class PollLease:
    """Hold the lease for a process. Every method raises `StoreUnavailable` while Postgres is away."""

    def __init__(self, database: Database, *, channel: str, account: str, owner: str) -> None:
        self._database = database
        self._channel = channel
        self._account = account
        self._owner = owner

    async def claim(self) -> int | None:
        """Take or renew the lease; return the offset to continue from, or None while another process holds it."""
        row = await self._database.call(
            "select next_offset from claim_poll($1, $2, $3, $4)", self._channel, self._account, self._owner, TTL
        )
        return int(row["next_offset"]) if row else None

    async def keep(self, offset: int, problem: str = "") -> bool:
        """Store the offset and the present problem; return False if the lease was lost."""
        row = await self._database.call(
            "select keep_poll($1, $2, $3, $4, $5) as kept", self._channel, self._account, self._owner, offset, problem
        )
        return bool(row and row["kept"])

    async def release(self) -> None:
        """End the lease, so that another process can begin at once."""
        await self._database.call("select release_poll($1, $2, $3)", self._channel, self._account, self._owner)

    async def look(self) -> PollState:
        row = await self._database.call("select * from look_at_poll($1, $2)", self._channel, self._account)
        return PollState(row["polled"], row["problem"]) if row else PollState(polled=False, problem="")


async def check_lease(lease: PollLease | None, what: str, *, does: str, fix: str) -> Check:
    """Check whether a process holds the lease. `does`: its work, reads or polls; `fix`: the fix for its problem."""
    if lease is None:
        return Check(what, ok=True, detail=f"configured; the database knows whether a process {does}")
    try:
        state = await lease.look()
    except StoreUnavailable as error:
        return Check.failed(what, error, "the database does not answer", "start Postgres")
    if not state.polled:
        return Check(what, ok=False, detail=f"no process {does}", fix="start `web`")
    if state.problem:
        return Check(what, ok=False, detail=state.problem, fix=fix)
    return Check(what, ok=True, detail=f"one process {does}")
