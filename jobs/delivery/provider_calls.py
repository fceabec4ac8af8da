"""The call to a provider that sends a part of a message.

It ends in a `PartEnd`, whatever the adapter raises. A loop that was held up finds the answer waiting in its socket: a
plain timeout would discard it, and the message would be sent twice.
"""

import random
from dataclasses import replace

import structlog

from core.clock import within
from core.errors import Ambiguous, DeliveryError
from core.messaging.calls import PartEnd
from core.messaging.capabilities import Streaming
from core.messaging.channels import NotificationChannel, Receipt, Target
from core.messaging.due_messages import DueMessage, KeptPart
from core.messaging.messages import OutboundKind
from core.messaging.states import CallOutcome, SendState
from jobs.delivery.backoff import fate, resend_pause

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
