"""What a tool is given about the person: their profile, their preferences, and files they sent."""

from collections.abc import Sequence
from typing import Protocol

from core.messaging.messages import Media
from core.tools.files import SentFile


class FileAccess(Protocol):
    """The files that came with a turn's messages."""

    async def list(self) -> Sequence[Media]:
        """Return what was sent, in order; fetching nothing."""
        ...

    async def fetch(self, number: int) -> SentFile:
        """Fetch a file by its number in the list, from 1. Raises `core.errors.ToolFailed`."""
        ...


class PersonAccess(Protocol):
    """What is known of one tenant, and what they prefer; what is given is text for the model."""

    async def preferences(self) -> str:
        """List what the person prefers, a line each."""
        ...

    async def prefer(self, name: str, value: str) -> str:
        """Store a preference, and list all. Raises `core.errors.ToolRetry` with the possible ones."""
        ...

    async def needs_timezone(self) -> bool:
        """Return whether nobody knows the person's timezone yet: have them asked before a first schedule is kept."""
        ...

    async def profile(self) -> str:
        """List what is known about the person, a line each with its number."""
        ...

    async def learn(self, key: str, value: str) -> str:
        """Store a fact that the person told. Raises `core.errors.ToolRetry`."""
        ...

    async def unlearn(self, number: int) -> str:
        """Delete a fact."""
        ...
