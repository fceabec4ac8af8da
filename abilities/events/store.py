"""Events in Postgres, with the work of each consumer group on them."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

from abilities.events.types import Event, SourceGone
from core import tracing
from core.db.database import Database
from core.ids import IdMaker

SINCE = timedelta(days=1)
"""The age up to which a new group gets earlier events."""
KEPT = timedelta(days=30)
"""The time for which events are stored, handled or not."""


@dataclass(frozen=True, slots=True)
class EventRef:
    """The name of an event across tenants."""

    tenant_id: str
    source: str
    id: str

    def to_row_id(self) -> str:
        """Return the name as wakeups carry it."""
        return json.dumps([self.tenant_id, self.source, self.id])

    @classmethod
    def from_row_id(cls, row_id: str) -> Self:
        """Read the name in a wakeup; raise `ValueError` or `TypeError` if it is invalid."""
        return cls(*json.loads(row_id))


@dataclass(frozen=True, slots=True)
class ClaimedEvent:
    """An event that a consumer holds for a group, until its lease ends.

    `attempts` counts this attempt. `names` are all that its source is or was called, `traceparent` the context of the
    span in which it came in.
    """

    event: Event
    group: str
    owner: str
    attempts: int
    names: tuple[str, ...]
    traceparent: str | None = None


class WorkState(StrEnum):
    """The states of a group's work on an event."""

    WAITING = "waiting"
    DONE = "done"
    POISON = "poison"
    """Set aside; tried again only when the operator asks."""


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event with a group's work on it; `group` and `state` are None if no group wanted it."""

    event: Event
    received_at: datetime
    group: str | None = None
    state: WorkState | None = None
    attempts: int = 0
    reason: str = ""


class EventStore:
    """Store, claim and end events. Every call may be repeated."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self._database = database
        self._make_id = make_id

    async def keep(self, event: Event, also: str | None = None, source_id: str | None = None) -> tuple[str, ...] | None:
        """Store an event; return the groups that want it, None if it is known by its id or `also`.

        Raises `SourceGone` if `source_id` is given and is not the tenant's source of this name.
        """
        values = (event.source, event.id, also or "", event.type, event.data, event.occurred_at, tracing.traceparent())
        if source_id is not None:
            statement = "select * from publish_source_event($1,$2,$3,$4,$5,$6,$7,$8,$9)"
            row = await self._database.call(statement, event.tenant_id, source_id, *values)
            if row is None or not row["current"]:
                raise SourceGone(source_id)
        else:
            row = await self._database.call(
                "select publish_event($1,$2,$3,$4,$5,$6,$7,$8) as groups", event.tenant_id, *values
            )
        return None if row is None or row["groups"] is None else tuple(row["groups"])

    async def add_group(self, name: str, pattern: str) -> None:
        """Add a pattern to a group; a new group gets the events of the last day, too."""
        await self._database.call("select * from add_event_group($1,$2,$3)", name, like(pattern), SINCE)

    async def drop_group(self, name: str, pattern: str) -> None:
        """Remove a pattern from a group; with its last pattern its waiting work is deleted, too."""
        await self._database.call("select * from drop_event_group($1,$2)", name, like(pattern))

    async def claim(self, ref: EventRef, group: str, lease: timedelta) -> ClaimedEvent | None:
        """Claim an event for a group; None when it is handled, set aside, claimed by another, or not due."""
        return await self._claim(ref, group, self._make_id("own"), lease)

    async def claim_next(self, group: str, lease: timedelta) -> ClaimedEvent | None:
        """Claim the event that has waited longest for a group; None if none is due."""
        owner = self._make_id("own")
        row = await self._database.call("select * from claim_next_event($1,$2,$3)", group, owner, lease)
        if row is None:
            return None
        ref = EventRef(row["tenant_id"], row["source"], row["event_id"])
        claimed = await self._claim(ref, group, owner, lease)
        if claimed is None:  # its person has become another's, or its source has another name
            await self._database.call("select free_moved_event($1,$2,$3)", ref.id, group, owner)
        return claimed

    async def _claim(self, ref: EventRef, group: str, owner: str, lease: timedelta) -> ClaimedEvent | None:
        row = await self._database.call(
            "select * from claim_event($1,$2,$3,$4,$5,$6)", ref.tenant_id, ref.source, ref.id, group, owner, lease
        )
        if row is None:
            return None
        event = Event(ref.source, row["type"], row["data"], ref.id, ref.tenant_id, row["occurred_at"])
        return ClaimedEvent(event, group, owner, row["attempts"], tuple(row["names"]), row["traceparent"])

    async def end(
        self, claimed: ClaimedEvent, state: WorkState, reason: str = "", delay: timedelta = timedelta()
    ) -> bool:
        """Store the end of work on an event; return False when another worker has claimed it by now.

        WAITING without a reason returns it without counting the attempt.
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
        """Retry an event that was set aside; return False when it was not."""
        row = await self._database.call("select retry_event($1,$2,$3) as found", ref.tenant_id, ref.source, ref.id)
        return bool(row and row["found"])

    async def prune(self, before: datetime, limit: int = 1000) -> int:
        """Delete events received before a moment; return their number."""
        row = await self._database.call("select * from prune_events($1,$2)", before, limit)
        return int(row["pruned"]) if row else 0

    async def recent(self, tenant_id: str, limit: int = 50, *, poison_only: bool = False) -> list[EventRecord]:
        """Return a person's newest events with the work on them."""
        rows = await self._database.tenant_rows(
            tenant_id,
            "select e.*, w.group_name, w.state, w.attempts, w.reason from events e"
            " left join event_work w on w.tenant_id = e.tenant_id and w.source = e.source and w.event_id = e.id"
            " where e.tenant_id = $1 and (not $3 or w.state = 'poison')"
            " order by e.received_at desc, w.group_name limit $2",
            limit,
            poison_only,
        )
        return [
            EventRecord(
                Event(row["source"], row["type"], row["data"], row["id"], tenant_id, row["occurred_at"]),
                row["received_at"],
                row["group_name"],
                WorkState(row["state"]) if row["state"] else None,
                row["attempts"] or 0,
                row["reason"] or "",
            )
            for row in rows
        ]


def like(pattern: str) -> str:
    """Return a pattern with `*` and `?` as an SQL LIKE pattern."""
    for plain, quoted in (("\\", "\\\\"), ("%", "\\%"), ("_", "\\_"), ("*", "%"), ("?", "_")):
        pattern = pattern.replace(plain, quoted)
    return pattern
