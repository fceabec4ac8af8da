"""A chat word as it is asked: what its answer is given, and what it may return."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.approvals.store import ApprovalStore
from core.clients.commands import ClientCommands
from core.console.sign_in import ConsoleSignIn
from core.messaging.chat_words import CommandAnswer
from core.messaging.messages import Command
from core.people.commands import PersonCommands
from core.tools.context import found_service
from core.turns.orchestrator import Orchestrator
from core.turns.types import BegunTurn, TurnRequest

type Answer = CommandAnswer | TurnRequest | BegunTurn | None
"""What is said, the turn that the word begins, the turn as it goes on with the assistant, or None: the word is a text
like any other."""
type Answers = Callable[[Asked], Awaitable[Answer]]
"""What `ChatCommand.answer` names."""


@dataclass(frozen=True, slots=True)
class CommandRooms:
    """The rooms that answer; without one of them, its words are plain text."""

    orchestrator: Orchestrator
    people: PersonCommands | None = None
    approvals: ApprovalStore | None = None
    console: ConsoleSignIn | None = None
    clients: ClientCommands | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A word of a turn. `say_more` owes the rest of the last answer here, and returns whether there is one."""

    command: Command
    turn: BegunTurn
    rooms: CommandRooms
    say_more: Callable[[], Awaitable[bool]]

    @property
    def request(self) -> TurnRequest:
        """Return what the turn was asked."""
        return self.turn.request

    def service[Kind](self, kind: type[Kind]) -> Kind:
        """Return what an ability brings for this person. Raises `ToolFailed` where there is nothing of that type."""
        services = self.rooms.orchestrator.services
        return found_service(services.for_turn(self.request.tenant.id, self.turn.turn_id), kind)

    @property
    def slash(self) -> bool:
        """Return whether it was written with a slash, and is no sentence then."""
        return bool(self.request.inbound) and self.request.inbound[-1].text.lstrip().startswith("/")
