"""Dispatch a chat word to its answer, without a model."""

from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name
from typing import cast

from core.messaging.chat_reader import chat_words
from core.messaging.chat_words import CommandAnswer, CommandUndo
from core.messaging.messages import Command
from core.queue.wakeups import Wakeups
from core.tools.undo import UndoOffers
from core.turns.stored import BegunTurn, TurnOutcome
from core.turns.types import TurnRequest, TurnResult, TurnState
from core.turns.words.asked import Asked, CommandRooms, WordHandler


@dataclass(frozen=True, slots=True)
class ChatCommands:
    """Answer the commands of all rooms, each by its word's declaration."""

    rooms: CommandRooms
    wakeups: Wakeups

    async def answer(self, command: Command, turn: BegunTurn) -> TurnOutcome | BegunTurn:
        """Carry out a command; return its outcome, or the turn that goes on with the assistant."""
        word = chat_words().find(command.name)
        if word is None:
            return turn
        if word.checked and (refused := await self._refused(turn)):
            return TurnOutcome(refused)
        match await answers_of(word.answer)(Asked(command, turn, self.rooms)):
            case CommandAnswer() as answer:
                return await self._said(answer, turn)
            case TurnRequest() as begun:
                return TurnOutcome(await self.rooms.orchestrator.handle_message(begun))
            case BegunTurn() as going_on:
                return going_on
        return turn

    async def _said(self, answer: CommandAnswer, turn: BegunTurn) -> TurnOutcome:
        if answer.undo is not None:
            await self._offer_undo(answer.undo, turn)
        for conversation_id in answer.queued:
            self.wakeups.wake_delivery(conversation_id)
        result = TurnResult(TurnState.DONE, reply=answer.text, reason=answer.reason)
        return TurnOutcome(result, new_session=answer.new_session)

    async def _offer_undo(self, undo: CommandUndo, turn: BegunTurn) -> None:
        store = self.rooms.orchestrator.services.undo
        if store is None:
            return
        offers = UndoOffers(self.rooms.orchestrator.clock)
        offers.offer(undo.title, undo.tool, undo.arguments)
        await store.keep(turn.request.tenant.id, turn.turn_id, f"{turn.turn_id}/command", offers.offered)

    async def _refused(self, turn: BegunTurn) -> TurnResult | None:
        refusal = await self.rooms.orchestrator.check_command(turn.request)
        return None if refusal is None else TurnResult(TurnState.DONE, reply=refusal.reply, reason=refusal.reason)


@cache
def answers_of(name: str) -> WordHandler:
    """Return the answer function that a declaration names."""
    return cast(WordHandler, resolve_name(name))
