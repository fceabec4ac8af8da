"""Turns: claim a lane, run its waiting turns in order, and commit the outcome of each."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import structlog

from core import metrics
from core.errors import Halted, LeaseLost, ModelAway, StoreUnavailable, TurnDelayed
from core.http.peer import PERSON
from core.ids import IdMaker
from core.journal.types import Lease
from core.language.catalogue import speaking
from core.loop.steering import taken_in
from core.messaging.channels import NotificationChannel
from core.queue.due import DueWork
from core.queue.quarantine import CURRENT_WORK
from core.queue.wakeups import MEMORY, Wakeups
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from core.turns.stored import BegunTurn, TurnOutcome
from core.turns.types import TurnState
from core.turns.words.asked import CommandRooms
from jobs.reports import note_delay, note_end, turn_span
from jobs.turns.commands import ChatCommands
from jobs.turns.features import TurnFeatures
from jobs.turns.interrupts import Interrupts
from jobs.turns.messages import ChannelCapabilities, Sender, TurnMessenger
from jobs.turns.results import TurnResults, is_poison
from jobs.turns.retries import HAND_BACK_WITHIN, RETRY_DELAY, STUCK_DELAY, hand_back, leave

_log = structlog.get_logger()

GATHER = 0.05
"""Seconds more before each further turn of a lane whose person keeps writing: the messages of that time are answered
together, and other lanes get a slot."""
MAX_GATHER = 0.5
SECOND_TRY = 0.1
"""Seconds before a refused write is tried once more."""


class TurnRunner:
    """Run the turns of a claimed lane until nothing waits on it."""

    def __init__(
        self,
        store: TurnStore,
        orchestrator: Orchestrator,
        wakeups: Wakeups,
        channels: Mapping[str, NotificationChannel],
        make_id: IdMaker,
        worker: str,
        features: TurnFeatures | None = None,
    ) -> None:
        self._store = store
        self.interrupts = Interrupts(store)
        self._wakeups = wakeups
        self._worker = worker
        self._features = features = features or TurnFeatures()
        rooms = CommandRooms(
            store, orchestrator, features.people, features.approvals, features.console, features.programs
        )
        self._messenger = TurnMessenger(make_id, wakeups, features.approvals, features.program_turns)
        capabilities = ChannelCapabilities(channels, features.program_turns)
        self._results = TurnResults(
            store, orchestrator, wakeups, capabilities, ChatCommands(rooms, wakeups), features.runs, features.tell_doing
        )

    def send_by(self, sender: Sender) -> None:
        """Set the sender by which this process sends the answers of its turns."""
        self._messenger = replace(self._messenger, sender=sender)

    async def claim(self, lane_id: str | None) -> Lease | None:
        """Claim the named lane and begin its turn, or claim the lane that has waited longest."""
        if lane_id is None:
            return await self._store.claim(None, self._worker)
        return await self._store.claim_turn(lane_id, self._worker)

    async def run(self, lease: Lease) -> bool:
        """Run turn after turn under the lease. In any case, the lease is then handed back or runs out.

        Returns whether any turn was quarantined, and may have kept another turn waiting.
        """
        quarantined = False
        CURRENT_WORK.set(lease.lane_id)
        try:
            async with self.interrupts.kept_alive(lease):
                more, turns = True, 0
                while more:
                    await asyncio.sleep(min(GATHER * turns, MAX_GATHER))
                    turns += 1
                    turn, more = await self._begin(lease)
                    lease = replace(lease, opened=None)
                    if turn is not None:
                        quarantined = quarantined or turn.quarantined
                        more = await self._run_turn(lease, turn)
        except (StoreUnavailable, Halted) as error:
            # The journal says where to continue. Handing back, as soon as that can be written, burns no attempt.
            metrics.TURNS_DELAYED.labels("halt" if isinstance(error, Halted) else "store").inc()
            _log.warning("turn_delayed", lane=lease.lane_id, cause=str(error))
            await hand_back(self._store, self._wakeups, lease, RETRY_DELAY, within=HAND_BACK_WITHIN)
        except LeaseLost:
            _log.warning("lease_lost", lane=lease.lane_id)
        except asyncio.CancelledError:
            await hand_back(self._store, self._wakeups, lease, timedelta(), within=3)
            raise
        except Exception:
            # Even failing the turn was refused. It is retried seldom, and the log has the error each time.
            _log.exception("turn_stuck", lane=lease.lane_id)
            await hand_back(self._store, self._wakeups, lease, STUCK_DELAY, within=3)
        return quarantined

    async def _begin(self, lease: Lease) -> tuple[BegunTurn | None, bool]:
        """Begin the lane's turn, if any; fail a turn that cannot begin, and return whether more waits."""
        try:
            return await _twice(lambda: self._store.begin(lease), lease), False
        except (LeaseLost, StoreUnavailable):
            raise
        except Exception:
            _log.exception("turn_not_begun", lane=lease.lane_id)
            return None, await self._fail(lease, None)

    async def _run_turn(self, lease: Lease, turn: BegunTurn) -> bool:
        """Run a turn to its end. If the database refuses that end twice, fail the turn, so that the next can begin."""
        log = _log.bind(turn=turn.turn_id, attempt=turn.attempts)
        PERSON.set(turn.request.tenant.id)
        log.debug("turn_begun", messages=len(turn.request.inbound), solo_crashes=turn.solo_crashes)
        try:
            with speaking(turn.request.tenant.language), self.interrupts.reach(lease, turn), turn_span(turn):
                return await self._to_its_end(lease, turn, log)
        except (LeaseLost, StoreUnavailable):
            raise
        except Exception:
            log.exception("turn_not_ended")
            return await self._fail(lease, turn)

    async def _to_its_end(self, lease: Lease, turn: BegunTurn, log: structlog.typing.FilteringBoundLogger) -> bool:
        began = time.monotonic()
        try:
            outcome = await self._results.of(lease, turn)
        except ModelAway as away:
            note_delay("model")
            log.warning("turn_delayed", cause=str(away), told=away.told)
            if away.due is not None:
                self._wakeups.come_due(DueWork.TURNS, lease.lane_id, away.due - datetime.now(UTC))
            if away.told:
                self._wakeups.wake_delivery(lease.lane_id)
            return False
        except TurnDelayed as error:
            note_delay("check")
            log.warning("turn_delayed", cause=str(error))
            await leave(self._store, self._wakeups, lease, RETRY_DELAY)
            return False
        state = TurnState.POISON if is_poison(turn) else outcome.result.state
        more = await self._finish(lease, turn, outcome, state)
        note_end(turn, outcome.result, state, time.monotonic() - began)
        return more

    async def _fail(self, lease: Lease, turn: BegunTurn | None) -> bool:
        """End a turn, or messages for which none can begin, with an apology. Return whether more waits."""
        metrics.TURNS_FAILED.inc()
        absorbed: list[str] = []
        if turn is not None:
            with suppress(Exception):  # messages not known to be taken in are answered by the next turn
                recorded = await turn.request.work.journal.recorded()
                absorbed = [id_ for message in taken_in(recorded) for id_ in message.ids]
                await turn.request.work.journal.flush()
        more = await self._store.fail(lease, turn.turn_id if turn else None, absorbed)
        self._wakeups.wake_delivery(lease.lane_id)
        self._features.told_of_run()
        return more

    async def _finish(self, lease: Lease, turn: BegunTurn, outcome: TurnOutcome, state: TurnState) -> bool:
        """Commit a turn's outcome, then wake the workers that it concerns. Return whether more waits on the lane."""
        messages = await self._messenger.of(turn, outcome)
        held = bool(messages.cards and outcome.note) and await self._features.are_held(turn)
        end = messages.end(outcome, state, held=held)
        steps = turn.request.work.journal.waiting()
        async with self._messenger.answering(messages, lease.lane_id) as slot:
            more, slot.claimed = await _twice(
                lambda: self._store.finish(lease, turn.turn_id, end, steps, slot.claim()), lease
            )
        if self._features.remembers:
            self._wakeups.wake(MEMORY, turn.turn_id)
        if outcome.note:
            self._features.told_of_run()
        if (messages.cards or messages.told) and not held:
            await self._messenger.show(turn, messages)
        return more


async def _twice[Result](write: Callable[[], Awaitable[Result]], lease: Lease) -> Result:
    """Write, and once more if the write is refused: a conflict of two turns does not happen twice."""
    try:
        return await write()
    except (LeaseLost, StoreUnavailable):
        raise
    except Exception:
        _log.exception("turn_write_refused", lane=lease.lane_id)
    await asyncio.sleep(SECOND_TRY)
    return await write()
