"""What a claimed turn results in: from a command, a task's run, the assistant, or an apology."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import structlog

from core.approvals.cards import card
from core.approvals.types import NewApproval
from core.errors import LeaseLost, StoreUnavailable, TurnDelayed
from core.journal.postgres import Lease
from core.llm.types import ChatMessage, Role
from core.loop.answer_limits import too_long
from core.loop.steering import spoken, taken_in
from core.messaging.channels import NotificationChannel
from core.messaging.commands import MORE
from core.queue.wakeups import Wakeups
from core.triggers.runs.executors import RunExecutors
from core.turns.commands import ChatCommands, command_of
from core.turns.failures import FAILURE, POISON, RUN_FAILURE, Sorry
from core.turns.orchestrator import Orchestrator
from core.turns.runs import RunNote
from core.turns.store import TurnStore
from core.turns.types import BegunTurn, TurnResult, TurnState
from jobs.preview import show_progress

MAX_DEATHS = 3
"""A turn that killed so many processes is set aside as poison. Deaths with other turns in the process do not count."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """A turn's result and what else is stored with it. `note` is set for the turn of a task's run."""

    result: TurnResult
    note: RunNote | None = None
    new_session: bool = False


class TurnResults:
    """Work on a turn until its outcome is known; nothing of the outcome is stored here."""

    def __init__(
        self,
        store: TurnStore,
        orchestrator: Orchestrator,
        wakeups: Wakeups,
        channels: Mapping[str, NotificationChannel],
        commands: ChatCommands,
        runs: RunExecutors | None,
    ) -> None:
        self._store = store
        self._orchestrator = orchestrator
        self._wakeups = wakeups
        self._channels = channels
        self._commands = commands
        self._runs = runs

    async def of(self, lease: Lease, turn: BegunTurn) -> TurnOutcome:
        """Return a turn's outcome. Raise `TurnDelayed`, `LeaseLost` or `StoreUnavailable` where it has none yet."""
        poison = is_poison(turn) or bool(turn.run_id and self._runs is None)
        turn = replace(turn, request=replace(turn.request, too_long=self._cards_too_long(turn.address.channel)))
        try:
            if not poison and turn.run_id and self._runs is not None:
                return TurnOutcome(*await self._runs.result(turn.request, turn.run_id))
            if not poison:
                return await self._answer(lease, turn)
        except (LeaseLost, StoreUnavailable, TurnDelayed):
            raise
        except Exception:
            _log.exception("turn_failed", turn=turn.turn_id)
        reason, sorry = ("poison", POISON) if poison else ("error", FAILURE)
        result = await _set_aside(turn, RUN_FAILURE if turn.run_id else sorry, reason)
        return TurnOutcome(result, RunNote("FAILED", reason, text=result.reply) if turn.run_id else None)

    async def _answer(self, lease: Lease, turn: BegunTurn) -> TurnOutcome:
        """Answer what a person wrote: a command by itself, anything else with the assistant."""
        if command := command_of(turn):
            if command.name == MORE and await self._store.say_more(lease, turn.turn_id):
                self._wakeups.wake_delivery(lease.lane_id)
                return TurnOutcome(TurnResult(TurnState.DONE, reason=MORE))
            if answer := await self._commands.answer(command, turn):
                return TurnOutcome(answer.result, new_session=answer.new_session)
        row = self._store.stream_row(lease, turn.turn_id)
        channel = self._channels.get(turn.address.channel)
        async with show_progress(channel, turn.address, turn.turn_id, row) as hooks:
            return TurnOutcome(await self._orchestrator.handle_message(replace(turn.request, hooks=hooks)))

    def _cards_too_long(self, name: str) -> Callable[[NewApproval], bool]:
        channel = self._channels.get(name)
        return lambda approval: channel is not None and too_long(card(approval, "").message, channel)


def is_poison(turn: BegunTurn) -> bool:
    """Return whether a turn has killed too many processes to be tried again."""
    return turn.blamed >= MAX_DEATHS


async def _set_aside(turn: BegunTurn, sorry: Sorry, reason: str) -> TurnResult:
    """Fail a turn together with all messages it took in: what it did for them may not be done again."""
    recorded = await turn.request.journal.recorded()
    steered, text = taken_in(recorded), sorry.text(recorded)
    spoken_messages = [line for message in (*turn.request.inbound, *steered) for line in spoken(message)]
    return TurnResult(
        TurnState.FAILED,
        reply=text,
        reason=reason,
        history=(*spoken_messages, ChatMessage(Role.ASSISTANT, text)),
        absorbed=tuple(message.id for message in steered),
    )
