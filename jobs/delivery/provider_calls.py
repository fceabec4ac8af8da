"""Calls to a provider for one message: send a part, look up one whose answer was lost, remove a begun message.

Every call ends in a `PartEnd`, whatever the adapter raises. Its time is measured as a busy process sees it: a loop that
was held up (another task computed, the machine was overloaded or asleep) finds the answers of its calls waiting in its
sockets. A plain timeout would discard them, and the messages would be sent twice.
"""

import asyncio
import random
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import structlog

from core.errors import Ambiguous, DeliveryError
from core.messaging.calls import PartEnd
from core.messaging.capabilities import Streaming
from core.messaging.channels import NotificationChannel, Receipt, Target
from core.messaging.due_messages import DueMessage, KeptPart
from core.messaging.messages import OutboundKind
from core.messaging.states import CallOutcome, SendState
from jobs.delivery import backoff
from jobs.delivery.backoff import CHECK_AFTER, GIVE_UP_AFTER, LONGEST, RESEND_AFTER, fate, resend_patience, resend_pause

STEP = 0.5
"""Seconds that an interval counts at most: more pass only while the loop is held up."""


async def within[T](seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`; raise `TimeoutError` once the loop has waited `seconds` for it.

    Seconds in which the loop did not run are not counted.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work, name="within")
    left = seconds
    try:
        while left > 0:
            began = loop.time()
            await asyncio.wait({task}, timeout=min(left, STEP))
            if task.done():
                return task.result()
            left -= min(loop.time() - began, STEP)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
    if not task.cancelled():
        return task.result()  # the answer came in during the cancellation
    raise TimeoutError


def elapsed() -> float:
    """Return seconds since an arbitrary moment, including those in which the machine slept."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


SEND_TIMEOUT = 10.0
"""Seconds for one provider call; the lease is longer."""
FILE_TIMEOUT = 40.0
"""Seconds in which a file is uploaded, all of its calls together."""
LOOK_UP_WITHIN = GIVE_UP_AFTER
"""The time for which an unknown outcome is looked up while the provider cannot tell. Later messages do not wait so
long: `claim_outbound` lets them pass."""
MAX_RESENT = len(RESEND_AFTER)
"""Repeats of a part with an unknown outcome on a channel without a look-up."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ProviderCalls:
    """Call a provider and decide the end of the part by its answer. `chance` spreads the retries."""

    chance: random.Random = field(default_factory=random.Random)

    async def send(
        self, due: DueMessage, channel: NotificationChannel, part: KeptPart, target: Target, attempt: int
    ) -> PartEnd:
        failure: DeliveryError
        try:
            seconds = FILE_TIMEOUT if part.part.uploads else SEND_TIMEOUT
            receipt = await within(seconds, self._send(due, channel, part, target))
            return PartEnd(SendState.SENT, CallOutcome.ACCEPTED, receipt)
        except TimeoutError:
            failure = Ambiguous("no answer in time")
        except DeliveryError as error:
            failure = error
        except Exception:
            # A bug in the adapter says nothing about whether the call left: it counts as a lost answer.
            _log.exception("send_failed", outbound=due.message.id)
            failure = Ambiguous("the adapter failed")
        pause = resend_pause(part.lost, self.chance) if _sends_unknown_again(due, channel) else None
        return fate(failure, attempt, due.age, self.chance, pause)

    async def _send(self, due: DueMessage, channel: NotificationChannel, part: KeptPart, target: Target) -> Receipt:
        """Send a part; the first part replaces the message that was streamed while the answer was written."""
        if part.number == 1 and due.stream_at is not None and isinstance(channel, Streaming):
            stream = due.stream
            try:
                stream = stream or await channel.find_stream(due.address, due.stream_at)
                if stream and due.overtaken:
                    await channel.drop_stream(due.address, stream)
                    stream = None
            except DeliveryError as error:
                # The streamed message was only a preview: it may not hold up the answer.
                _log.info("stream_not_settled", outbound=due.message.id, cause=type(error).__name__)
            target = replace(target, stream=stream)
        return await channel.send(part.part, target)

    async def look_up(
        self, due: DueMessage, channel: NotificationChannel, part: KeptPart, target: Target
    ) -> PartEnd | None:
        """Look up a call whose answer was lost. Return None if the part is to be sent again."""
        if part.lost_since is None:
            return None
        patience = CHECK_AFTER
        if _sends_unknown_again(due, channel):
            patience = resend_patience(part.lost)
        if part.state is SendState.SENDING and part.silent_for < patience:
            return PartEnd(
                SendState.CHECKING, CallOutcome.AMBIGUOUS, reason="the sender died", delay=patience - part.silent_for
            )
        if not channel.can_find:
            if _sends_unknown_again(due, channel) and part.lost <= MAX_RESENT:
                _log.warning("unknown_part_sent_again", outbound=due.message.id, part=part.number)
                return None
            return PartEnd(
                SendState.AMBIGUOUS, CallOutcome.LEFT, reason="the outcome is unknown and cannot be looked up"
            )
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                receipt = await channel.find(part.part, target, part.lost_since)
        except (TimeoutError, DeliveryError) as error:
            return _still_unknown(part, type(error).__name__)
        except Exception as error:
            # A bug in the adapter gives no answer either, and must not block the conversation.
            _log.exception("look_up_failed", outbound=due.message.id)
            return _still_unknown(part, type(error).__name__)
        return backoff.after_look_up(receipt, part.lost if channel.resend_unknown else 0)

    async def take_back(self, due: DueMessage, channel: NotificationChannel) -> bool:
        """Delete the message that was begun for an answer that never came. Return False if it may be tried again."""
        if due.stream_at is None or not isinstance(channel, Streaming):
            return True
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                if stream := due.stream or await channel.find_stream(due.address, due.stream_at):
                    await channel.drop_stream(due.address, stream)
        except (DeliveryError, TimeoutError) as error:
            _log.warning("stream_not_taken_back", outbound=due.message.id, cause=type(error).__name__)
            return False
        except Exception:
            # A bug in the adapter may not block the conversation.
            _log.exception("stream_not_taken_back", outbound=due.message.id)
        return True


def _sends_unknown_again(due: DueMessage, channel: NotificationChannel) -> bool:
    """Return whether a part that cannot be looked up is sent again: never to others, who get an approved text once."""
    return channel.resend_unknown and not channel.can_find and due.message.kind is not OutboundKind.OUTREACH


def _still_unknown(part: KeptPart, cause: str) -> PartEnd:
    if part.silent_for > LOOK_UP_WITHIN:
        return PartEnd(SendState.AMBIGUOUS, CallOutcome.LEFT, reason=f"the look-up failed: {cause}")
    delay = min(max(CHECK_AFTER, part.silent_for / 4), timedelta(seconds=LONGEST))
    return PartEnd(SendState.CHECKING, CallOutcome.AMBIGUOUS, reason=cause, delay=delay)
