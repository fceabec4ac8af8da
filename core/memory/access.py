"""What a tool may do with a person's memory; light, for whoever only names it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory as the person is shown it. `source` says in words where it comes from; `until`: it holds no longer."""

    number: int
    text: str
    said_at: datetime
    source: str
    until: datetime | None = None

    def line(self) -> str:
        """Write it as one line."""
        ended = f", until {self.until:%Y-%m-%d}" if self.until else ""
        return f"{self.number}. {self.text} ({self.said_at:%Y-%m-%d}, {self.source}{ended})"


class MemoryAccess(Protocol):
    """The memory of one tenant, and of nobody else. Raises `core.errors.ToolFailed` where there is none."""

    async def remember(self, text: str, key: str) -> Sequence[Remembered]:
        """Keep a statement of the person's; nothing where it may not be kept. The same key keeps nothing twice."""
        ...

    async def search(self, query: str) -> Sequence[Remembered]:
        """Return what is known and has to do with a question, the most important first."""
        ...

    async def overview(self, most: int = 30) -> Sequence[Remembered]:
        """Return what the person told, the newest first."""
        ...

    async def ask_to_forget(self, what: str, numbers: Sequence[int] = ()) -> Sequence[Remembered]:
        """Return what would be forgotten, to be shown; nothing is forgotten yet."""
        ...

    async def forget(self) -> int:
        """Forget what an earlier turn asked about; return how many memories went, 0 where nothing was asked."""
        ...

    async def correct(self, number: int, text: str, key: str) -> Sequence[Remembered]:
        """Put a statement in a memory's place, which ends; an empty text lets a replaced memory hold again."""
        ...
