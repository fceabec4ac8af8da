"""The person whose turn it is, and their preferences about turns."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from core.language.catalogue import speaking
from core.people.access_policy import PersonRole

if TYPE_CHECKING:
    import asyncpg


@dataclass(frozen=True, slots=True)
class TurnTenant:
    """The person whose turn it is. `timezone` is an IANA name, `language` a BCP 47 tag if it is known."""

    id: str
    name: str = ""
    language: str | None = None
    timezone: str = "UTC"
    role: PersonRole = PersonRole.MEMBER
    tier: str | None = None
    """The tier they were given; None for their role's."""
    timezone_known: bool = True
    """False while `timezone` is only the default."""

    @classmethod
    def from_row(cls, tenant_id: str, row: "asyncpg.Record") -> Self:
        """Return the person of a row that has these columns."""
        return cls(
            tenant_id,
            row["name"],
            row["language"],
            row["timezone"],
            PersonRole(row["role"]),
            row["tier"],
            row["timezone_known"],
        )

    def speaking(self) -> AbstractContextManager[None]:
        """Use the person's language for the sentences inside."""
        return speaking(self.language)


class WhileRunning(StrEnum):
    """The treatment of a message that comes in while a turn runs, as the person prefers."""

    STEER = "steer"
    """The turn takes it in before its next model call."""
    QUEUE = "queue"
    """It waits for the next turn."""
    INTERRUPT = "interrupt"
    """The turn ends without an answer, and the next turn takes both up."""


@dataclass(frozen=True, slots=True)
class QuietHours:
    """When not to disturb a person, in their own timezone; it may span midnight."""

    start: time
    end: time

    def covers(self, at: time) -> bool:
        if self.start <= self.end:
            return self.start <= at < self.end
        return at >= self.start or at < self.end
