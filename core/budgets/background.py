"""Calls of models for a person besides answering: paid, and counted for the console whether or not a budget is set.

Every such call is made here, so that quiet hours stop all calls for which nobody waits.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.budgets.self_started import check_self_started
from core.budgets.store import DailyBudgets, PostgresBudget
from core.budgets.types import Payer
from core.db.database import Database
from core.journal.types import StepKey
from core.llm.types import TokenUsage
from core.people.access_policy import PersonRole


@dataclass(frozen=True, slots=True)
class BackgroundCall[Answer]:
    """A call outside the steps of turns. `work`: its purpose in a word, as the console shows it.

    `reserve` reserves its possible cost under `key`, `ask` makes it, and `usage` returns its usage. `billed`: the
    provider bills a call that is cut off.
    """

    tenant_id: str
    turn_id: str
    key: StepKey
    work: str
    reserve: Callable[[PostgresBudget], Awaitable[None]]
    ask: Callable[[], Awaitable[Answer]]
    usage: Callable[[Answer], TokenUsage]
    billed: bool = False

    async def make(self, database: Database, budgets: DailyBudgets | None) -> Answer:
        """Make it at this person's cost, and count it; a call that failed costs nothing.

        Raises `OutOfMoney`, or `NotNow` if self-started work may ask no model now.
        """
        await check_self_started(self.tenant_id, self.work)
        began = time.monotonic()
        answer = await self._paid(database, budgets)
        took_ms = int((time.monotonic() - began) * 1000)
        statement = "select add_background_usage($1,$2,$3,$4)"
        await database.call(statement, self.tenant_id, self.work, self.usage(answer).to_json(), took_ms)
        return answer

    async def _paid(self, database: Database, budgets: DailyBudgets | None) -> Answer:
        if budgets is None:
            return await self.ask()
        budget = budgets.of(await payer_of(database, self.tenant_id, self.turn_id))
        await self.reserve(budget)
        try:
            answer = await self.ask()
        except BaseException as error:
            if self.billed and isinstance(error, asyncio.CancelledError):
                await budget.settle(self.key, TokenUsage())
            else:
                await budget.release(self.key)
            raise
        await budget.settle(self.key, self.usage(answer))
        return answer


async def payer_of(database: Database, tenant_id: str, turn_id: str) -> Payer:
    """Return the payer of a call that is made for a person outside any turn."""
    statement = "select role, tier, timezone from tenants where tenant_id = $1"
    row = await database.tenant_row(tenant_id, statement)
    if row is None:
        return Payer(tenant_id, turn_id)
    return Payer(tenant_id, turn_id, PersonRole(row["role"]), row["tier"] or None, row["timezone"] or "UTC")
