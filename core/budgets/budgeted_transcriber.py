"""Transcripts made for a person, each paid from that person's budget."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from core.budgets.budgeted_model import payer_of
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.journal.types import StepKey
from core.llm.transcription import Recording, Transcript
from core.llm.types import TokenUsage


class Transcribing(Protocol):
    """A client of a transcription model: `core.llm.transcription.Transcriber`, and what tests put in its place."""

    def cost(self, seconds: float) -> float | None:
        """Return the dollars for so many seconds; None where nobody knows the price."""
        ...

    async def transcribe(self, recording: Recording) -> Transcript:
        """Make one call. Raises `core.errors.ModelError`."""
        ...


@dataclass(frozen=True, slots=True)
class BudgetedTranscriber:
    """A transcription model whose calls are reserved before and settled after. Without `budgets` nothing is counted."""

    client: Transcribing
    database: Database
    budgets: DailyBudgets | None = None

    async def transcribe(self, tenant_id: str, turn_id: str, key: StepKey, recording: Recording) -> str:
        """Return what is said, at this person's cost. Raises `ModelError` or `OutOfMoney`; a failure costs nothing."""
        if self.budgets is None:
            return (await self.client.transcribe(recording)).text
        budget = self.budgets.of(await payer_of(self.database, tenant_id, turn_id))
        await budget.reserve_amount(key, self.client.cost(recording.seconds) or 0.0)
        try:
            transcript = await self.client.transcribe(recording)
        except asyncio.CancelledError:
            await budget.settle(key, TokenUsage())  # the provider bills what it has begun
            raise
        except BaseException:
            await budget.release(key)
            raise
        await budget.settle(key, TokenUsage(cost=self.client.cost(transcript.seconds or recording.seconds)))
        return transcript.text
