"""Memory's own model calls, each out of the budget of the person that it is made for."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from core.budgets.types import Budgets
from core.db.database import Database
from core.ids import IdMaker
from core.journal.types import MemoryJournal, StepKey
from core.llm.types import ChatMessage, ModelAnswer, ModelRequest, Role
from core.turns.types import TurnRequest, TurnTenant

type Complete = Callable[[str], Awaitable[str]]
"""Ask a model: a prompt, and its words. Raises `core.errors.ModelError` or `core.budgets.types.OutOfMoney`."""

MODEL_PATIENCE = 60.0
_STEP = StepKey(0, 0, "memory")


class ChatClient(Protocol):
    """A model client, as far as memory needs it."""

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Make one call. Raises `core.errors.ModelError`."""
        ...


@dataclass(frozen=True, slots=True)
class Asking:
    """Ask a chat model one thing, outside any turn. Without `budgets` nothing is counted."""

    client: ChatClient
    database: Database
    make_id: IdMaker
    budgets: Budgets | None = None

    def of(self, tenant_id: str) -> Complete:
        """Return the way to ask at this person's cost."""

        async def complete(prompt: str) -> str:
            return await self.ask(tenant_id, prompt)

        return complete

    async def ask(self, tenant_id: str, prompt: str) -> str:
        """Reserve what it may cost, ask, and settle. Raises `ModelError` or `OutOfMoney`."""
        request = ModelRequest((ChatMessage(Role.USER, prompt),), timeout=MODEL_PATIENCE, temperature=0.0)
        if self.budgets is None:
            return (await self.client.answer(request)).text
        budget = self.budgets.for_turn(await self._turn(tenant_id))
        await budget.reserve(_STEP, request)
        try:
            answer = await self.client.answer(request)
        except BaseException:
            await budget.release(_STEP)
            raise
        await budget.settle(_STEP, answer.usage)
        return answer.text

    async def _turn(self, tenant_id: str) -> TurnRequest:
        """Return each call a name of its own, so that one made again is paid again."""
        async with self.database.tenant(tenant_id) as connection:
            row = await connection.fetchrow("select role, tier, timezone from tenants where tenant_id = $1", tenant_id)
        tenant = TurnTenant(tenant_id)
        if row is not None:
            tenant = TurnTenant(tenant_id, timezone=row["timezone"] or "UTC", role=row["role"], tier=row["tier"])
        return TurnRequest(self.make_id("mask"), tenant, "", (), MemoryJournal())
