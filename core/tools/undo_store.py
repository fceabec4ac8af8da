"""What can be taken back, in Postgres: `record_step` stores the offers of a call with its result."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import asyncpg

from core.db.database import Database
from core.json_types import JsonObject
from core.tools.undo import INSTEAD, UndoOffer

MAX_LISTED = 10
_MAX_KEPT = 100


@dataclass(frozen=True, slots=True)
class UndoRecord:
    """Something that was done, and the call that takes it back. `number` counts from 1 among those that are kept."""

    id: str
    number: int
    title: str
    tool: str
    arguments: JsonObject
    until: datetime
    undone: bool = False

    @property
    def instead(self) -> str:
        """Return why it cannot be taken back and what can be done, in a sentence; empty where it can."""
        return "" if self.tool else str(self.arguments.get(INSTEAD, ""))


class UndoStore:
    """Everybody's records, one tenant at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, tenant_id: str, number: int | None, call: str, now: datetime) -> UndoRecord | None:
        """Return what a call takes back: the newest record, or the one of this number; None where there is none.

        A repeat of the call gets the same again. One that was taken back by another call is returned as `undone`.
        """
        row = await self._database.call("select * from take_undo($1,$2,$3,$4)", tenant_id, number, call, now)
        return _record(row) if row else None

    async def end(self, tenant_id: str, record_id: str) -> None:
        """Note that a record was taken back."""
        await self._database.call("select end_undo($1,$2)", tenant_id, record_id)

    async def open(self, tenant_id: str, now: datetime) -> Sequence[UndoRecord]:
        """Return what can still be taken back, the newest first."""
        return [record for record in await self.done(tenant_id, now) if record.tool][:MAX_LISTED]

    async def done(self, tenant_id: str, now: datetime) -> Sequence[UndoRecord]:
        """Return what was done and not taken back, also what cannot be, the newest first."""
        rows = await self._database.rows("select * from read_undo($1,$2,$3)", tenant_id, now, _MAX_KEPT)
        return [_record(row) for row in rows]

    async def keep(self, tenant_id: str, turn_id: str, call: str, offers: Sequence[UndoOffer]) -> None:
        """Store what a command offers to take back, which no call's result carries; a repeat stores nothing more."""
        made = [offer.to_json() for offer in offers]
        await self._database.call("select offer_undo($1,$2,$3,$4)", tenant_id, turn_id, call, made)


def _record(row: asyncpg.Record) -> UndoRecord:
    return UndoRecord(
        row["id"],
        row["number"],
        row["title"],
        row["tool"],
        cast(JsonObject, row["arguments"]),
        row["open_until"],
        row["undone"],
    )
