"""What a claimed turn results in: from a command, a task's run, the assistant, or an apology."""

from dataclasses import dataclass, replace
from functools import partial

import structlog

from core.errors import LeaseLost, StoreUnavailable, TurnDelayed
from core.journal.postgres import Lease
from core.queue.wakeups import Wakeups
from core.turns.event_stream import Finishing
from core.turns.failures import FAILURE, POISON, RUN_FAILURE
from core.turns.files import taken_in
from core.turns.heard import spoken_command, with_heard
from core.turns.orchestrator import Orchestrator
from core.turns.runs import RunNote, Runs, RunState
from core.turns.store import TurnStore
from core.turns.types import BegunTurn, TurnResult, TurnState
from core.turns.words.dispatch import ChatCommands, command_of
from jobs.turns.call_status import CallStatus, Tell
from jobs.turns.channel_capabilities import ChannelCapabilities
from jobs.turns.preview import show_progress
from jobs.turns.set_aside import set_aside

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
    capabilities: ChannelCapabilities
    commands: ChatCommands
    runs: Runs | None
    tell_doing: Tell | None = None

    async def of(self, lease: Lease, turn: BegunTurn) -> TurnOutcome:
        """Return a turn's outcome. Raise `TurnDelayed`, `LeaseLost` or `StoreUnavailable` where it has none yet."""
        poison = is_poison(turn) or bool(turn.run_id and self.runs is None)
        outage = self.store.outage(lease, turn.turn_id, tells=turn.run_id is None)
        request = await self.capabilities.of(turn)
        hooks = (CallStatus(self.tell_doing, turn.turn_id, self.orchestrator.doing),) if self.tell_doing else ()
        turn = replace(turn, request=replace(request, work=replace(request.work, outage=outage, hooks=hooks)))
        try:
            if not poison and turn.run_id and self.runs is not None:
                return TurnOutcome(*await self.runs.result(turn.request, turn.run_id))
            if not poison:
                outcome = await self._answer(lease, turn)
                channel = self.capabilities.channels.get(turn.address.channel)
                if isinstance(channel, Finishing):
                    channel.turn_ended(turn.address, turn.turn_id, outcome.result)
                return outcome
        except (LeaseLost, StoreUnavailable, TurnDelayed):
            raise
        except Exception:
            _log.exception("turn_failed", turn=turn.turn_id)
        reason, sorry = ("poison", POISON) if poison else ("error", FAILURE)
        result = await set_aside(turn, RUN_FAILURE if turn.run_id else sorry, reason)
        return TurnOutcome(result, RunNote(RunState.FAILED, reason, text=result.reply) if turn.run_id else None)

    async def _answer(self, lease: Lease, turn: BegunTurn) -> TurnOutcome:
        """Answer what a person wrote or said: a command by itself, anything else with the assistant."""
        outcome = await self._commanded(lease, turn)
        if isinstance(outcome, TurnOutcome):
            return outcome
        turn = outcome
        row = self.store.stream_row(lease, turn.turn_id)
        channel = self.capabilities.channels.get(turn.address.channel)
        said = partial(self.wakeups.wake_delivery, lease.lane_id)
        async with show_progress(channel, turn, row, said, self.orchestrator.doing) as hooks:
            turn = replace(turn, request=turn.request.watched_by(*hooks))
            if any(message.media_count for message in turn.request.inbound):
                return await self._look(lease, turn)
            return TurnOutcome(with_heard(await self.orchestrator.handle_message(turn.request), turn.request))

    async def _look(self, lease: Lease, turn: BegunTurn) -> TurnOutcome:
        """Answer a turn with files, which are taken in first: a voice note may be a command."""
        if refusal := await self.orchestrator.check_command(turn.request):
            return TurnOutcome(TurnResult(TurnState.DONE, reply=refusal.reply, reason=refusal.reason))
        turn = replace(turn, request=await taken_in(turn.request, self.orchestrator.services.files))
        outcome = await self._commanded(lease, replace(turn, command=spoken_command(turn.request)))
        if isinstance(outcome, BegunTurn):
            outcome = TurnOutcome(await self.orchestrator.handle_message(outcome.request))
        return replace(outcome, result=with_heard(outcome.result, turn.request))

    async def _commanded(self, lease: Lease, turn: BegunTurn) -> TurnOutcome | BegunTurn:
        """Return the outcome of a turn that is a command; else the turn, which goes on with the assistant."""
        if (command := command_of(turn)) is None:
            return turn
        say_more = partial(self.store.say_more, lease, turn.turn_id)
        answer = await self.commands.answer(command, turn, say_more)
        return answer if isinstance(answer, BegunTurn) else TurnOutcome(answer.result, new_session=answer.new_session)


def is_poison(turn: BegunTurn) -> bool:
    """Return whether a turn has crashed too many processes to be tried again."""
    return turn.solo_crashes >= MAX_SOLO_CRASHES or turn.crashes >= MAX_CRASHES
