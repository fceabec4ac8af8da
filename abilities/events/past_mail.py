"""Access to past mail: new mail becomes an event only if a task waits for it."""

from collections.abc import Awaitable, Callable
from typing import Protocol
from zoneinfo import ZoneInfo

from abilities.events.types import Event

type Matches = Callable[[Event], Awaitable[bool]]


class PastMail(Protocol):
    """The reader of people's mailboxes: new mail becomes an event only if a task waits for it."""

    async def is_connected(self, tenant_id: str) -> bool:
        """Return whether a person has a mailbox that can be watched."""
        ...

    async def last_match(self, tenant_id: str, matches: Matches, zone: ZoneInfo) -> str:
        """Return the newest mail that matches, in words, or that none does.

        Raises `AccountMissing` if no mailbox is connected, and `ToolFailed` if none can be read.
        """
        ...
