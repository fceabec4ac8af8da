"""Turns: take a lane, run what waits on it in order, and commit what is said about it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import structlog

from core.agents.standard_agent import AgentStatus
from core.approvals.cards import Card, card
from core.approvals.exact_replies import Verb
from core.approvals.store import ApprovalStore
from core.approvals.types import HIGH, ApprovalState, NewApproval
from core.errors import LeaseLost, StoreUnavailable, TurnDelayed
from core.ids import IdMaker
from core.llm.types import ChatMessage, Role
from core.loop.answer_limits import too_long
from core.loop.steering import spoken, taken_in
from core.memory.commands import MEMORY_COMMAND, answer_memory
from core.messaging.channels import NotificationChannel
from core.messaging.commands import MORE, CommandAnswer, answer_command
from core.messaging.messages import Command, OutboundKind, OutboundMessage
from core.people.commands import PersonCommands
from core.queue.quarantine import CURRENT_WORK
from core.queue.wakeups import Wakeups
from core.triggers.runs.executors import RunExecutors
from core.turns.approval_commands import APPROVAL_COMMANDS, NOTHING_TO_ASK, asked_again, pending_text
from core.turns.failures import FAILURE, POISON, RUN_FAILURE, Sorry
from core.turns.orchestrator import Orchestrator
from core.turns.runs import RunNote
from core.turns.store import BegunTurn, Lease, TurnStore
from core.turns.types import TurnResult, TurnState
from jobs.lease_keepalive import kept_alive
from jobs.preview import show_progress

MAX_DEATHS = 3
"""A turn that killed so many processes is set aside as poison. Those with others in them are not counted."""
RETRY_DELAY = timedelta(seconds=2)
HAND_BACK_WITHIN = 60.0
"""Seconds that a turn whose database went away waits for it, to give the lane back."""

GATHER = 0.05
"""Seconds more before each further turn of a lane whose person writes on and on: what they write then is answered
together, and others have their turn."""
MAX_GATHER = 0.5
STUCK_DELAY = timedelta(minutes=1)
"""How long a lane waits on which a turn can neither end nor be failed: no other lane pays for its tries."""
SECOND_TRY = 0.1
"""Seconds before a write that was refused is tried once more."""

_log = structlog.get_logger()


class TurnRunner:
    """Run the turns of one claimed lane until nothing waits on it."""

    def __init__(
        self,
        store: TurnStore,
        orchestrator: Orchestrator,
        wakeups: Wakeups,
        channels: Mapping[str, NotificationChannel],
        make_id: IdMaker,
        worker: str,
        people: PersonCommands | None = None,
        runs: RunExecutors | None = None,
        approvals: ApprovalStore | None = None,
        holds_cards: Callable[[str, str], Awaitable[bool]] | None = None,
    ) -> None:
        self._store = store
        self._orchestrator = orchestrator
        self._wakeups = wakeups
        self._channels = channels
        self._make_id = make_id
        self._worker = worker
        self._people = people
        self._runs = runs
        self._approvals = approvals
        self._holds_cards = holds_cards

    async def claim(self, lane_id: str | None) -> Lease | None:
        """Take the named lane, or the one that waits longest."""
        return await self._store.claim(lane_id, self._worker)

    async def run(self, lease: Lease) -> bool:
        """Run turn after turn under the lease; whatever stops it, what it holds is handed back or runs out.

        Return whether a suspect among them may have kept another one waiting.
        """
        suspected = False
        CURRENT_WORK.set(lease.lane_id)
        try:
            async with kept_alive(lambda: self._store.renew(lease), self._store.lease):
                more, turns = True, 0
                while more:
                    await asyncio.sleep(min(GATHER * turns, MAX_GATHER))
                    turns += 1
                    turn, more = await self._begin(lease)
                    if turn is not None:
                        suspected = suspected or turn.suspect
                        more = await self._run_turn(lease, turn)
        except LeaseLost:
            _log.warning("lease_lost", lane=lease.lane_id)
        except asyncio.CancelledError:
            await self._hand_back(lease, timedelta(), within=3)
            raise
        except StoreUnavailable as error:
            # The journal says where to go on. Handing back, as soon as that can be written, burns no attempt.
            _log.warning("turn_delayed", lane=lease.lane_id, cause=str(error))
            await self._hand_back(lease, RETRY_DELAY, within=HAND_BACK_WITHIN)
        except Exception:
            # Even its failing was refused: it is tried again, seldom, and whatever it is stands in the log each time.
            _log.exception("turn_stuck", lane=lease.lane_id)
            await self._hand_back(lease, STUCK_DELAY, within=3)
        return suspected

    async def _begin(self, lease: Lease) -> tuple[BegunTurn | None, bool]:
        """Begin the lane's turn, if there is one. What cannot begin is failed; then tell whether more waits."""
        try:
            return await _twice(lambda: self._store.begin(lease), lease), False
        except (LeaseLost, StoreUnavailable):
            raise
        except Exception:
            _log.exception("turn_not_begun", lane=lease.lane_id)
            return None, await self._fail(lease, None)

    async def _run_turn(self, lease: Lease, turn: BegunTurn) -> bool:
        """Run a turn to its end; one whose end the database refuses twice is failed, so that the next may begin."""
        log = _log.bind(turn=turn.turn_id, attempt=turn.attempts)
        log.info("turn_begun", messages=len(turn.request.inbound), blamed=turn.blamed)
        try:
            return await self._to_its_end(lease, turn, log)
        except (LeaseLost, StoreUnavailable):
            raise
        except Exception:
            log.exception("turn_not_ended")
            return await self._fail(lease, turn)

    async def _fail(self, lease: Lease, turn: BegunTurn | None) -> bool:
        """End a turn with nothing but an apology, or without one whatever cannot begin; True when more waits."""
        absorbed: list[str] = []
        if turn is not None:
            with suppress(Exception):  # what is not known to be taken in is answered by the next turn
                absorbed = [message.id for message in taken_in(await turn.request.journal.recorded())]
        more = await self._store.fail(lease, turn.turn_id if turn else None, absorbed)
        self._wakeups.wake_delivery(lease.lane_id)
        if self._runs:
            self._runs.notices.wake()
        return more

    async def _to_its_end(self, lease: Lease, turn: BegunTurn, log: structlog.typing.FilteringBoundLogger) -> bool:
        note: RunNote | None = None
        turn = replace(turn, request=replace(turn.request, too_long=self._cards_too_long(turn.address.channel)))
        try:
            if turn.run_id:
                (result, note), new_session = await self._run_result(turn), False
            else:
                result, new_session = await self._result(lease, turn)
        except TurnDelayed as error:
            log.warning("turn_delayed", cause=str(error))
            await self._store.leave(lease, RETRY_DELAY)
            return False
        reply = "" if note else result.reply
        outbound = [OutboundMessage(self._make_id("out"), OutboundKind.REPLY, reply)] if reply else []
        cards = [card(one, self._make_id("out")) for one in result.approvals]
        held = bool(cards and note and self._holds_cards) and await self._quiet(turn)
        finish = partial(
            self._store.finish,
            lease,
            turn.turn_id,
            state="poison" if turn.blamed >= MAX_DEATHS else result.state.value,
            reason=result.reason,
            usage=result.usage,
            history=() if note else result.history,
            outbound=outbound,
            absorbed=result.absorbed,
            new_session=new_session,
            pool=result.pool,
            waiting_step=result.waiting_step,
            cards=cards,
            cards_in=turn.request.conversation_id,
            hold_cards=held,
            run=note,
        )
        more = await _twice(finish, lease)
        self._wakeups.wake_memory(turn.turn_id)
        if outbound:
            self._wakeups.wake_delivery(lease.lane_id)
        if note and self._runs:
            self._runs.notices.wake()
        if cards and not held:
            await self._shown(turn, cards)
        log.info("turn_finished", state=result.state.value, reason=result.reason)
        return more

    async def _result(self, lease: Lease, turn: BegunTurn) -> tuple[TurnResult, bool]:
        if turn.blamed >= MAX_DEATHS:
            return await _set_aside(turn, POISON, "poison"), False
        command = None if _is_an_answer(turn) else turn.command
        channel = self._channels.get(turn.address.channel)
        try:
            if command and command.name == MORE and await self._store.say_more(lease, turn.turn_id):
                self._wakeups.wake_delivery(lease.lane_id)
                return TurnResult(TurnState.DONE, reason=MORE), False
            if command and (result := await self._obey(command, turn)):
                return result
            row = self._store.stream_row(lease, turn.turn_id)
            async with show_progress(channel, turn.address, turn.turn_id, row) as hooks:
                return await self._orchestrator.handle_message(replace(turn.request, hooks=hooks)), False
        except (LeaseLost, StoreUnavailable, TurnDelayed):
            raise
        except Exception:
            _log.exception("turn_failed", turn=turn.turn_id)
            return await _set_aside(turn, FAILURE, "error"), False

    async def _run_result(self, turn: BegunTurn) -> tuple[TurnResult, RunNote]:
        """Work on a run of a task, and say how it stands after it."""
        reason = "poison"
        if turn.blamed < MAX_DEATHS and self._runs is not None:
            try:
                return await self._runs.result(turn.request, turn.run_id)
            except (LeaseLost, StoreUnavailable, TurnDelayed):
                raise
            except Exception:
                _log.exception("turn_failed", turn=turn.turn_id)
                reason = "error"
        result = await _set_aside(turn, RUN_FAILURE, reason)
        return result, RunNote("FAILED", reason, text=result.reply)

    def _cards_too_long(self, name: str) -> Callable[[NewApproval], bool]:
        channel = self._channels.get(name)
        return lambda approval: channel is not None and too_long(card(approval, "").message, channel)

    async def _quiet(self, turn: BegunTurn) -> bool:
        """Return whether the person's quiet hours hold the cards of this run."""
        return self._holds_cards is not None and await self._holds_cards(turn.request.tenant.id, turn.run_id)

    async def _shown(self, turn: BegunTurn, cards: Sequence[Card]) -> None:
        """Let the cards of a turn be sent, and those of high risk that came by SMS in another chat too."""
        self._wakeups.wake_delivery(turn.request.conversation_id)
        for one in cards:
            if one.approval.risk == HIGH and turn.address.channel == "sms" and self._approvals is not None:
                try:
                    await self._approvals.show_elsewhere(turn.request.tenant.id, one.approval.id, self._make_id("out"))
                except Exception:
                    # The turn has ended, and the card stands in its own chat.
                    _log.exception("card_not_shown_elsewhere", turn=turn.turn_id)

    async def _obey(self, command: Command, turn: BegunTurn) -> tuple[TurnResult, bool] | None:
        """Do what a command says; None when it is not one of ours and its text goes to the assistant."""
        if self._approvals is not None and command.name in APPROVAL_COMMANDS:
            return await self._about_approvals(self._approvals, command, turn), False
        named = self._people.knows(command) if self._people else False
        momex = self._orchestrator.momex if command.name == MEMORY_COMMAND else None
        if not named and momex is None and answer_command(command, turn.address.channel) is None:
            return None
        if refusal := await self._orchestrator.check_command(turn.request):
            return TurnResult(TurnState.DONE, reply=refusal.reply, reason=refusal.reason), False
        answer = answer_command(command, turn.address.channel)
        if momex is not None:
            answer = CommandAnswer(await answer_memory(momex.for_tenant(turn.request.tenant.id, turn.turn_id)))
        if answer is None and self._people is not None:
            answer = await self._people.answer(command, turn.request.tenant.id, turn.turn_id, turn.address.channel)
        if answer is None:
            return None
        for conversation in answer.queued:
            self._wakeups.wake_delivery(conversation)
        return TurnResult(TurnState.DONE, reply=answer.text, reason=answer.reason), answer.new_session

    async def _about_approvals(self, store: ApprovalStore, command: Command, turn: BegunTurn) -> TurnResult:
        """Return what waits for a decision, or ask once more for one that has expired."""
        if refusal := await self._orchestrator.check_command(turn.request):
            return TurnResult(TurnState.DONE, reply=refusal.reply, reason=refusal.reason)
        tenant = turn.request.tenant
        if command.name == "pending":
            return TurnResult(TurnState.DONE, reply=pending_text(await store.pending(tenant.id), tenant.timezone))
        old = await store.find(tenant.id, command.argument)
        if old is not None and old.state is ApprovalState.PENDING and turn.request.inbound:
            how, said_in = f"again {turn.turn_id}", turn.request.inbound[-1].id
            if await store.decide(
                tenant.id,
                old.id,
                Verb.EDIT,
                how=how,
                channel=turn.address.channel,
                now=self._orchestrator.clock.now(),
                said_in=said_in,
                changes={},
            ):
                return TurnResult(TurnState.DONE, reason="again")
        if old is not None and old.decided_how == f"again {turn.turn_id}":
            return TurnResult(TurnState.DONE, reason="again")  # this very turn did it, and was taken over
        if old is None or old.state is not ApprovalState.EXPIRED:
            return TurnResult(TurnState.DONE, reply=NOTHING_TO_ASK)
        return await self._orchestrator.handle_message(asked_again(turn.request, old))

    async def _hand_back(self, lease: Lease, delay: timedelta, within: float) -> None:
        try:
            async with asyncio.timeout(within):
                while True:
                    try:
                        return await self._store.leave(lease, delay)
                    except StoreUnavailable:
                        await asyncio.sleep(0.5)
        except Exception as error:  # the lease ends by itself
            _log.warning("turn_not_handed_back", lane=lease.lane_id, cause=type(error).__name__)


