"""Transcripts made for a person, each paid from that person's budget."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from core.budgets.background import BackgroundCall
from core.budgets.budgeted_model import payer_of
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
        call = await BackgroundCall.begin(self.database, tenant_id, "recordings")
        transcript = await self._paid(tenant_id, turn_id, key, recording)
        await call.count(self._usage(transcript, recording))
        return transcript.text

    async def _paid(self, tenant_id: str, turn_id: str, key: StepKey, recording: Recording) -> Transcript:
        if self.budgets is None:
            return await self.client.transcribe(recording)
        budget = self.budgets.of(await payer_of(self.database, tenant_id, turn_id))
        await budget.reserve_amount(key, self.client.cost(recording.seconds) or 0.0)
        try:
            transcript = await self.client.transcribe(recording)
        except asyncio.CancelledError:
            await budget.settle(key, TokenUsage())  # the provider bills calls that it has begun
            raise
        except BaseException:
            await budget.release(key)
            raise
        await budget.settle(key, self._usage(transcript, recording))
        return transcript

    def _usage(self, transcript: Transcript, recording: Recording) -> TokenUsage:
        return TokenUsage(cost=self.client.cost(transcript.seconds or recording.seconds))
