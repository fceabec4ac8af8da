"""The actions that can be taken back, in Postgres: `record_step` stores the offers of a call with its result."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import asyncpg

from core.db.database import Database
from core.json_types import JsonObject
from core.tools.undo import INSTEAD, UndoOffer

MAX_LISTED = 10
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CODE = re.compile(r"([A-Z])([1-9][0-9]?)?")
_TASK = "task"
"""The argument of an inverse that is the id of the task which was made or changed."""
_MAX_KEPT = 100


@dataclass(frozen=True, slots=True)
class UndoRecord:
    """Something that was done, and the call that takes it back. `number` counts from 1 among those that are kept.

    People read its `code`, a letter: a number could be taken for that of the task which was made.
    """

    id: str
    number: int
    title: str
    tool: str
    arguments: JsonObject
    until: datetime
    undone: bool = False

    @property
    def code(self) -> str:
        """Return the letter by which people name it: A to Z, then A2 to Z2 and so on."""
        turn, place = divmod(self.number - 1, len(_LETTERS))
        return f"{_LETTERS[place]}{turn + 1 if turn else ''}"

    @property
    def task(self) -> str:
        """Return the id of the task that was made or changed; empty for other actions."""
        return str(self.arguments.get(_TASK) or "")

    @property
    def instead(self) -> str:
        """Return why it cannot be taken back and the alternative, in a sentence; empty if it can."""
        return "" if self.tool else str(self.arguments.get(INSTEAD, ""))


def number_of(code: str) -> int:
    """Return the number of the record with a code; 0, which none has, for a text that is no code."""
    match = _CODE.fullmatch(code.strip().upper())
    return _LETTERS.index(match[1]) + 1 + len(_LETTERS) * (int(match[2] or 1) - 1) if match else 0


class UndoStore:
    """Everybody's records; each call names the tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, tenant_id: str, number: int | None, call: str, now: datetime) -> UndoRecord | None:
        """Return the action that a call takes back: the newest record, or that of this number; None if there is none.

        A repeated call returns the same. A record that another call took back is returned as `undone`.
        """
        row = await self._database.call("select * from take_undo($1,$2,$3,$4)", tenant_id, number, call, now)
        return _record(row) if row else None

    async def end(self, tenant_id: str, record_id: str) -> None:
        """Note that a record was taken back."""
        await self._database.call("select end_undo($1,$2)", tenant_id, record_id)

    async def open(self, tenant_id: str, now: datetime) -> Sequence[UndoRecord]:
        """Return the actions that can still be taken back, the newest first."""
        return [record for record in await self.done(tenant_id, now) if record.tool][:MAX_LISTED]

    async def done(self, tenant_id: str, now: datetime) -> Sequence[UndoRecord]:
        """Return the actions that were not taken back, including those that cannot be, the newest first."""
        rows = await self._database.repeat(
            tenant_id,
            "select id, number, title, tool, arguments, open_until, undone from undo_records"
            " where tenant_id = $1 and open_until > $2 and not undone order by number desc, created_at desc limit $3",
            now,
            _MAX_KEPT,
        )
        return [_record(row) for row in rows]

    async def keep(self, tenant_id: str, turn_id: str, call: str, offers: Sequence[UndoOffer]) -> None:
        """Store a command's offers to take it back, which no call's result carries; a repeat stores nothing more."""
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
