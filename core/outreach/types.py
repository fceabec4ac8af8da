"""The values of messages to other people: whom they reach, what frames them, and what is answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

ANSWERS_WITHIN = timedelta(days=14)
"""How long after a message an answer to it is waited for, and its reader knows who wrote."""
MAX_ANSWERS = 20
"""Answers that are handed on between two messages to the same address."""
MAX_ANSWER = 2_000
"""Characters of an answer that are handed on."""


class AnswerOutcome(StrEnum):
    """What became of a message that may be an answer, as `take_answer` returns it."""

    TAKEN = "taken"
    DUPLICATE = "duplicate"
    TOO_MANY = "too_many"
    """Kept without its text."""
    NONE = "none"
    """No answer is waited for."""


@dataclass(frozen=True, slots=True)
class Addressee:
    """Somebody who can be written to now.

    `key` is what the provider vouches for: an E.164 number, a Slack member's id, a Telegram user's number; `name` is
    the provider's, where it tells one. `opening` and `closing` are said around a text to somebody who does not know on
    whose behalf it comes, and empty for anybody else.
    """

    channel: str
    key: str
    name: str = ""
    opening: str = ""
    closing: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody answered: their words, which are data."""

    name: str
    channel: str
    text: str
    at: datetime


class MessageAccess(Protocol):
    """Messages to other people on behalf of one person; consent to them is the caller's to ask for."""

    @property
    def channels(self) -> Sequence[str]:
        """Return the channels on which people can be written to."""
        ...

    async def find(self, channel: str, key: str) -> Addressee:
        """Return somebody by a number (E.164), a Slack member's id or mail address, or a Telegram user's number.

        Raises `core.errors.ToolFailed` where they may not or cannot be written to, with the reason.
        """
        ...

    async def as_sent(self, channel: str, text: str) -> str:
        """Return a text as it will be read there. Raises `core.errors.ToolRetry` for one that is too long."""
        ...

    async def send(self, to: Addressee, name: str, text: str, key: str) -> None:
        """Queue a text exactly as it is. `name` is how the person calls its reader; the same `key` is sent once."""
        ...

    async def answers(self) -> Sequence[Answer]:
        """Return what people answered lately, the newest first."""
        ...

    async def own_words(self) -> Sequence[str]:
        """Return what the person wrote or said themselves in this conversation, the newest first."""
        ...

    async def region(self) -> str | None:
        """Return the country, by two letters, in which the person's numbers are read; None where it is not known."""
        ...
