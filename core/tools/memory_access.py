"""A tool's access to a person's memory. Imports nothing heavy, so that tools may name it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.language.catalogue import gettext
from core.language.times import day_in_words


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory as the person is shown it. `source` is in words; `until` is set once it holds no longer."""

    number: int
    text: str
    said_at: datetime
    source: str
    until: datetime | None = None

    def line(self) -> str:
        about = self.source
        if self.until:
            about = gettext("{source}, until {date}", source=about, date=day_in_words(self.until.date()))
        day = day_in_words(self.said_at.date())
        return gettext("{number}. {text} ({day}, {source})", number=self.number, text=self.text, day=day, source=about)


class MemoryAccess(Protocol):
    """The memory of a tenant. Raises `core.errors.ToolFailed` if there is none."""

    async def remember(self, text: str, key: str) -> Sequence[Remembered]:
        """Store a statement of the person's; return the stored memories. The same key stores nothing twice."""
        ...

    async def search(self, query: str) -> Sequence[Remembered]:
        """Return the memories that a question is about, the most important first."""
        ...

    async def overview(self, most: int = 30) -> Sequence[Remembered]:
        """Return the person's own statements, the newest first."""
        ...

    async def ask_to_forget(self, what: str, numbers: Sequence[int] = ()) -> Sequence[Remembered]:
        """Return the memories that would be forgotten, to be confirmed in a later turn or on a card."""
        ...

    async def forget(self, shown: Sequence[str] = ()) -> int:
        """Forget the memories that the person was shown, as `Remembered.line` writes them; return how many are gone.

        Without any: those that an earlier turn asked about, 0 if none asked. Raises `core.errors.ToolRetry`, and
        forgets nothing, if a line is not the memory under its number.
        """
        ...

    async def correct(self, number: int, text: str, key: str) -> Sequence[Remembered]:
        """Replace a memory by a statement; an empty text lets a replaced memory hold again."""
        ...

    async def take_back(self, numbers: Sequence[int]) -> Sequence[str] | None:
        """Delete memories that were just stored, and let the replaced memories hold again; return the deleted texts.

        None, and nothing deleted, if any of them has been replaced since.
        """
        ...

    async def shared(self, home: str) -> "MemoryAccess":
        """Return the memory of all who share a home. Raises `core.errors.ToolFailed` unless the person does."""
        ...
