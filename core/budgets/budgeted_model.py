"""Model calls made for a person outside any turn, each paid from that person's budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.budgets.background import BackgroundCall
from core.budgets.store import DailyBudgets
from core.db.database import Database
from core.journal.types import StepKey
from core.llm.types import Embeddings, ModelAnswer, ModelRequest


class ChatClient(Protocol):
    """A model client that returns whole answers: any `ModelClient`, or its replacement in tests."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Make a call. Raises `core.errors.ModelError`."""
        ...


class EmbeddingClient(Protocol):
    """The part of a model client that embeds, or its replacement in tests."""

    async def embed(self, model: str, texts: Sequence[str]) -> Embeddings:
        """Return a vector for each text; raises `core.errors.ModelError`."""
        ...


@dataclass(frozen=True, slots=True)
class BudgetedModel:
    """A model whose calls are reserved before and settled after, and counted. `work`: their purpose in a word."""

    client: ChatClient
    database: Database
    budgets: DailyBudgets | None = None
    work: str = "memory"

    async def ask(self, tenant_id: str, turn_id: str, key: StepKey, request: ModelRequest) -> ModelAnswer:
        """Ask at this person's cost. Raises `ModelError`, `OutOfMoney` or `NotNow`; a failed call costs nothing."""
        call = BackgroundCall(
            tenant_id,
            turn_id,
            key,
            self.work,
            lambda budget: budget.reserve(key, request),
            lambda: self.client.answer(request),
            lambda answer: answer.usage,
        )
        return await call.make(self.database, self.budgets)
