"""Delivery: send the head of a conversation's outbox, part by part, and never twice blindly."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace

import structlog

from core.clock import Clock
from core.errors import LeaseLost, StoreUnavailable, Unavailable
from core.messaging.channels import Billed, NotificationChannel, Target
from core.messaging.due_messages import Claim, DueMessage, KeptPart
from core.messaging.outbox import Begun, Outbox, PartEnd
from core.messaging.receipt_notes import ReceiptNotes
from core.messaging.segments import Bill
from core.messaging.states import CallOutcome, SendState
from core.queue.quarantine import CURRENT_WORK
from jobs.backoff import CHECK_AFTER, fate
from jobs.provider_calls import ProviderCalls
from jobs.rendering import render
from jobs.timeouts import elapsed

MAX_TAKE_BACK_TRIES = 2
"""How often the removal of a message without an answer is tried; later messages wait for it."""
MAX_HANGS = 3
"""A message that blocked the event loop of so many workers is given up."""
WRITE_WITHIN = 60.0
"""Seconds that a known outcome waits for a database that went away."""
HANGS = "it blocked its worker again and again"
REFUSED = "the database takes nothing that is written about it"
STOPPED = "the person stopped or blocked this channel"

_log = structlog.get_logger()


class DeliveryRunner:
    """Send claimed rows over their channels."""

    def __init__(
        self,
        outbox: Outbox,
        channels: Mapping[str, NotificationChannel],
        worker: str,
        chance: random.Random | None = None,
        elapsed: Callable[[], float] = elapsed,
        clock: Clock | None = None,
        notes: ReceiptNotes | None = None,
    ) -> None:
        """`notes`: where receipts are noted while the database is away; nowhere without it."""
        self._outbox = outbox
        self._channels = channels
        self._worker = worker
        self._elapsed = elapsed
        self._clock = clock or Clock()
        self._notes = notes
        self._calls = ProviderCalls(chance or random.Random())
        self._stopping = False

    async def claim(self, conversation_id: str | None) -> Claim | None:
        """Claim the head of the named conversation's outbox, or the row that has been due longest."""
        return await self._outbox.claim(conversation_id, self._worker)

    def stop(self) -> None:
        """Start no further row or part."""
        self._stopping = True

    async def run(self, claim: Claim) -> None:
        """Send this row, then those after it in the conversation."""
        following: Claim | None = claim
        while following is not None:
            CURRENT_WORK.set(following.outbound_id)
            try:
                state = await self._sent_or_set_aside(following)
            except LeaseLost:
                _log.warning("lease_lost", outbound=following.outbound_id)
                return
            except StoreUnavailable as error:
                _log.warning("delivery_delayed", outbound=following.outbound_id, cause=str(error))
                await self._hand_back(following)
                return
            if state.is_open or self._stopping:
                return
            following = await self._following(claim.conversation_id)

    async def _following(self, conversation_id: str) -> Claim | None:
        """Claim the next row of a conversation. While the database is away, the slow poll finds it later."""
        try:
            return await self._outbox.claim(conversation_id, self._worker)
        except StoreUnavailable as error:
            _log.warning("claim_delayed", work="delivery", cause=str(error))
            return None

    async def _sent_or_set_aside(self, claim: Claim) -> SendState:
        """Send a row. If the database refuses its writes twice, set it aside, so that later rows may be sent.

        The second try is safe: it continues as after the death of a sender.
        """
        for _ in range(2):
            try:
                return await self._send_row(claim)
            except (LeaseLost, StoreUnavailable):
                raise
            except Exception:
                _log.exception("outbound_refused", outbound=claim.outbound_id)
        await self._outbox.set_aside(claim, REFUSED)
        _log.error("outbound_set_aside", outbound=claim.outbound_id)
        return SendState.FAILED

    async def _send_row(self, claim: Claim) -> SendState:
        due = await self._outbox.load(claim)
        channel = self._channels.get(due.address.channel)
        if channel is None:
            await self._outbox.fail(claim, "the channel is not configured")
            return SendState.FAILED
        if not due.reachable:
            # Promise 8, on every path: a person who said STOP or blocked us gets nothing.
            await self._outbox.fail(claim, STOPPED)
            return SendState.FAILED
        if due.hangs >= MAX_HANGS:
            await self._outbox.fail(claim, HANGS, missed=True)
            return SendState.FAILED
        if due.takes_back:
            return await self._take_back(claim, due, channel)
        parts = await (self._outbox.parts(claim) if due.rendered else self._render(claim, due, channel))
        if not parts:
            await self._outbox.fail(claim, "it cannot be rendered", missed=True)
            return SendState.FAILED
        attempt = due.attempts
        for part in parts:
            if part.state in (SendState.SENT, SendState.AMBIGUOUS):
                continue
            if self._stopping:
                await self._outbox.give_back(claim)
                return SendState.READY
            attempt += 1
            state = await self._send_part(claim, due, channel, part, attempt)
            if state is not SendState.SENDING:
                return state
        # No part was left to send: callbacks have reported the last ones.
        return await self._outbox.settle(claim)

    async def _render(self, claim: Claim, due: DueMessage, channel: NotificationChannel) -> list[KeptPart]:
        if due.tells_missing:
            await self._outbox.tell_missing(claim)
        try:
            parts, said = await render(due, channel, self._clock.now())
        except Exception:
            # A message that breaks its renderer must not hold up all that come after it.
            _log.exception("render_failed", outbound=claim.outbound_id)
            return []
        return await self._outbox.keep_parts(claim, parts, said)

    async def _send_part(
        self, claim: Claim, due: DueMessage, channel: NotificationChannel, part: KeptPart, attempt: int
    ) -> SendState:
        target = Target(due.address, part.ref, stream=due.stream if part.number == 1 else None)
        if part.state in (SendState.SENDING, SendState.CHECKING):
            end = await self._noted(part) or await self._calls.look_up(due, channel, part, target)
            if end is not None:
                return await self._outbox.end_delivery(claim, part.number, part.attempt, end)
        asked = self._elapsed()
        if (refused := await self._refused(claim, channel, part, attempt)) is not None:
            return refused
        if self._elapsed() - asked > self._outbox.lease.total_seconds() / 2:
            # The loop was held up: the lease might end before the call does, and another worker send the part as well.
            end = fate(Unavailable("held up before the call"), attempt, due.age, self._calls.chance)
        else:
            end = await self._calls.send(due, channel, part, target, attempt)
        if not due.own_chat:
            end = replace(end, identity_state=None)
        # The provider's answer is known nowhere else, so it is kept and written again while the database is away.
        async with self._notes.while_written(part.ref, end.receipt) if self._notes else nullcontext():
            state = await _patiently(lambda: self._outbox.end_delivery(claim, part.number, attempt, end))
        _log.info(
            "part_sent" if end.state is SendState.SENT else "part_not_sent",
            outbound=claim.outbound_id,
            part=part.number,
            attempt=attempt,
            outcome=end.outcome,
            code=end.error_code,
        )
        return state

    async def _noted(self, part: KeptPart) -> PartEnd | None:
        """Return the end of a call whose receipt its worker could note but not write down."""
        receipt = await self._notes.find(part.ref) if self._notes else None
        return None if receipt is None else PartEnd(SendState.SENT, CallOutcome.FOUND, receipt)

    async def _refused(
        self, claim: Claim, channel: NotificationChannel, part: KeptPart, attempt: int
    ) -> SendState | None:
        """Record that a call is about to leave. None: call now; otherwise the state of the row, which may not leave."""
        bill = Bill(part.part.segments, self._clock.now(), channel.budget) if isinstance(channel, Billed) else None
        match await self._outbox.begin_delivery(claim, part.number, attempt, bill):
            case Begun.GO:
                return None
            case Begun.SENT:
                return SendState.SENDING
            case Begun.UNREACHABLE:
                await self._outbox.fail(claim, STOPPED)
            case Begun.OVER_PERSON:
                _log.warning("segments_used_up", outbound=claim.outbound_id, of="person")
            case Begun.OVER_ALL:
                _log.error("segments_used_up", outbound=claim.outbound_id, of="all")
        return SendState.FAILED

    async def _take_back(self, claim: Claim, due: DueMessage, channel: NotificationChannel) -> SendState:
        """Remove a message that was begun for an answer that never came. It is no answer, so a few tries are enough."""
        if not await self._calls.take_back(due, channel) and due.attempts < MAX_TAKE_BACK_TRIES:
            await self._outbox.put_off(claim, CHECK_AFTER)
            return SendState.READY
        await self._outbox.end_stream(claim)
        return SendState.SENT

    async def _hand_back(self, claim: Claim) -> None:
        try:
            await _patiently(lambda: self._outbox.give_back(claim))
        except (LeaseLost, StoreUnavailable) as error:
            _log.warning("outbound_not_handed_back", outbound=claim.outbound_id, cause=type(error).__name__)


async def _patiently[T](write: Callable[[], Awaitable[T]]) -> T:
    """Write, retrying while the database is away, for at most `WRITE_WITHIN`."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + WRITE_WITHIN
    while True:
        try:
            return await write()
        except StoreUnavailable:
            if loop.time() > deadline:
                raise
        await asyncio.sleep(0.5)
