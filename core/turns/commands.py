"""Chat commands: what a person asks of the gateway itself, answered without a model."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from core.agents.standard_agent import AgentStatus
from core.approvals.store import ApprovalStore
from core.clients.commands import ClientCommands
from core.console.sign_in import VALID, ConsoleSignIn
from core.credentials.types import Account
from core.language.catalogue import gettext
from core.memory.commands import MEMORY_COMMAND, answer_memory
from core.messaging.commands import ACCOUNT_COMMANDS, CLIENTS, UNDO, CommandAnswer, CommandUndo, answer_command
from core.messaging.messages import Command
from core.people.commands import PersonCommands
from core.queue.wakeups import Wakeups
from core.tools.undo import UndoOffers
from core.turns.account_commands import (
    DATA_TOOLS,
    about_data,
    answer_accounts,
    disconnecting,
    whom_to_disconnect,
    with_slash,
)
from core.turns.approval_commands import APPROVAL_COMMANDS, about_approvals
from core.turns.consents import CONSENT_COMMANDS, answer_consents
from core.turns.orchestrator import Orchestrator
from core.turns.types import BegunTurn, TurnRequest, TurnResult, TurnState
from core.turns.undo_words import undoing


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The end of a turn that was a command. `new_session`: the history before it is hidden from the model."""

    result: TurnResult
    new_session: bool = False


@dataclass(frozen=True, slots=True)
class ChatCommands:
    """Answer the commands of all rooms. Without `people`, `approvals` or `console`, their commands are plain text."""

    orchestrator: Orchestrator
    wakeups: Wakeups
    people: PersonCommands | None = None
    approvals: ApprovalStore | None = None
    console: ConsoleSignIn | None = None
    clients: ClientCommands | None = None

    async def answer(self, command: Command, turn: BegunTurn) -> CommandResult | None:
        """Do what a command says; None when it is unknown and its text goes to the assistant."""
        if self.approvals is not None and command.name in APPROVAL_COMMANDS:
            result = await self._refused(turn) or await about_approvals(
                self.approvals, self.orchestrator, command, turn
            )
            return CommandResult(result)
        if begun := self._begun(command, turn):
            return CommandResult(await self.orchestrator.handle_message(begun))
        if answers := self._of_rooms().get(command.name):
            return await answers(command, turn)
        answer = answer_command(command, turn.address.channel)
        momex = self.orchestrator.momex if command.name == MEMORY_COMMAND else None
        people = self.people if self.people and self.people.knows(command) else None
        if answer is None and momex is None and people is None:
            return None
        if refused := await self._refused(turn):
            return CommandResult(refused)
        tenant_id = turn.request.tenant.id
        if momex is not None:
            answer = CommandAnswer(await answer_memory(momex.for_tenant(tenant_id, turn.turn_id)))
        if answer is None and people is not None:
            answer = await people.answer(command, tenant_id, turn.turn_id, turn.address.channel)
        if answer is None:
            return None
        if answer.undo is not None:
            await self._offer_undo(answer.undo, turn)
        for conversation_id in answer.queued:
            self.wakeups.wake_delivery(conversation_id)
        return CommandResult(TurnResult(TurnState.DONE, reply=answer.text, reason=answer.reason), answer.new_session)

    def _of_rooms(self) -> Mapping[str, Callable[[Command, BegunTurn], Awaitable[CommandResult | None]]]:
        """Return what answers the commands of rooms that may be missing."""
        return {
            **dict.fromkeys(ACCOUNT_COMMANDS, self._about_accounts),
            **dict.fromkeys(CONSENT_COMMANDS, self._about_consents),
            "console": self._to_console,
            CLIENTS: self._about_clients,
        }

    def _begun(self, command: Command, turn: BegunTurn) -> TurnRequest | None:
        """Return the turn that a command begins with a call; None where it begins with none."""
        services = self.orchestrator.services
        if command.name == UNDO and services.undo:
            return undoing(turn.request, command.argument)
        return about_data(turn.request, command.name) if command.name in DATA_TOOLS and services.data else None

    async def _offer_undo(self, undo: CommandUndo, turn: BegunTurn) -> None:
        store = self.orchestrator.services.undo
        if store is None:
            return
        offers = UndoOffers(self.orchestrator.clock)
        offers.offer(undo.title, undo.tool, undo.arguments)
        await store.keep(turn.request.tenant.id, turn.turn_id, f"{turn.turn_id}/command", offers.offered)

    async def _about_accounts(self, command: Command, turn: BegunTurn) -> CommandResult | None:
        """Answer a command about accounts; None where its words may mean something else."""
        access = self.orchestrator.services.accounts
        if access is None:
            return None
        if refused := await self._refused(turn):
            return CommandResult(refused)
        accounts, slash = access.for_tenant(turn.request.tenant.id, turn.turn_id), with_slash(turn.request)
        if command.name == "disconnect":
            meant = await whom_to_disconnect(command.argument, accounts, slash=slash)
            if isinstance(meant, Account):
                begun = disconnecting(turn.request, command.argument)
                return CommandResult(await self.orchestrator.handle_message(begun))
            reply = meant
        else:
            reply = await answer_accounts(command, accounts, slash=slash)
        return None if reply is None else CommandResult(TurnResult(TurnState.DONE, reply=reply))

    async def _about_consents(self, command: Command, turn: BegunTurn) -> CommandResult | None:
        """List what is done without asking, or end it; None for the assistant."""
        services = self.orchestrator.services
        if services.consents is None:
            return None
        if refused := await self._refused(turn):
            return CommandResult(refused)
        reply = await answer_consents(command, services.consents, turn, services)
        return None if reply is None else CommandResult(TurnResult(TurnState.DONE, reply=reply))

    async def _to_console(self, command: Command, turn: BegunTurn) -> CommandResult | None:
        """Answer with a link to the console; None where there is none."""
        if self.console is None or not self.console.public_url:
            return None
        if refused := await self._refused(turn):
            return CommandResult(refused)
        link = await self.console.link(turn.request.tenant.id, self.orchestrator.clock.now())
        minutes = int(VALID.total_seconds() // 60)
        reply = (
            gettext("Open this within {number} minutes, in one browser: {link}", number=minutes, link=link)
            if link
            else gettext("You have had many links today. Ask me again tomorrow.")
        )
        return CommandResult(TurnResult(TurnState.DONE, reply=reply))

    async def _about_clients(self, command: Command, turn: BegunTurn) -> CommandResult | None:
        """Answer about programs that ask by a token; None for the assistant."""
        if self.clients is None:
            return None
        if refused := await self._refused(turn):
            return CommandResult(refused)
        reply = await self.clients.answer(command.argument, turn.request.tenant, slash=with_slash(turn.request))
        return None if reply is None else CommandResult(TurnResult(TurnState.DONE, reply=reply))

    async def _refused(self, turn: BegunTurn) -> TurnResult | None:
        refusal = await self.orchestrator.check_command(turn.request)
        return None if refusal is None else TurnResult(TurnState.DONE, reply=refusal.reply, reason=refusal.reason)


def command_of(turn: BegunTurn) -> Command | None:
    """Return the command that a turn is.

    The SMS word NEW is not one where an agent waits for input in this conversation: it answers the agent.
    """
    if turn.command is None or (turn.command.name, turn.address.channel) != ("new", "sms"):
        return turn.command
    here = turn.request.conversation_id
    waits = any(
        entry.conversation_id == here and entry.status is AgentStatus.WAITING_FOR_INPUT for entry in turn.request.pool
    )
    return None if waits else turn.command
