"""A journal in memory."""

from collections.abc import Sequence

from core.journal.types import Outcome, StepRecord, StepState
from core.json_types import JsonObject


class MemoryJournal:
    """A journal in memory: for tests, and for turns that need not survive."""

    def __init__(self, records: Sequence[StepRecord] = ()) -> None:
        self._rows = {record.key: record for record in records}

    async def recorded(self) -> Sequence[StepRecord]:
        return sorted(self._rows.values(), key=_order)

    async def write(self, *records: StepRecord) -> None:
        for record in records:
            known = self._rows.get(record.key)
            if known is None or known.state is StepState.STARTED:
                self._rows[record.key] = record

    async def flush(self) -> None:
        """Do nothing: no row waits here."""

    def waiting(self) -> Sequence[JsonObject]:
        return ()

    async def outcome_unknown(self, name: str, arguments_hash: str) -> bool:
        return any(
            row.name == name and row.arguments_hash == arguments_hash and row.outcome is Outcome.UNKNOWN
            for row in self._rows.values()
        )


def _order(record: StepRecord) -> tuple[str, int, int]:
    return record.key.agent_path, record.key.step, record.key.call_index
