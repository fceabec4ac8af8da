"""Delivery: send the head of a conversation's outbox, part by part, and never twice blindly."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import structlog

from core.clock import Clock
from core.errors import Ambiguous, DeliveryError, LeaseLost, StoreUnavailable, Unavailable
from core.loop.answer_limits import shortened
from core.messaging.channels import Billed, NotificationChannel, Receipt, Streaming, Target
from core.messaging.outbox import Begun, Claim, DueMessage, KeptPart, Outbox, PartEnd
from core.messaging.segments import Bill
from core.queue.quarantine import CURRENT_WORK
from core.replies import MISSING
from jobs.backoff import CHECK_AFTER, GIVE_UP_AFTER, LONGEST, RESEND_AFTER, fate, resend_patience, resend_pause
from jobs.timeouts import elapsed, within

LONG_TEXT = 2_000
"""Characters from which a message is rendered beside the event loop."""
SEND_TIMEOUT = 10.0
"""Seconds for one provider call; the lease outlasts it."""
LOOK_UP_WITHIN = GIVE_UP_AFTER
"""How long an unknown outcome is asked about while the provider cannot tell. What comes after it does not wait for so
long: `claim_outbound` lets it pass."""
TAKE_BACK_TRIES = 2
"""How often more a message without an answer is tried to be removed; what comes after it waits meanwhile."""
MAX_RESENT = len(RESEND_AFTER)
"""How often a part with an unknown outcome is sent again where nothing can be looked up."""
MAX_HANGS = 3
"""A message that blocked the event loop of so many workers is given up."""
WRITE_WITHIN = 60.0
"""Seconds that what is known waits for a database that went away."""
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
    ) -> None:
        self._outbox = outbox
        self._channels = channels
        self._worker = worker
        self._elapsed = elapsed
        self._clock = clock or Clock()
        self._chance = chance or random.Random()
        self._stopping = False

    async def claim(self, conversation_id: str | None) -> Claim | None:
        """Take the head of the named conversation, or whichever is due longest."""
        return await self._outbox.claim(conversation_id, self._worker)

    def stop(self) -> None:
        """Begin no further row or part."""
        self._stopping = True

    async def run(self, claim: Claim) -> None:
        """Send this row, then what comes after it in the conversation."""
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
            if state in ("ready", "checking", "sending") or self._stopping:
                return
            following = await self._following(claim.conversation_id)

    async def _following(self, conversation_id: str) -> Claim | None:
        """Take what comes next in a conversation; the slow poll does while the database is away."""
        try:
            return await self._outbox.claim(conversation_id, self._worker)
        except StoreUnavailable as error:
            _log.warning("claim_delayed", work="delivery", cause=str(error))
            return None

    async def _sent_or_set_aside(self, claim: Claim) -> str:
        """Send a row; one about which nothing can be written, twice, is set aside for those that come after it.

        The second try is safe: it goes on as after the death of a sender.
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
        return "failed"

    async def _send_row(self, claim: Claim) -> str:
        due = await self._outbox.load(claim)
        channel = self._channels.get(due.address.channel)
        if channel is None:
            await self._outbox.fail(claim, "the channel is not configured")
            return "failed"
        if not due.reachable:
            # Promise 8, on every path: who said stop or blocked us gets nothing.
            await self._outbox.fail(claim, STOPPED)
            return "failed"
        if due.hangs >= MAX_HANGS:
            await self._outbox.fail(claim, HANGS, missed=True)
            return "failed"
        if due.takes_back:
            return await self._take_back(claim, due, channel)
        parts = await self._outbox.parts(claim) or await self._render(claim, due, channel)
        if not parts:
            await self._outbox.fail(claim, "it cannot be rendered", missed=True)
            return "failed"
        attempt = due.attempts
        for part in parts:
            if part.state in ("sent", "ambiguous"):
                continue
            if self._stopping:
                await self._outbox.give_back(claim)
                return "ready"
            attempt += 1
            state = await self._send_part(claim, due, channel, part, attempt)
            if state != "sending":
                return state
        # No open part was left to us: callbacks told what became of the last ones.
        return await self._outbox.settle(claim)

    async def _render(self, claim: Claim, due: DueMessage, channel: NotificationChannel) -> list[KeptPart]:
        message = shortened(due.message)
        if due.tells_missing:
            await self._outbox.tell_missing(claim)
            # The end of a long one may wait until it is asked for.
            first = (MISSING, message.text) if len(message.text) > LONG_TEXT else (message.text, MISSING)
            message = replace(message, text="\n\n".join(filter(None, first)))
        try:
            if len(message.text) > LONG_TEXT:  # others of this worker need not wait for it
                parts = await asyncio.to_thread(channel.render, message)
            else:
                parts = channel.render(message)
        except Exception:
            # A message that breaks its renderer must not stand in the way of all that come after it.
            _log.exception("render_failed", outbound=claim.outbound_id)
            return []
        return await self._outbox.keep_parts(claim, parts)

    async def _send_part(
        self, claim: Claim, due: DueMessage, channel: NotificationChannel, part: KeptPart, attempt: int
    ) -> str:
        target = Target(due.address, part.ref, stream=due.stream if part.number == 1 else "")
        if part.state in ("sending", "checking"):
            end = await self._look_up(due, channel, part, target)
            if end is not None:
                return await self._outbox.end_delivery(claim, part.number, part.attempt, end)
        asked = self._elapsed()
        bill = Bill(part.part.segments, self._clock.now(), channel.budget) if isinstance(channel, Billed) else None
        match await self._outbox.begin_delivery(claim, part.number, attempt, bill):
            case Begun.SENT:
                return "sending"
            case Begun.UNREACHABLE:
                await self._outbox.fail(claim, STOPPED)
                return "failed"
            case Begun.OVER_PERSON:
                _log.warning("segments_used_up", outbound=claim.outbound_id, of="person")
                return "failed"
            case Begun.OVER_ALL:
                _log.error("segments_used_up", outbound=claim.outbound_id, of="all")
                return "failed"
            case Begun.GO:
                pass
        if self._elapsed() - asked > self._outbox.lease.total_seconds() / 2:
            # We were held up: the lease might end before the call does, and another worker would send the part as well.
            end = fate(Unavailable("held up before the call"), attempt, due.age, self._chance)
        else:
            end = await self._call(due, channel, part, target, attempt)
        if not due.own_chat:
            end = replace(end, identity_state="")
        # What the provider answered is known nowhere else: while the database is away it is kept, and tried again.
        state = await _patiently(lambda: self._outbox.end_delivery(claim, part.number, attempt, end))
        _log.info(
            "part_sent" if end.state == "sent" else "part_not_sent",
            outbound=claim.outbound_id,
            part=part.number,
            attempt=attempt,
            outcome=end.outcome,
            code=end.error_code,
        )
        return state

    async def _hand_back(self, claim: Claim) -> None:
        try:
            await _patiently(lambda: self._outbox.give_back(claim))
        except (LeaseLost, StoreUnavailable) as error:
            _log.warning("outbound_not_handed_back", outbound=claim.outbound_id, cause=type(error).__name__)

    async def _call(
        self, due: DueMessage, channel: NotificationChannel, part: KeptPart, target: Target, attempt: int
    ) -> PartEnd:
        failure: DeliveryError
        try:
            receipt = await within(SEND_TIMEOUT, self._say(due, channel, part, target))
            return PartEnd("sent", "accepted", receipt)
        except TimeoutError:
            failure = Ambiguous("no answer in time")
        except DeliveryError as error:
            failure = error
        except Exception:
            # A bug in the adapter says nothing about whether the call left: it counts as a lost answer.
            _log.exception("send_failed", outbound=due.message.id)
            failure = Ambiguous("the adapter failed")
        resends = channel.resend_unknown and not channel.can_find
        pause = resend_pause(part.lost, self._chance) if resends else None
        return fate(failure, attempt, due.age, self._chance, pause)

    async def _say(self, due: DueMessage, channel: NotificationChannel, part: KeptPart, target: Target) -> Receipt:
        """Send a part; the first one takes the place of what grew while it was written."""
        if part.number == 1 and due.stream_at is not None and isinstance(channel, Streaming):
            stream = due.stream
            try:
                stream = stream or await channel.find_stream(due.address, due.stream_at)
                if stream and due.overtaken:
                    await channel.drop_stream(due.address, stream)
                    stream = ""
            except DeliveryError as error:
                # What was only a preview may not hold the answer up.
                _log.info("stream_not_settled", outbound=due.message.id, cause=type(error).__name__)
            target = replace(target, stream=stream)
        return await channel.send(part.part, target)

    async def _take_back(self, claim: Claim, due: DueMessage, channel: NotificationChannel) -> str:
        """Remove a message that was begun for an answer that never came; a few tries, it is no answer."""
        if due.stream_at is None or not isinstance(channel, Streaming):
            await self._outbox.end_stream(claim)
            return "sent"
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                if stream := due.stream or await channel.find_stream(due.address, due.stream_at):
                    await channel.drop_stream(due.address, stream)
        except (DeliveryError, TimeoutError) as error:
            _log.warning("stream_not_taken_back", outbound=due.message.id, cause=type(error).__name__)
            if due.attempts < TAKE_BACK_TRIES:
                await self._outbox.put_off(claim, CHECK_AFTER)
                return "ready"
        except Exception:
            # A bug in the adapter may not block the conversation for ever.
            _log.exception("stream_not_taken_back", outbound=due.message.id)
        await self._outbox.end_stream(claim)
        return "sent"

    async def _look_up(
        self, due: DueMessage, channel: NotificationChannel, part: KeptPart, target: Target
    ) -> PartEnd | None:
        """Find out about a call whose answer was lost. None: it did not arrive, or policy says send again."""
        if part.lost_since is None:
            return None
        patience = CHECK_AFTER
        if channel.resend_unknown and not channel.can_find:
            patience = resend_patience(part.lost)
        if part.state == "sending" and part.silent_for < patience:
            return PartEnd("checking", "ambiguous", reason="the sender died", delay=patience - part.silent_for)
        if not channel.can_find:
            if channel.resend_unknown and part.lost <= MAX_RESENT:
                _log.warning("unknown_part_sent_again", outbound=due.message.id, part=part.number)
                return None
            return PartEnd("ambiguous", "left", reason="the outcome is unknown and cannot be looked up")
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                receipt = await channel.find(part.part, target, part.lost_since)
        except (TimeoutError, DeliveryError) as error:
            return _not_told(part, type(error).__name__)
        except Exception as error:
            # A bug in the adapter tells nothing either, and may not block the conversation for ever.
            _log.exception("look_up_failed", outbound=due.message.id)
            return _not_told(part, type(error).__name__)
        if receipt is None:
            return None
        return PartEnd("sent", "found", receipt)


async def _patiently[T](write: Callable[[], Awaitable[T]]) -> T:
    """Write as soon as the database is back, within `WRITE_WITHIN`."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + WRITE_WITHIN
    while True:
        try:
            return await write()
        except StoreUnavailable:
            if loop.time() > deadline:
                raise
        await asyncio.sleep(0.5)


def _not_told(part: KeptPart, cause: str) -> PartEnd:
    if part.silent_for > LOOK_UP_WITHIN:
        return PartEnd("ambiguous", "left", reason=f"the look-up failed: {cause}")
    delay = min(max(CHECK_AFTER, part.silent_for / 4), timedelta(seconds=LONGEST))
    return PartEnd("checking", "ambiguous", reason=cause, delay=delay)
