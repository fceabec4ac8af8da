"""Memory's own model calls, each paid from the budget of the person it is made for."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.budgets.budgeted_model import BudgetedModel
from core.ids import IdMaker
from core.journal.types import StepKey
from core.llm.types import ChatMessage, ModelRequest, Role

type Complete = Callable[[str], Awaitable[str]]
"""Ask a model: a prompt, and its words. Raises `core.errors.ModelError` or `core.budgets.types.OutOfMoney`."""

MODEL_PATIENCE = 60.0
_STEP = StepKey(0, 0, "memory")


@dataclass(frozen=True, slots=True)
class ModelCalls:
    """Single calls to a chat model outside any turn."""

    model: BudgetedModel
    make_id: IdMaker

    def of(self, tenant_id: str) -> Complete:
        """Return the way to ask at this person's cost."""

        async def complete(prompt: str) -> str:
            return await self.ask(tenant_id, prompt)

        return complete

    async def ask(self, tenant_id: str, prompt: str) -> str:
        """Return the model's words. Raises `ModelError` or `OutOfMoney`."""
        request = ModelRequest((ChatMessage(Role.USER, prompt),), timeout=MODEL_PATIENCE, temperature=0.0)
        # An id of its own for each call, so that a repeated call is paid again.
        return (await self.model.ask(tenant_id, self.make_id("mask"), _STEP, request)).text
