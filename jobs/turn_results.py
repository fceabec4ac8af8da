"""What a claimed turn results in: from a command, a task's run, the assistant, or an apology."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

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
from core.turns.runs import RunNote, RunState
from core.turns.store import TurnStore
from core.turns.types import BegunTurn, TurnResult, TurnState
from jobs.preview import show_progress

MAX_SOLO_CRASHES = 3
"""A turn that crashed so many processes alone, at one place, is set aside as poison."""
MAX_CRASHES = 12
"""A turn that crashed so often is poison, wherever it did."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """A turn's result and what else is stored with it. `note` is set for the turn of a task's run."""

    result: TurnResult
    note: RunNote | None = None
    new_session: bool = False


@dataclass(frozen=True, slots=True)
class TurnResults:
    """Work on a turn until its outcome is known; nothing of the outcome is stored here."""

    store: TurnStore
    orchestrator: Orchestrator
    wakeups: Wakeups
    channels: Mapping[str, NotificationChannel]
    commands: ChatCommands
    runs: RunExecutors | None

    async def of(self, lease: Lease, turn: BegunTurn) -> TurnOutcome:
        """Return a turn's outcome. Raise `TurnDelayed`, `LeaseLost` or `StoreUnavailable` where it has none yet."""
        poison = is_poison(turn) or bool(turn.run_id and self.runs is None)
        outage = self.store.outage(lease, turn.turn_id, tells=turn.run_id is None)
        too_long = self._cards_too_long(turn.address.channel)
        turn = replace(turn, request=replace(turn.request, too_long=too_long, outage=outage))
        try:
            if not poison and turn.run_id and self.runs is not None:
                return TurnOutcome(*await self.runs.result(turn.request, turn.run_id))
            if not poison:
                return await self._answer(lease, turn)
        except (LeaseLost, StoreUnavailable, TurnDelayed):
            raise
        except Exception:
            _log.exception("turn_failed", turn=turn.turn_id)
        reason, sorry = ("poison", POISON) if poison else ("error", FAILURE)
        result = await _set_aside(turn, RUN_FAILURE if turn.run_id else sorry, reason)
        return TurnOutcome(result, RunNote(RunState.FAILED, reason, text=result.reply) if turn.run_id else None)

    async def _answer(self, lease: Lease, turn: BegunTurn) -> TurnOutcome:
        """Answer what a person wrote: a command by itself, anything else with the assistant."""
        if command := command_of(turn):
            if command.name == MORE and await self.store.say_more(lease, turn.turn_id):
                self.wakeups.wake_delivery(lease.lane_id)
                return TurnOutcome(TurnResult(TurnState.DONE, reason=MORE))
            if answer := await self.commands.answer(command, turn):
                return TurnOutcome(answer.result, new_session=answer.new_session)
        row = self.store.stream_row(lease, turn.turn_id)
        channel = self.channels.get(turn.address.channel)
        said = partial(self.wakeups.wake_delivery, lease.lane_id)
        async with show_progress(channel, turn, row, said) as hooks:
            return TurnOutcome(await self.orchestrator.handle_message(replace(turn.request, hooks=hooks)))

    def _cards_too_long(self, name: str) -> Callable[[NewApproval], bool]:
        channel = self.channels.get(name)
        return lambda approval: channel is not None and too_long(card(approval, "").message, channel)


def is_poison(turn: BegunTurn) -> bool:
    """Return whether a turn has crashed too many processes to be tried again."""
    return turn.solo_crashes >= MAX_SOLO_CRASHES or turn.crashes >= MAX_CRASHES


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
