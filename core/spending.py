"""Budgets in Postgres: so many dollars per person and day, whatever runs for them at the same time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from core import sentences
from core.budgets import OutOfMoney
from core.clock import Clock
from core.database import Database
from core.journal import StepKey
from core.model_types import ModelRequest, TokenUsage
from core.prices import ModelPrice, estimate
from core.turn_types import TurnRequest

HELD = timedelta(minutes=10)
"""How long a reservation counts whose worker died; far longer than a model call may take."""


@dataclass(frozen=True, slots=True)
class DailyBudgets:
    """Give every person the same purse each day of theirs. `cap` in dollars; `prices` of all models in use."""

    database: Database
    clock: Clock
    cap: Decimal
    prices: Sequence[ModelPrice]

    def for_turn(self, request: TurnRequest) -> "PostgresBudget":
        """Give the purse of one turn; its day is that on which each call is made."""
        return PostgresBudget(self, request.tenant.id, request.turn_id, request.tenant.timezone)


@dataclass(frozen=True, slots=True)
class PostgresBudget:
    """The purse of one turn. Implements `core.budgets.TurnBudget`."""

    budgets: DailyBudgets
    tenant_id: str
    turn_id: str
    timezone: str
    task_id: str = ""

    async def reserve(self, key: StepKey, request: ModelRequest) -> None:
        """Set aside what a call may cost. Raises `OutOfMoney` when that would pass the cap."""
        amount = Decimal(str(estimate(request, self.budgets.prices)))
        row = await self.budgets.database.call(
            "select reserve_money($1,$2,$3,$4,$5,$6,$7,$8,$9,$10) as well",
            *self._step(key),
            self._today(),
            self.task_id,
            amount,
            self.budgets.cap,
            HELD,
        )
        if not (row and row["well"]):
            raise OutOfMoney(sentences.out_of_money(self.budgets.cap))

    async def settle(self, key: StepKey, usage: TokenUsage) -> None:
        """Pay what it did cost, or what was set aside where the price is not known; at most once."""
        cost = None if usage.cost is None else Decimal(str(usage.cost))
        await self.budgets.database.call(
            "select settle_money($1,$2,$3,$4,$5,$6,$7,$8)", *self._step(key), self._today(), self.task_id, cost
        )

    async def release(self, key: StepKey) -> None:
        """Give back what was set aside for a call that failed."""
        await self.budgets.database.call("select release_money($1,$2,$3,$4,$5)", *self._step(key))

    def _step(self, key: StepKey) -> tuple[str, str, str, int, int]:
        return self.tenant_id, self.turn_id, key.agent_path, key.step, key.call_index

    def _today(self) -> date:
        return self.budgets.clock.now().astimezone(ZoneInfo(self.timezone)).date()
