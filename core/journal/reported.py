"""The journal as a run of the loop writes it: it waits for its store, and reports each step to log and metrics."""

import asyncio
import time
from collections.abc import Callable, Sequence

import structlog

from core import metrics
from core.errors import StoreUnavailable
from core.journal.types import Journal, StepKind, StepRecord, StepState


class PatientJournal:
    """A journal that waits while its store is away for a moment.

    A tool's action has happened whether or not it can be recorded: giving up at once would leave its outcome
    unknown. `patience` is in seconds; after it `StoreUnavailable` is raised as it came.
    """

    def __init__(self, journal: Journal, patience: float, pause: float = 0.3) -> None:
        self._journal = journal
        self._patience = patience
        self._pause = pause

    async def recorded(self) -> Sequence[StepRecord]:
        return await self._journal.recorded()

    async def write(self, record: StepRecord) -> None:
        ends = time.monotonic() + self._patience
        while True:
            try:
                return await self._journal.write(record)
            except StoreUnavailable:
                if time.monotonic() >= ends:
                    raise
                await asyncio.sleep(self._pause)

    async def outcome_unknown(self, name: str, arguments_hash: str) -> bool:
        return await self._journal.outcome_unknown(name, arguments_hash)


_log = structlog.get_logger()


class ReportedJournal:
    """Report each step once it is committed; replayed steps are not written, hence not reported again.

    `find_tool` returns None for a name that no tool has: a model made it up, and it may be any text.
    """

    def __init__(self, journal: Journal, turn_id: str, find_tool: Callable[[str], object]) -> None:
        self._journal = journal
        self._turn_id = turn_id
        self._find_tool = find_tool

    async def recorded(self) -> Sequence[StepRecord]:
        return await self._journal.recorded()

    async def write(self, record: StepRecord) -> None:
        await self._journal.write(record)
        if record.state is StepState.DONE:
            self._report(record)

    async def outcome_unknown(self, name: str, arguments_hash: str) -> bool:
        return await self._journal.outcome_unknown(name, arguments_hash)

    def _report(self, record: StepRecord) -> None:
        is_call = record.kind is StepKind.TOOL
        name = metrics.UNKNOWN if is_call and self._find_tool(record.name) is None else record.name
        kind, outcome = record.kind.value, record.outcome.value
        metrics.STEP_SECONDS.labels(kind, name if is_call else "", outcome).observe(record.duration_ms / 1000)
        _log.info(
            "step_finished",
            turn=self._turn_id,
            step=record.key.step,
            call=record.key.call_index,
            agent=record.key.agent_path,
            kind=kind,
            name=name,
            outcome=outcome,
            duration_ms=record.duration_ms,
        )


def journal_of_run(journal: Journal, patience: float, turn_id: str, find_tool: Callable[[str], object]) -> Journal:
    """Return the journal as a run of the loop writes it: patient with its store, and reported."""
    return ReportedJournal(PatientJournal(journal, patience), turn_id, find_tool)
