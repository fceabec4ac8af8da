"""The optional services of a worker's turns."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.approvals.store import ApprovalStore
from core.people.commands import PersonCommands
from core.turns.runs import Runs
from core.turns.stored import BegunTurn
from core.turns.words.asked import ConsoleLinks, ProgramWords
from jobs.turns.call_status import Tell
from jobs.turns.messages import ProgramTurns


@dataclass(frozen=True, slots=True)
class TurnFeatures:
    """Optional services of turns.

    `holds_cards`: whether a person's quiet hours hold the cards of a task's run. `remembers`: whether memory is on.
    """

    people: PersonCommands | None = None
    runs: Runs | None = None
    approvals: ApprovalStore | None = None
    holds_cards: Callable[[str, str], Awaitable[bool]] | None = None
    remembers: bool = True
    console: ConsoleLinks | None = None
    program_turns: ProgramTurns | None = None
    programs: ProgramWords | None = None
    tell_doing: Tell | None = None

    async def are_held(self, turn: BegunTurn) -> bool:
        """Return whether the person's quiet hours hold the cards of a turn, if it is a task's run."""
        if self.holds_cards is None or turn.run_id is None:
            return False
        return await self.holds_cards(turn.request.tenant.id, turn.run_id)

    def told_of_run(self) -> None:
        """Report the end of a run to the executor of runs."""
        if self.runs is not None:
            self.runs.noted()
