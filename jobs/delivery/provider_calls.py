"""The call to a provider that sends a part of a message.

It ends in a `PartEnd`, whatever the adapter raises. Its time is measured as a busy process sees it: a loop that was
held up (another task computed, the machine was overloaded or asleep) finds the answers of its calls waiting in its
sockets. A plain timeout would discard them, and the messages would be sent twice.
"""

import asyncio
import random
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import structlog

from core.errors import Ambiguous, DeliveryError
from core.messaging.calls import PartEnd
from core.messaging.capabilities import Streaming
from core.messaging.channels import NotificationChannel, Receipt, Target
from core.messaging.due_messages import DueMessage, KeptPart
from core.messaging.messages import OutboundKind
from core.messaging.states import CallOutcome, SendState
from jobs.delivery.backoff import fate, resend_pause

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
"""Seconds for a provider call; the lease is longer."""
FILE_TIMEOUT = 40.0
"""Seconds in which a file is uploaded, all of its calls together."""

_log = structlog.get_logger()


async def send(
    due: DueMessage,
    channel: NotificationChannel,
    part: KeptPart,
    target: Target,
    attempt: int,
    chance: random.Random,
) -> PartEnd:
    """Send a part, and decide its end by the provider's answer. `chance` spreads the retries."""
    failure: DeliveryError
    try:
        seconds = FILE_TIMEOUT if part.part.uploads else SEND_TIMEOUT
        receipt = await within(seconds, _send(due, channel, part, target))
        return PartEnd(SendState.SENT, CallOutcome.ACCEPTED, receipt)
    except TimeoutError:
        failure = Ambiguous("no answer in time")
    except DeliveryError as error:
        failure = error
    except Exception:
        # A bug in the adapter says nothing about whether the call left: it counts as a lost answer.
        _log.exception("send_failed", outbound=due.message.id)
        failure = Ambiguous("the adapter failed")
    pause = resend_pause(part.lost, chance) if sends_unknown_again(due, channel) else None
    return fate(failure, attempt, due.age, chance, pause)


async def _send(due: DueMessage, channel: NotificationChannel, part: KeptPart, target: Target) -> Receipt:
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


def sends_unknown_again(due: DueMessage, channel: NotificationChannel) -> bool:
    """Return whether a part that cannot be looked up is sent again: never to others, who get an approved text once."""
    return channel.resend_unknown and not channel.can_find and due.message.kind is not OutboundKind.OUTREACH
