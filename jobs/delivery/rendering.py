"""From a due message to the provider's parts, in the person's language."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from core.approvals.cards import as_it_stands
from core.approvals.outcomes import said_of
from core.language.catalogue import gettext, speaking
from core.loop.answer_limits import shortened
from core.messaging.channels import NotificationChannel, Part
from core.messaging.due_messages import DueMessage
from core.messaging.messages import OutboundMessage
from core.replies import MISSING

LONG_TEXT = 2_000
"""Characters from which a message is rendered in a thread."""


type Prepare = Callable[[OutboundMessage], OutboundMessage]
"""Returns a message with the files that its channel carries, and with words about the others."""


async def render(
    due: DueMessage, channel: NotificationChannel, now: datetime, prepare: Prepare
) -> tuple[Sequence[Part], str | None]:
    """Return the parts, and the words that the message's sentences became; None where it has a text of its own."""
    with speaking(due.language):
        said = said_of(due.sentences, due.timezone, now) if due.sentences else None
        message = prepare(_worded(due, said, now))
        if len(message.text) > LONG_TEXT:  # the loop's other work need not wait for it
            return await asyncio.to_thread(channel.render, message), said
        return channel.render(message), said


def _worded(due: DueMessage, said: str | None, now: datetime) -> OutboundMessage:
    """Return what is sent: its text, or what its sentences say, and that an earlier message may be missing.

    A card was written when its request was made; what it says of its time holds now.
    """
    if due.asks is not None:
        return as_it_stands(due.message, due.asks, due.timezone, now)
    message = shortened(due.message if said is None else replace(due.message, text=said))
    if not due.tells_missing:
        return message
    missing = gettext(MISSING)
    # The end of a long message may wait until it is asked for.
    first = (missing, message.text) if len(message.text) > LONG_TEXT else (message.text, missing)
    return replace(message, text="\n\n".join(filter(None, first)))
