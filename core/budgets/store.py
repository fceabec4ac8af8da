"""Budgets in Postgres: dollars per person and day, over all of the person's simultaneous turns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import ROUND_UP, Decimal
from enum import StrEnum

from core import replies
from core.budgets.types import OutOfMoney, Payer
from core.clock import Clock, zone_or_utc
from core.db.database import Database
from core.journal.types import StepKey
from core.json_types import JsonObject
from core.llm.prices import ModelPrice, estimate, estimate_embedding
from core.llm.types import ModelRequest, TokenUsage
from core.people.tiers import Tiers

HELD = timedelta(minutes=10)
"""The time for which a dead worker's reservation counts; far longer than a model call may take."""

MORE_SHARE = 5
MORE_CALLS = 4
"""At the cap the person is asked for the larger of a fifth of it and the cost of this number of calls."""


class Cap(StrEnum):
    """A cap that a call would exceed."""

    DAY = "day"
    TASK = "task"


@dataclass(frozen=True, slots=True)
class DailyBudgets:
    """The same budget for every person and day, and within it a budget for each of their tasks.

    `cap` and `task_cap` in dollars, None for no limit; `prices` of all models in use.
    """

    database: Database
    clock: Clock
    cap: Decimal | None
    prices: Sequence[ModelPrice]
    task_cap: Decimal | None = None
    tiers: Tiers | None = None
    """A person's tier may set another cap for the day."""
    embedding_price: ModelPrice | None = None
    """The price of the embedding model; None if no provider embeds."""

    def of(self, payer: Payer) -> "PostgresBudget":
        """Return the budget of a turn; each call counts for the day on which it is made."""
        tier = self.tiers.of(payer.role, payer.tier) if self.tiers else None
        cap = self.cap if tier is None or tier.dollars_a_day is None else tier.dollars_a_day
        mine = replace(self, cap=cap)
        return PostgresBudget(mine, payer)


@dataclass(frozen=True, slots=True)
class PostgresBudget:
    """The budget of a turn. Implements `core.budgets.types.TurnBudget`."""

    budgets: DailyBudgets
    payer: Payer

    async def reserve(self, key: StepKey, request: ModelRequest) -> None:
        await self._reserve(key, estimate(request, self.budgets.prices))

    async def reserve_embedding(self, key: StepKey, texts: Sequence[str]) -> None:
        """Reserve the possible cost of embedding texts. Raises `OutOfMoney`. Idempotent."""
        price = self.budgets.embedding_price
        await self._reserve(key, estimate_embedding(texts, price) if price else 0.0)

    async def reserve_amount(self, key: StepKey, dollars: float) -> None:
        """Reserve dollars for a call that is priced by its length. Raises `OutOfMoney`. Idempotent."""
        await self._reserve(key, dollars)

    async def allow(self, key: StepKey, more: Decimal) -> None:
        await self.budgets.database.call("select allow_money($1,$2,$3)", *self._call(key), more)

    async def settle(self, key: StepKey, usage: TokenUsage) -> None:
        cost = None if usage.cost is None else Decimal(str(usage.cost))
        await self.budgets.database.call("select settle_money($1,$2,$3)", *self._call(key), cost)

    async def release(self, key: StepKey) -> None:
        await self.budgets.database.call("select release_money($1,$2)", *self._call(key))

    async def _reserve(self, key: StepKey, dollars: float) -> None:
        amount = Decimal(str(dollars))
        row = await self.budgets.database.call(
            "select reserve_money($1,$2,$3,$4,$5,$6) as passed",
            *self._call(key),
            amount,
            self.budgets.cap,
            self.budgets.task_cap,
            HELD,
        )
        passed = Cap(row["passed"]) if row and row["passed"] else None
        if passed is Cap.TASK and self.budgets.task_cap is not None:
            raise OutOfMoney(replies.out_of_task_money(self.budgets.task_cap), _more(self.budgets.task_cap, amount))
        if passed and self.budgets.cap is not None:
            raise OutOfMoney(replies.out_of_money(self.budgets.cap), _more(self.budgets.cap, amount))

    def _call(self, key: StepKey) -> tuple[str, JsonObject]:
        """Return the tenant, and the paid call as a row of `reservations` names it."""
        day = self.budgets.clock.now().astimezone(zone_or_utc(self.payer.timezone)).date()
        return self.payer.tenant_id, {
            "turn_id": self.payer.turn_id,
            "agent_path": key.agent_path,
            "step": key.step,
            "call_index": key.call_index,
            "day": day.isoformat(),
            "task_id": self.payer.task_id or "",
        }


def _more(cap: Decimal, amount: Decimal) -> Decimal:
    """Propose the amount to go on with: a fifth of the cap, or the cost of a few such calls, in whole cents."""
    return max(cap / MORE_SHARE, amount * MORE_CALLS).quantize(Decimal("0.01"), ROUND_UP)
