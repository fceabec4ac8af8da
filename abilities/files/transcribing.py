"""Transcripts made for a person, each paid from that person's budget."""

from dataclasses import dataclass
from typing import Protocol

from core.budgets.background import BackgroundCall
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.journal.types import StepKey
from core.llm.types import Recording, TokenUsage, Transcript


class Transcribing(Protocol):
    """A client of a transcription model, or its replacement in tests."""

    def cost(self, seconds: float) -> float | None:
        """Return the price of a recording's seconds, in dollars; None if it is unknown."""
        ...

    async def transcribe(self, recording: Recording) -> Transcript:
        """Make a call. Raises `core.errors.ModelError`."""
        ...


@dataclass(frozen=True, slots=True)
class BudgetedTranscriber:
    """A transcription model whose calls are reserved before and settled after, and counted."""

    client: Transcribing
    database: Database
    budgets: DailyBudgets | None = None

    async def transcribe(self, tenant_id: str, turn_id: str, key: StepKey, recording: Recording) -> str:
        """Return the spoken text, at this person's cost. Raises `ModelError` or `OutOfMoney`; a failure is free."""
        call = BackgroundCall(
            tenant_id,
            turn_id,
            key,
            "recordings",
            lambda budget: budget.reserve_amount(key, self.client.cost(recording.seconds) or 0.0),
            lambda: self.client.transcribe(recording),
            lambda transcript: self._usage(transcript, recording),
            billed=True,
        )
        return (await call.make(self.database, self.budgets)).text

    def _usage(self, transcript: Transcript, recording: Recording) -> TokenUsage:
        return TokenUsage(cost=self.client.cost(transcript.seconds or recording.seconds))