def _is_an_answer(turn: BegunTurn) -> bool:
    """Return whether the word NEW of an SMS, which is a command otherwise, answers a question that waits for one."""
    if turn.command is None or (turn.command.name, turn.address.channel) != ("new", "sms"):
        return False
    here = turn.request.conversation_id
    return any(one.conversation_id == here and one.status is AgentStatus.WAITING_FOR_INPUT for one in turn.request.pool)


async def _set_aside(turn: BegunTurn, sorry: Sorry, reason: str) -> TurnResult:
    """End a turn that cannot go on, with all that it took in: what it did for that may not be done again."""
    recorded = await turn.request.journal.recorded()
    steered, text = taken_in(recorded), sorry.text(recorded)
    said = [one for message in (*turn.request.inbound, *steered) for one in spoken(message)]
    return TurnResult(
        TurnState.FAILED,
        reply=text,
        reason=reason,
        history=(*said, ChatMessage(Role.ASSISTANT, text)),
        absorbed=tuple(message.id for message in steered),
    )


async def _twice[Result](write: Callable[[], Awaitable[Result]], lease: Lease) -> Result:
    """Write, and once more where that was refused: two turns may have met in a way that no second one does."""
    try:
        return await write()
    except (LeaseLost, StoreUnavailable):
        raise
    except Exception:
        _log.exception("turn_write_refused", lane=lease.lane_id)
    await asyncio.sleep(SECOND_TRY)
    return await write()
