"""A chat word of a turn: the argument of its answer, and the possible outcomes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from core.approvals.store import ApprovalStore
from core.messaging.chat_words import CommandAnswer
from core.messaging.messages import Command
from core.people.commands import PersonCommands
from core.people.tenant import TurnTenant
from core.tools.context import found_service
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from core.turns.stored import BegunTurn
from core.turns.types import TurnRequest

type WordOutcome = CommandAnswer | TurnRequest | BegunTurn | None
"""The reply, the turn that the word begins, the turn as it goes on with the assistant, or None: the word is a text like
any other."""
type WordHandler = Callable[[Asked], Awaitable[WordOutcome]]
"""The function that `ChatCommand.answer` names."""


class ConsoleLinks(Protocol):
    """Links that lead people to the console; without a `public_url` there are none."""

    @property
    def public_url(self) -> str: ...

    @property
    def valid(self) -> timedelta:
        """Return the time for which a link is good."""
        ...

    async def link(self, tenant_id: str, now: datetime) -> str | None:
        """Return a new link for a person; None if they had too many today, or there is no console."""
        ...


class ProgramWords(Protocol):
    """The answers about the programs that a person lets in."""

    async def answer(self, argument: str, person: TurnTenant, *, slash: bool = False) -> str | None:
        """Return the reply, or None if the words are for the assistant. `slash`: a typed command, so never for it."""
        ...


@dataclass(frozen=True, slots=True)
class CommandRooms:
    """The rooms that answer; without a room, its words are plain text."""

    turns: TurnStore
    orchestrator: Orchestrator
    people: PersonCommands | None = None
    approvals: ApprovalStore | None = None
    console: ConsoleLinks | None = None
    programs: ProgramWords | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A word of a turn."""

    command: Command
    turn: BegunTurn
    rooms: CommandRooms

    @property
    def request(self) -> TurnRequest:
        """Return the turn's request."""
        return self.turn.request

    def service[Kind](self, kind: type[Kind]) -> Kind:
        """Return an ability's service for this person. Raises `ToolFailed` if none has that type."""
        services = self.rooms.orchestrator.services
        return found_service(services.for_turn(self.request.tenant.id, self.turn.turn_id), kind)

    @property
    def slash(self) -> bool:
        """Return whether it was written with a slash, and is no sentence then."""
        return bool(self.request.inbound) and self.request.inbound[-1].text.lstrip().startswith("/")
