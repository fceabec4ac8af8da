"""A plugin whose process kills itself, for real, at the point of a turn that the person's text names.

    "k07 1.1"        after the row (step 1, call 1) is committed        "k07 begun"   before anything is
    "k07 started 1.1"  after its started row is                         "k07 acted 2" in the tool, after its effect
    "k07 stored"     while its file is taken in: `kills_files`
    "k07 1.1 drop"   the same, with the journal's writes dropped: the mutation that must make a test fail

KILLS_FOLDER is where effects and marks are kept; a process with KILLS_ONLY takes the turn of that text only.
"""

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import TurnDelayed
from core.journal.types import Journal, StepRecord, StepState
from core.json_types import JsonObject
from core.tools.tool import tool
from core.turns.context import Refusal
from core.turns.orchestrator import Orchestrator
from core.turns.types import TurnRequest, TurnResult
from tests.plugins.kills_files import dying


@tool(effect="once")
async def mark(turn: str, number: int) -> str:
    """Leave a mark, which nobody can take away again."""
    _append("effects", f"{turn} {number}")
    die_at(turn, f"acted {number}")
    return f"mark {number} is made"


class DyingOrchestrator(Orchestrator):
    """Answers turns as the product does, over a journal at whose points the process dies."""

    def __init__(self, *given: Any, **options: Any) -> None:
        if files := options.get("files"):
            options["files"] = dying(files, die_at)
        super().__init__(*given, **options)

    async def check_command(self, request: TurnRequest) -> Refusal | None:
        """Begin a turn with files, which are taken in after this and before the message is handled."""
        if any(message.media_count for message in request.inbound):
            _begin(request)
        return await super().check_command(request)

    async def handle_message(self, request: TurnRequest) -> TurnResult:
        """Take the turn, unless it is another process's to die of; a task's run has no point to die at."""
        if not request.inbound:
            return await super().handle_message(request)
        if not any(message.media_count for message in request.inbound):
            _begin(request)
        turn, _, plan = request.inbound[0].text.partition(" ")
        journal = DyingJournal(request.work.journal, turn, drops=plan.endswith(" drop"))
        return await super().handle_message(replace(request, work=replace(request.work, journal=journal)))


def _begin(request: TurnRequest) -> None:
    """Note what the turn dies of, and that it runs here."""
    turn, _, plan = request.inbound[0].text.partition(" ")
    if os.environ.get("KILLS_ONLY", turn) != turn:
        raise TurnDelayed("not this process's")
    _append("runs", f"{turn} {os.getpid()}")
    _append(f"plan-{turn}", plan.removesuffix(" drop"))
    die_at(turn, "begun")


@dataclass(frozen=True, slots=True)
class DyingJournal:
    """The turn's own journal, and death right behind a write."""

    journal: Journal
    turn: str
    drops: bool

    async def recorded(self) -> Sequence[StepRecord]:
        """Return what was kept."""
        return await self.journal.recorded()

    async def write(self, *records: StepRecord) -> None:
        """Keep rows, or lose them; then die if this was the point."""
        if not self.drops:
            await self.journal.write(*records)
        for record in records:
            point = f"{record.key.step}.{record.key.call_index}"
            die_at(self.turn, point if record.state is StepState.DONE else f"started {point}")

    async def flush(self) -> None:
        """Keep what waits."""
        await self.journal.flush()

    def waiting(self) -> Sequence[JsonObject]:
        """Return what waits."""
        return self.journal.waiting()

    async def outcome_unknown(self, name: str, arguments_hash: str) -> bool:
        """Ask the journal."""
        return await self.journal.outcome_unknown(name, arguments_hash)


def die_at(turn: str, point: str) -> None:
    """Kill this process if the turn's plan says so, once over all processes."""
    folder = Path(os.environ["KILLS_FOLDER"])
    if (folder / f"plan-{turn}").read_text().splitlines()[0] != point:
        return
    try:
        os.close(os.open(folder / f"died-{turn}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def _append(name: str, line: str) -> None:
    """Add a line to a file, whole, whoever else does."""
    handle = os.open(Path(os.environ["KILLS_FOLDER"]) / name, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)
