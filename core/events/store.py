"""Events in Postgres: the rows, and what each group of consumers has done with them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from core.db.database import Database
from core.events.types import Event, SourceGone
from core.ids import IdMaker

SINCE = timedelta(days=1)
"""How far back a group that is new gets what was published before."""
KEPT = timedelta(days=30)
"""How long events stay, handled or not."""


@dataclass(frozen=True, slots=True)
class EventRef:
    """Name an event across tenants: what travels through Redis."""

    tenant_id: str
    source: str
    id: str


@dataclass(frozen=True, slots=True)
class ClaimedEvent:
    """An event that a consumer holds for a group, until its lease ends. `attempts` counts this one."""

    event: Event
    group: str
    owner: str
    attempts: int


class WorkState(StrEnum):
    """Where an event stands with a group."""

    WAITING = "waiting"
    DONE = "done"
    POISON = "poison"
    """Set aside on its row; tried again only when the operator asks."""


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One event with one group's work on it, for people to read; `group` is empty where nobody wanted it."""

    event: Event
    received_at: datetime
    group: str = ""
    state: str = ""
    attempts: int = 0
    reason: str = ""


class EventStore:
    """Keep, claim and end events. Every call may be repeated."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self._database = database
        self._make_id = make_id

    async def keep(self, event: Event, also: str = "", source_id: str = "") -> tuple[str, ...] | None:
        """Keep an event; return the groups that want it, None when it is known under its id or `also`.

        Raises `SourceGone` when `source_id` is given and is not the tenant's source of this name.
        """
        kept = (event.source, event.id, also, event.type, event.data, event.occurred_at)
        if source_id:
            statement = "select * from publish_source_event($1,$2,$3,$4,$5,$6,$7,$8)"
            row = await self._database.call(statement, event.tenant_id, source_id, *kept)
            if row is None or not row["current"]:
                raise SourceGone(source_id)
        else:
            row = await self._database.call(
                "select publish_event($1,$2,$3,$4,$5,$6,$7) as groups", event.tenant_id, *kept
            )
        return None if row is None or row["groups"] is None else tuple(row["groups"])

    async def add_group(self, name: str, pattern: str) -> None:
        """Make a group known that wants what matches; new ones get what came within a day before, too."""
        await self._database.call("select * from add_event_group($1,$2,$3)", name, like(pattern), SINCE)

    async def drop_group(self, name: str, pattern: str) -> None:
        """Forget that a group wants what matches; with its last pattern, what waits for it goes, too."""
        await self._database.call("select * from drop_event_group($1,$2)", name, like(pattern))

    async def find_work(self, group: str, after: timedelta, limit: int = 100) -> list[EventRef]:
        """Find what waits for a group although a stream had the time `after` to bring it."""
        rows = await self._database.rows("select * from find_event_work($1,$2,$3)", group, after, limit)
        return [EventRef(row["tenant_id"], row["source"], row["event_id"]) for row in rows]

    async def claim(self, ref: EventRef, group: str, lease: timedelta) -> ClaimedEvent | None:
        """Take an event for a group; None when it is handled, set aside, held by another, or not due."""
        owner = self._make_id("own")
        row = await self._database.call(
            "select * from claim_event($1,$2,$3,$4,$5,$6)", ref.tenant_id, ref.source, ref.id, group, owner, lease
        )
        if row is None:
            return None
        event = Event(ref.source, row["type"], row["data"], ref.id, ref.tenant_id, row["occurred_at"])
        return ClaimedEvent(event, group, owner, row["attempts"])

    async def end(
        self, claimed: ClaimedEvent, state: WorkState, reason: str = "", delay: timedelta = timedelta()
    ) -> bool:
        """Write what became of a claimed event; False when its lease is another's by now.

        Waiting without a reason gives it back untried.
        """
        event = claimed.event
        row = await self._database.call(
            "select end_event($1,$2,$3,$4,$5,$6,$7,$8) as ended",
            event.tenant_id,
            event.source,
            event.id,
            claimed.group,
            claimed.owner,
            state.value,
            reason,
            delay,
        )
        return bool(row and row["ended"])

    async def retry(self, ref: EventRef) -> bool:
        """Let what was set aside be tried anew; False when nothing was."""
        row = await self._database.call("select retry_event($1,$2,$3) as found", ref.tenant_id, ref.source, ref.id)
        return bool(row and row["found"])

    async def prune(self, before: datetime, limit: int = 1000) -> int:
        """Delete events received before a moment; return how many went."""
        row = await self._database.call("select * from prune_events($1,$2)", before, limit)
        return int(row["pruned"]) if row else 0

    async def want_channel_events(self, tenant_id: str, wanted: bool) -> None:
        """Let a person's own channels publish events (`message.received`, `delivery.failed`), or no longer."""
        async with self._database.tenant(tenant_id) as connection:
            await connection.execute(
                "update tenants set channel_events = $2 where tenant_id = $1 and channel_events <> $2",
                tenant_id,
                wanted,
            )

    async def recent(self, tenant_id: str, limit: int = 50, *, poison_only: bool = False) -> list[EventRecord]:
        """List a person's newest events with what became of them."""
        async with self._database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select e.*, w.group_name, w.state, w.attempts, w.reason from events e"
                " left join event_work w on w.tenant_id = e.tenant_id and w.source = e.source and w.event_id = e.id"
                " where e.tenant_id = $1 and (not $3 or w.state = 'poison')"
                " order by e.received_at desc, w.group_name limit $2",
                tenant_id,
                limit,
                poison_only,
            )
        return [
            EventRecord(
                Event(row["source"], row["type"], row["data"], row["id"], tenant_id, row["occurred_at"]),
                row["received_at"],
                row["group_name"] or "",
                row["state"] or "",
                row["attempts"] or 0,
                row["reason"] or "",
            )
            for row in rows
        ]


def like(pattern: str) -> str:
    """Return the SQL LIKE pattern for one with `*` and `?`."""
    for plain, quoted in (("\\", "\\\\"), ("%", "\\%"), ("_", "\\_"), ("*", "%"), ("?", "_")):
        pattern = pattern.replace(plain, quoted)
    return pattern
