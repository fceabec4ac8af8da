"""The receipts of a person, read from the journal and from those that it no longer holds."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial

import asyncpg

from abilities.receipts.period import bounds
from abilities.receipts.types import Counts, Days, Position, Receipt
from core.clock import Clock
from core.db.database import Connection, Database

PAGE = 50
"""Receipts of a page."""
_AT_A_TIME = 500
"""Receipts of a file that memory holds."""
_READ = "select told from read_receipts($1,$2,$3,$4,$5,$6,$7)"
_OF_TURN = """
select s.started_at as at, receipt_number(s.turn_id, s.agent_path, s.step, s.call_index) as number, s.name as tool,
    receipt_outcome(s) as outcome
from steps s where s.tenant_id = $1 and s.turn_id = $2 and is_effect(s) and not exists (
    select from receipts r where r.tenant_id = $1 and r.turn_id = $2 and r.agent_path = s.agent_path
    and r.step = s.step and r.call_index = s.call_index)
union all
select r.at, r.number, r.told ->> 'tool', r.told ->> 'outcome' from receipts r where r.tenant_id = $1 and r.turn_id = $2
order by 1, 2
"""

type ReadRows = Callable[..., Awaitable[Sequence[asyncpg.Record]]]
"""Runs a statement as a person, who is its `$1`, with further arguments; returns its rows."""


@dataclass(frozen=True, slots=True)
class ReceiptReader:
    """Read a person's receipts by `rows`, in a zone that says when a day begins."""

    rows: ReadRows
    zone: tzinfo

    async def newest(self, days: Days, limit: int = PAGE, before: Position | None = None) -> list[Receipt]:
        """Return the newest receipts of a period, the newest first, or those before another."""
        return await self._read(days, before, limit, newest=True)

    async def in_order(self, days: Days) -> AsyncIterator[Receipt]:
        """Yield all receipts of a period, the oldest first; memory holds some of them."""
        last: Position | None = None
        while page := await self._read(days, last, _AT_A_TIME, newest=False):
            for receipt in page:
                yield receipt
            last = page[-1].position

    async def count(self, days: Days) -> Counts:
        """Return the numbers of receipts in a period."""
        (row,) = await self.rows("select * from count_receipts($1,$2,$3)", *bounds(days, self.zone))
        return Counts(row["receipts"], row["without_card"], row["unknown"], row["under_way"])

    async def _read(self, days: Days, after: Position | None, limit: int, *, newest: bool) -> list[Receipt]:
        begin, end = bounds(days, self.zone)
        if after is not None and not newest:
            begin = max(begin, after[0])  # what was read is not looked at again
        rows = await self.rows(_READ, begin, end, *(after or (None, "")), newest, limit)
        return [Receipt.read(row["told"]) for row in rows]


@dataclass(frozen=True, slots=True)
class Receipts:
    """A person's receipts, for tools and chat words."""

    database: Database
    clock: Clock
    tenant_id: str

    def reader(self, zone: tzinfo) -> ReceiptReader:
        """Return a reader by the days of a zone."""
        return ReceiptReader(partial(self.database.tenant_rows, self.tenant_id), zone)

    def now(self) -> datetime:
        """Return the present moment of the clock by which the journal is dated."""
        return self.clock.machine_now()


async def receipts_of_turn(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[asyncpg.Record]:
    """Return a turn's receipts in order: `at`, `number`, `tool` and `outcome`."""
    return await connection.fetch(_OF_TURN, tenant_id, turn_id)
