"""Embeddings made by a provider for a person, each call paid from that person's budget."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core.budgets.background import BackgroundCall
from core.budgets.budgeted_model import EmbeddingClient, payer_of
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.ids import IdMaker
from core.journal.types import StepKey
from core.llm.types import Embeddings, TokenUsage

_STEP = StepKey(0, 0, "embedding")


@dataclass(frozen=True, slots=True)
class BudgetedEmbeddings:
    """An embedding client whose calls are reserved before and settled after, and counted."""

    client: EmbeddingClient
    database: Database
    make_id: IdMaker
    budgets: DailyBudgets | None = None

    async def embed(self, tenant_id: str, model: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed at this person's cost. Raises `ModelError`, `OutOfMoney` or `NotNow`; a failed call costs nothing."""
        call = await BackgroundCall.begin(self.database, tenant_id, "embeddings")
        embeddings = await self._paid(tenant_id, model, texts)
        await call.count(embeddings.usage)
        return embeddings.vectors

    async def _paid(self, tenant_id: str, model: str, texts: Sequence[str]) -> Embeddings:
        if self.budgets is None:
            return await self.client.embed(model, texts)
        budget = self.budgets.of(await payer_of(self.database, tenant_id, self.make_id("memb")))
        await budget.reserve_embedding(_STEP, texts)
        try:
            embeddings = await self.client.embed(model, texts)
        except asyncio.CancelledError:
            # Recall waits only so long, and the provider bills calls that it has begun.
            await budget.settle(_STEP, TokenUsage())
            raise
        except BaseException:
            await budget.release(_STEP)
            raise
        await budget.settle(_STEP, embeddings.usage)
        return embeddings
