"""Endpoints: the addresses that operators subscribe to kinds of events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self
from urllib.parse import urlsplit

import asyncpg

from core.db.database import Database
from core.ids import IdMaker


class EventKind(StrEnum):
    """The kinds of events that endpoints receive."""

    TURN_DONE = "turn.done"
    TURN_FAILED = "turn.failed"
    EFFECT_DONE = "effect.done"
    """A call of a tool or an agent with an effect has succeeded."""
    APPROVAL_DECIDED = "approval.decided"
    """Approved, cancelled, changed, or expired."""
    DELIVERY_FAILED = "delivery.failed"
    """A message to a person was given up."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address that receives some kinds of events. `reason`: why it was disabled."""

    id: str
    url: str
    kinds: tuple[EventKind, ...]
    active: bool
    generation: int
    rotated_at: datetime | None
    failures: int
    reason: str

    @property
    def host(self) -> str:
        """Return the host of its address, which may hold a secret further on."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        kinds = tuple(EventKind(kind) for kind in row["kinds"] if kind in tuple(EventKind))
        return cls(
            row["id"],
            row["url"],
            kinds,
            row["active"],
            row["generation"],
            row["rotated_at"],
            row["failures"],
            row["reason"],
        )


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Add, list, change and delete endpoints."""

    database: Database
    make_id: IdMaker

    async def add(self, url: str, kinds: Iterable[EventKind]) -> Endpoint:
        """Add an endpoint; the address is checked by the caller."""
        id_ = self.make_id("whe")
        await self.database.call(
            "insert into webhook_endpoints (id, url, kinds) values ($1,$2,$3) on conflict do nothing",
            id_,
            url,
            [kind.value for kind in dict.fromkeys(kinds)],
        )
        found = await self.find(id_)
        if found is None:
            raise LookupError(id_)
        return found

    async def all(self) -> Sequence[Endpoint]:
        """Return all endpoints, the oldest first."""
        rows = await self.database.rows("select * from webhook_endpoints order by created_at, id")
        return [Endpoint.from_row(row) for row in rows]

    async def find(self, id_: str) -> Endpoint | None:
        rows = await self.database.rows("select * from webhook_endpoints where id = $1", id_)
        return Endpoint.from_row(rows[0]) if rows else None

    async def rotate(self, endpoint: Endpoint) -> None:
        """Give an endpoint a new secret; the one before signs too for a while. Repeating it changes nothing."""
        await self.database.call(
            "update webhook_endpoints set generation = generation + 1, rotated_at = clock_timestamp()"
            " where id = $1 and generation = $2",
            endpoint.id,
            endpoint.generation,
        )

    async def change(self, endpoint: Endpoint, *, active: bool) -> None:
        """Enable an endpoint, which is tried at once, or disable it."""
        await self.database.call(
            "update webhook_endpoints set active = $2, failures = 0, given_up = 0, retry_at = clock_timestamp(),"
            " told_at = case when $2 then null else clock_timestamp() end,"
            " reason = case when $2 then '' else 'by the operator' end where id = $1",
            endpoint.id,
            active,
        )

    async def delete(self, endpoint: Endpoint) -> None:
        """Delete an endpoint with all its sent and waiting messages."""
        await self.database.call("select delete_webhook_endpoint($1)", endpoint.id)

    async def untold(self) -> Sequence[Endpoint]:
        """Return the disabled endpoints that the operator has not been told about."""
        rows = await self.database.rows("select * from webhook_endpoints where not active and told_at is null")
        return [Endpoint.from_row(row) for row in rows]

    async def note_told(self, endpoint: Endpoint) -> None:
        """Record that the operator was told that an endpoint was disabled."""
        await self.database.call("update webhook_endpoints set told_at = clock_timestamp() where id = $1", endpoint.id)
