"""Limits of one model answer: the length of its text, and the calls that it may make. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core import replies
from core.language.catalogue import gettext
from core.llm.types import ModelAnswer, ToolCall
from core.messaging.capabilities import Billed
from core.messaging.channels import NotificationChannel
from core.messaging.messages import OutboundKind, OutboundMessage

MAX_CHARACTERS = 30_000
"""The most in one message, on any channel: no person reads more in a chat."""


def shortened(message: OutboundMessage) -> OutboundMessage:
    """Return a message cut to a readable length, with a note where it was cut. A card is never cut."""
    if len(message.text) <= MAX_CHARACTERS or message.kind is OutboundKind.CARD:
        return message
    return replace(message, text=f"{message.text[:MAX_CHARACTERS].rstrip()}\n\n{gettext(replies.REST_LEFT_OUT)}")


def too_long(card: OutboundMessage, channel: NotificationChannel) -> bool:
    """Return whether a card is too long to read, or too expensive, to be shown in full on a channel."""
    if len(card.text) > MAX_CHARACTERS:
        return True
    return isinstance(channel, Billed) and sum(part.segments for part in channel.render(card)) > channel.budget.card


def answer_text(answer: ModelAnswer) -> str:
    """Return an answer's text for the person, with a note if it was cut off. What was withheld is not shown in part."""
    if answer.refused:
        return replies.refused(answer.refusal)
    text = replies.without_notes(answer.text) or gettext(replies.NOTHING_SAID)
    return f"{text.rstrip()}\n\n{gettext(replies.ANSWER_CUT_OFF)}" if answer.cut else text


def calls_not_run(calls: Sequence[ToolCall], limit: int, *, cut: bool) -> Mapping[int, str]:
    """Return the reasons of the calls that are not run, by their number from 1.

    Calls after the first `limit` are not run, nor is the last one of an answer that was `cut`: its end is missing.
    """
    refused = {number: replies.too_many_calls(limit) for number in range(limit + 1, len(calls) + 1)}
    return {**refused, len(calls): replies.CALL_CUT_OFF} if cut and calls else refused
