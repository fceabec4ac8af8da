"""The optional services of a worker's turns."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.approvals.store import ApprovalStore
from core.people.commands import PersonCommands
from core.turns.runs import Runs
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
