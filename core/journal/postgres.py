"""The journal of a turn in Postgres, written under the lease on the turn's lane."""

import time
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from core.db.database import Database
from core.journal.types import Lease, StepKey, StepKind, StepRecord, StepState, TurnNews
from core.json_types import JsonObject


class PostgresJournal:
    """The journal of a turn, written under its lease. `is_new`: the turn has just been begun, with no steps yet.

    A model's step is written with the prompt that it was sent, in the same statement. Each write returns the news for
    the turn, so that nobody need ask: `news` is from the last write. Steps that may wait go out with the next write.
    Hurried steps are written again with the next write that is waited for: Postgres may die and lose them, not us.
    """

    def __init__(self, database: Database, lease: Lease, turn_id: str, *, is_new: bool = False) -> None:
        self._database = database
        self._lease = lease
        self._turn_id = turn_id
        self._empty = is_new
        self._waiting: dict[StepKey, tuple[float, StepRecord]] = {}
        self._unflushed: dict[StepKey, tuple[float, StepRecord]] = {}
        self.news = TurnNews() if is_new else None

    async def recorded(self) -> Sequence[StepRecord]:
        waiting = [record for _, record in self._waiting.values()]
        if self._empty:
            return waiting
        rows = await self._database.rows("select * from read_steps($1,$2)", self._lease.tenant_id, self._turn_id)
        return [*map(StepRecord.from_row, rows), *waiting]

    async def write(self, *records: StepRecord) -> None:
        given = {record.key: (time.monotonic(), record) for record in records}
        acting = [record for record in records if not record.may_wait]
        if not acting:
            self._waiting |= given
            self.news = None  # of before the step, which may have taken long
        else:
            await self._store(given)

    async def flush(self) -> None:
        if self._waiting:
            await self._store({})

    def waiting(self) -> Sequence[JsonObject]:
        return self._rows(self._unflushed | self._waiting)

    @staticmethod
    def _rows(records: dict[StepKey, tuple[float, StepRecord]]) -> list[JsonObject]:
        now = time.monotonic()
        return [
            {
                **{"agent_path": row.key.agent_path, "step": row.key.step, "call_index": row.key.call_index},
                **{"kind": row.kind.value, "name": row.name, "args_hash": row.arguments_hash},
                **{"effect": row.effect.value, "state": row.state.value, "outcome": row.outcome.value},
                **{"idempotency_key": row.idempotency_key, "result": row.result, "usage": row.usage.to_json()},
                **{"duration_ms": row.duration_ms, "waited_ms": int((now - since) * 1000)},
                "prompt": b64encode(row.prompt.packed()).decode() if row.prompt else None,
                "hurried": _is_hurried(row),
            }
            for since, row in records.values()
        ]

    async def _store(self, given: dict[StepKey, tuple[float, StepRecord]]) -> None:
        self._empty, new = False, self._waiting | given
        hurried = all(_is_hurried(record) for _, record in new.values())
        again = {} if hurried else dict(self._unflushed)
        row = await self._database.call(
            "select record_step($1,$2,$3,$4,$5) as news",
            self._lease.tenant_id,
            self._lease.lane_id,
            self._lease.fence,
            self._turn_id,
            self._rows(again | new),
        )
        self._waiting = {key: kept for key, kept in self._waiting.items() if key not in new}
        self._unflushed = {key: kept for key, kept in self._unflushed.items() if key not in again}
        if hurried:
            for key, (since, record) in new.items():
                if record.kind is StepKind.MODEL or not record.may_wait:  # a reading that is lost is read again
                    self._unflushed[key] = (since, replace(record, prompt=None))
        self.news = news_of(row["news"]) if row else None

    async def outcome_unknown(self, name: str, arguments_hash: str) -> bool:
        given = (self._lease.tenant_id, name, arguments_hash)
        row = await self._database.call("select has_unknown_outcome($1,$2,$3) as unknown", *given)
        return bool(row and row["unknown"])


def _is_hurried(row: StepRecord) -> bool:
    """Return whether nobody waits for the disk: in the turn's own loop, another write precedes each effect."""
    return row.state is StepState.DONE and row.kind in (StepKind.MODEL, StepKind.TOOL) and not row.key.agent_path


def news_of(told: JsonObject | None) -> TurnNews:
    """Return the news that the SQL function `turn_news` tells; none if it tells nothing."""
    if told is None:
        return TurnNews()
    return TurnNews(cast("str | None", told["stop"]), cast(list[JsonObject], told["waiting"]), bool(told["halted"]))
