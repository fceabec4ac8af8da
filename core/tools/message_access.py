"""Messages to other people, as tools write them: the addressee, the words around the text, and the answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Addressee:
    """Somebody to whom messages can be sent now.

    `key` is vouched for by the provider: an E.164 number, a Slack member's id, a Telegram user's number; `name` is
    the provider's, if it tells any. `opening` and `closing` are said around a text to somebody who does not know on
    whose behalf it comes, and empty for anybody else.
    """

    channel: str
    key: str
    name: str = ""
    opening: str = ""
    closing: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Somebody's answer: their words, which are data."""

    name: str
    channel: str
    text: str
    at: datetime


class MessageAccess(Protocol):
    """Messages to other people on behalf of a person; consent to them is the caller's to ask for."""

    @property
    def channels(self) -> Sequence[str]:
        """Return the channels on which people can be written to."""
        ...

    async def find(self, channel: str, key: str) -> Addressee:
        """Return somebody by a number (E.164), a Slack member's id or mail address, or a Telegram user's number.

        Raises `core.errors.ToolFailed` if they may not or cannot be written to, with the reason.
        """
        ...

    async def as_sent(self, channel: str, text: str) -> str:
        """Return a text as it will be read there. Raises `core.errors.ToolRetry` if it is too long."""
        ...

    async def send(self, to: Addressee, name: str, text: str, key: str) -> None:
        """Queue a text exactly as it is. `name` is the person's name for its reader; the same `key` is sent once."""
        ...

    async def answers(self) -> Sequence[Answer]:
        """Return people's recent answers, the newest first."""
        ...
