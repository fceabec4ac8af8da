"""Embeddings made by a provider for a person, each call paid from that person's budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.budgets.background import BackgroundCall
from core.budgets.budgeted_model import EmbeddingClient
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.ids import IdMaker
from core.journal.types import StepKey

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
        call = BackgroundCall(
            tenant_id,
            self.make_id("memb"),
            _STEP,
            "embeddings",
            lambda budget: budget.reserve_embedding(_STEP, texts),
            lambda: self.client.embed(model, texts),
            lambda embeddings: embeddings.usage,
            billed=True,  # recall waits only so long
        )
        return (await call.make(self.database, self.budgets)).vectors
