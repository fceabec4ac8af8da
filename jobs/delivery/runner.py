"""Delivery: send the head of a conversation's outbox, part by part, and never twice blindly."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import structlog

from core.clock import Clock, elapsed
from core.errors import Halted, LeaseLost, StoreUnavailable, Unavailable
from core.messaging.calls import Begun, PartEnd, Rendered
from core.messaging.capabilities import bill_of
from core.messaging.channels import NotificationChannel, Target
from core.messaging.due_messages import Claim, DueMessage, KeptPart
from core.messaging.holding import Holding, may_be_held
from core.messaging.outbox import Outbox
from core.messaging.states import OPEN, SendState
from core.queue.due import DueWork
from core.queue.quarantine import CURRENT_WORK
from core.queue.wakeups import NOBODY, Later
from jobs.delivery.backoff import fate
from jobs.delivery.lost_answers import end_of_lost_call
from jobs.delivery.provider_calls import send
from jobs.delivery.receipt_notes import ReceiptNotes
from jobs.delivery.rendering import SentFiles, parts_to_send, prepared, reader, render
from jobs.delivery.taking_back import take_back
from jobs.delivery.types import BegunCall, RowEnd
from jobs.reports import (
    HANGS,
    NOT_CONFIGURED,
    UNREACHABLE,
    UNRENDERED,
    count_failed,
    delivery_span,
    measure_call,
    report_part,
    report_refused,
)

MAX_HANGS = 3
"""The number of workers whose event loop a message blocks before it is given up."""
WRITE_WITHIN = 60.0
"""Seconds that a known outcome waits for a database that went away."""
REFUSED = "the database takes nothing that is written about it"

_log = structlog.get_logger()


@dataclass(eq=False, slots=True)
class DeliveryRunner:
    """Send claimed rows over their channels.

    `notes`: the store for receipts while the database is away; without it they are not noted.
    """

    outbox: Outbox
    channels: Mapping[str, NotificationChannel]
    worker: str
    chance: random.Random = field(default_factory=random.Random)
    elapsed: Callable[[], float] = elapsed
    clock: Clock = field(default_factory=Clock)
    notes: ReceiptNotes | None = None
    files: SentFiles | None = None
    later: Later = NOBODY
    holding: Holding | None = None
    _stopping: bool = field(default=False, init=False)

    async def claim(self, conversation_id: str | None) -> Claim | None:
        """Claim the head of the named conversation's outbox, or the row that has been due longest."""
        return await self.outbox.claim(conversation_id, self.worker)

    def stop(self) -> None:
        """Stop starting rows or parts."""
        self._stopping = True

    async def run(self, claim: Claim) -> None:
        """Send this row, then those after it in the conversation."""
        following: Claim | None = claim
        while following is not None:
            CURRENT_WORK.set(following.outbound_id)
            try:
                end = await self._sent_or_set_aside(following)
            except (StoreUnavailable, Halted) as error:
                _log.warning("delivery_delayed", outbound=following.outbound_id, cause=str(error))
                await _hand_back(self.outbox, following)
                return
            except LeaseLost:
                _log.warning("lease_lost", outbound=following.outbound_id)
                return
            if end.state in OPEN and end.again is not None:
                self.later.come_due(DueWork.DELIVERIES, claim.conversation_id, end.again)
            if end.state in OPEN or self._stopping:
                return
            following = end.following if end.asked else await self._following(claim.conversation_id)

    async def _following(self, conversation_id: str) -> Claim | None:
        """Claim the next row of a conversation. While the database is away, the slow poll finds it later."""
        try:
            return await self.outbox.claim(conversation_id, self.worker)
        except StoreUnavailable as error:
            _log.warning("claim_delayed", work="delivery", cause=str(error))
            return None

    async def _sent_or_set_aside(self, claim: Claim) -> RowEnd:
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
                claim = replace(claim, row=None)  # read again
        await self.outbox.set_aside(claim, REFUSED)
        _log.error("outbound_set_aside", outbound=claim.outbound_id)
        return RowEnd(SendState.FAILED)

    async def _send_row(self, claim: Claim) -> RowEnd:
        due = await self.outbox.load(claim)
        with delivery_span(due):
            channel = self.channels.get(due.address.channel)
            if channel is None:
                return await self._failed(claim, NOT_CONFIGURED)
            if not due.reachable:  # promise 8, on every path: a person who sent STOP or blocked us gets nothing
                return await self._failed(claim, UNREACHABLE)
            if due.hangs >= MAX_HANGS:
                return await self._failed(claim, HANGS, missed=True)
            if due.takes_back:
                return await take_back(self.outbox, claim, due, channel)
            parts, begun = await self._begin(claim, due, channel)
            if not parts:
                return await self._failed(claim, UNRENDERED, missed=True)
            attempt = due.attempts
            for part in parts:
                if part.state in (SendState.SENT, SendState.AMBIGUOUS):
                    continue
                if self._stopping and begun is None:
                    await self.outbox.give_back(claim)
                    return RowEnd(SendState.READY)
                attempt += 1
                end = await self._send_part(claim, due, channel, part, attempt, begun)
                if end.state is not SendState.SENDING:
                    return end
                begun = None
            # No part was left to send: callbacks have reported the last parts.
            return RowEnd(await self.outbox.settle(claim))

    async def _begin(
        self, claim: Claim, due: DueMessage, channel: NotificationChannel
    ) -> tuple[list[KeptPart], BegunCall | None]:
        """Return the stored parts, or render: the parts are stored with the first call, which has then begun."""
        if due.rendered:
            return await self.outbox.parts(claim), None
        if due.tells_missing:
            await self.outbox.tell_missing(claim)
        try:
            prepare = prepared(self.files, claim.tenant_id, due, channel, self.clock)
            rendered = Rendered(*await render(due, channel, self.clock.now(), prepare))
        except Exception:
            # A message that breaks its renderer must not hold up all messages after it.
            _log.exception("render_failed", outbound=claim.outbound_id)
            return [], None
        if self.holding and may_be_held(rendered):
            rendered = await parts_to_send(self.holding, claim, due, channel, rendered, self.clock.now(), prepare)
        if not rendered.parts or self._stopping:
            return await self.outbox.keep_parts(claim, rendered.parts, rendered.text), None
        asked, bill = self.elapsed(), bill_of(channel, rendered.parts[0], self.clock.now(), due.address)
        begun, parts = await self.outbox.begin_rendered(claim, rendered, due.attempts + 1, bill)
        return parts, None if begun is Begun.KEPT else BegunCall(begun, asked)

    async def _send_part(
        self,
        claim: Claim,
        due: DueMessage,
        channel: NotificationChannel,
        part: KeptPart,
        attempt: int,
        begun: BegunCall | None,
    ) -> RowEnd:
        files, stream = reader(self.files, claim.tenant_id), due.stream if part.number == 1 else None
        target = Target(due.address, part.ref, due.answers, due.subject, stream, read_file=files)
        if part.state in (SendState.SENDING, SendState.CHECKING):
            found = await end_of_lost_call(self.notes, due, channel, part, target)
            if found is not None:
                state = await self.outbox.end_delivery(claim, part.number, part.attempt, found)
                return RowEnd(state, again=found.delay)
        bill = bill_of(channel, part.part, self.clock.now(), due.address)
        if begun is None:
            asked, long = self.elapsed(), part.part.uploads
            begun = BegunCall(await self.outbox.begin_delivery(claim, part.number, attempt, bill, uploads=long), asked)
        if (refused := await self._refused(claim, begun.what)) is not None:
            return RowEnd(refused)
        if self.elapsed() - begun.asked > self.outbox.lease.total_seconds() / 2:
            # The loop was held up: the lease might end before the call does, and another worker send the part as well.
            end = fate(Unavailable("held up before the call"), attempt, due.age, self.chance)
        else:
            called = time.monotonic()
            end = await send(due, channel, part, target, attempt, self.chance)
            measure_call(due.address.channel, end, time.monotonic() - called, bill, again=0 < part.attempt < attempt)
        if not due.own_chat:
            end = replace(end, identity_state=None)
        # The provider's answer is known nowhere else, so it is kept and written again while the database is away.
        async with self.notes.while_written(part.ref, end.receipt) if self.notes else nullcontext():
            written = await _patiently(lambda: self._end(claim, part.number, attempt, end))
        report_part(claim, due, part, attempt, end)
        return written

    async def _end(self, claim: Claim, part: int, attempt: int, end: PartEnd) -> RowEnd:
        if self._stopping:
            return RowEnd(await self.outbox.end_delivery(claim, part, attempt, end), again=end.delay)
        state, following = await self.outbox.end_and_claim(claim, part, attempt, end, self.worker)
        return RowEnd(state, following, asked=True, again=end.delay)

    async def _refused(self, claim: Claim, begun: Begun) -> SendState | None:
        """Return None if the call may leave now, otherwise the row's state."""
        match begun:
            case Begun.GO:
                return None
            case Begun.SENT:
                return SendState.SENDING
            case Begun.UNREACHABLE:
                await self.outbox.fail(claim, UNREACHABLE)
        report_refused(claim, begun)
        return SendState.FAILED

    async def _failed(self, claim: Claim, reason: str, *, missed: bool = False) -> RowEnd:
        await self.outbox.fail(claim, reason, missed=missed)
        count_failed(reason)
        return RowEnd(SendState.FAILED)


async def _hand_back(outbox: Outbox, claim: Claim) -> None:
    try:
        await _patiently(lambda: outbox.give_back(claim))
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
