"""Model calls made for a person outside any turn, each paid from that person's budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.budgets.background import BackgroundCall
from core.budgets.store import DailyBudgets
from core.budgets.types import Payer
from core.db.database import Database
from core.journal.types import StepKey
from core.llm.types import Embeddings, ModelAnswer, ModelRequest
from core.people.access_policy import PersonRole


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
        call = await BackgroundCall.begin(self.database, tenant_id, self.work)
        answer = await self._paid(tenant_id, turn_id, key, request)
        await call.count(answer.usage)
        return answer

    async def _paid(self, tenant_id: str, turn_id: str, key: StepKey, request: ModelRequest) -> ModelAnswer:
        if self.budgets is None:
            return await self.client.answer(request)
        budget = self.budgets.of(await payer_of(self.database, tenant_id, turn_id))
        await budget.reserve(key, request)
        try:
            answer = await self.client.answer(request)
        except BaseException:
            await budget.release(key)
            raise
        await budget.settle(key, answer.usage)
        return answer


async def payer_of(database: Database, tenant_id: str, turn_id: str) -> Payer:
    """Return the payer of a call that is made for a person outside any turn."""
    statement = "select role, tier, timezone from tenants where tenant_id = $1"
    row = await database.tenant_row(tenant_id, statement)
    if row is None:
        return Payer(tenant_id, turn_id)
    return Payer(tenant_id, turn_id, PersonRole(row["role"]), row["tier"] or None, row["timezone"] or "UTC")
