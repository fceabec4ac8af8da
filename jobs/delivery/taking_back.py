"""A message that was begun for an answer that never came: it is deleted if it can be."""

import asyncio

import structlog

from core.errors import DeliveryError
from core.messaging.capabilities import Streaming
from core.messaging.channels import NotificationChannel
from core.messaging.due_messages import Claim, DueMessage
from core.messaging.outbox import Outbox
from core.messaging.states import SendState
from jobs.delivery.backoff import CHECK_AFTER
from jobs.delivery.provider_calls import SEND_TIMEOUT
from jobs.delivery.types import RowEnd

MAX_TRIES = 2
"""Tries to delete a message without an answer; later messages wait for it."""

_log = structlog.get_logger()


async def take_back(outbox: Outbox, claim: Claim, due: DueMessage, channel: NotificationChannel) -> RowEnd:
    """Delete the message, and end its row. It is no answer, so a few tries are enough."""
    if not await _deleted(due, channel) and due.attempts < MAX_TRIES:
        await outbox.put_off(claim, CHECK_AFTER)
        return RowEnd(SendState.READY, again=CHECK_AFTER)
    await outbox.end_stream(claim)
    return RowEnd(SendState.SENT)


async def _deleted(due: DueMessage, channel: NotificationChannel) -> bool:
    """Return False if it may be tried again."""
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
