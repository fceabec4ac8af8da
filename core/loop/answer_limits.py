"""What one model answer may cause, and what is said of an answer that was cut off; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core import replies
from core.llm.types import ModelAnswer, ToolCall
from core.messaging.channels import Billed, NotificationChannel
from core.messaging.messages import OutboundKind, OutboundMessage

MAX_CHARACTERS = 30_000
"""Of one message, on any channel: no person reads more in a chat."""


def shortened(message: OutboundMessage) -> OutboundMessage:
    """Return a message of a length that can be read, saying where it was cut; a card is never cut."""
    if len(message.text) <= MAX_CHARACTERS or message.kind is OutboundKind.CARD:
        return message
    return replace(message, text=f"{message.text[:MAX_CHARACTERS].rstrip()}\n\n{replies.REST_LEFT_OUT}")


def too_long(card: OutboundMessage, channel: NotificationChannel) -> bool:
    """Return whether a card cannot be shown in full on a channel: it is more than anybody reads, or costs too much."""
    if len(card.text) > MAX_CHARACTERS:
        return True
    return isinstance(channel, Billed) and sum(part.segments for part in channel.render(card)) > channel.budget.card


def answer_text(answer: ModelAnswer) -> str:
    """Return an answer as the person reads it: one that was cut off says so."""
    text = answer.text
    return f"{text.rstrip()}\n\n{replies.ANSWER_CUT_OFF}" if answer.cut else text


def calls_not_run(calls: Sequence[ToolCall], most: int, *, cut: bool) -> Mapping[int, str]:
    """Return why calls are not run, by their number from 1.

    Those beyond `most` are not, and of an answer that was `cut` the last one: what is missing of it cannot be known.
    """
    refused = {number: replies.too_many_calls(most) for number in range(most + 1, len(calls) + 1)}
    return {**refused, len(calls): replies.CALL_CUT_OFF} if cut and calls else refused
