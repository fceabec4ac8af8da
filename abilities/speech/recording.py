"""Recordings made for a person, each paid from that person's budget."""

from dataclasses import dataclass
from typing import Protocol

from abilities.documents.file import read_content
from abilities.speech.types import Sound
from core.budgets.background import BackgroundCall
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.files.kinds import FileKind
from core.files.types import FileUnreadable
from core.journal.types import StepKey
from core.llm.types import TokenUsage

A_SECOND = 14
"""Characters that are said in a second, about."""


class Speaking(Protocol):
    """A client of a speech model, or its replacement in tests."""

    def cost(self, characters: int, seconds: float) -> float | None:
        """Return the price of a text and its recording, in dollars; None if it is unknown."""
        ...

    async def speak(self, text: str, sound: str) -> bytes:
        """Make a call. Raises `core.errors.ModelError`."""
        ...


@dataclass(frozen=True, slots=True)
class BudgetedSpeaker:
    """A speech model whose calls are reserved before and settled after, and counted."""

    client: Speaking
    database: Database
    budgets: DailyBudgets | None = None

    async def speak(self, tenant_id: str, turn_id: str, key: StepKey, text: str, sound: str) -> Sound:
        """Return a recording, at this person's cost. Raises `ModelError` or `OutOfMoney`; a failure is free."""
        expected = self.client.cost(len(text), len(text) / A_SECOND)
        call = BackgroundCall(
            tenant_id,
            turn_id,
            key,
            "speech",
            lambda budget: budget.reserve_amount(key, expected or 0.0),
            lambda: self._recorded(text, sound),
            lambda made: TokenUsage(cost=self.client.cost(len(text), made.seconds)),
            billed=True,
        )
        return await call.make(self.database, self.budgets)

    async def _recorded(self, text: str, sound: str) -> Sound:
        body = await self.client.speak(text, sound)
        try:
            seconds = (await read_content(body, FileKind.AUDIO)).seconds
        except FileUnreadable:
            seconds = 0.0
        return Sound(body, seconds or len(text) / A_SECOND)
