"""A tier's own budget for the day."""

import json
from decimal import Decimal

from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.journal.types import MemoryJournal
from core.people.tiers import read_tiers
from core.turns.types import TurnRequest, TurnTenant


async def test_a_tiers_own_budget_stands_in_the_place_of_the_usual_one() -> None:
    tiers = read_tiers(json.dumps({"guest": {"dollars_a_day": 0.5}, "family": {"dollars_a_day": 20}}), 30)
    budgets = DailyBudgets(Database("postgresql://nowhere"), Clock(), Decimal(2), (), tiers=tiers)

    def cap(role: str, tier: str = "") -> Decimal | None:
        request = TurnRequest("t", TurnTenant("tn", role=role, tier=tier), "sms", (), MemoryJournal())
        return budgets.for_turn(request).budgets.cap

    assert tiers.have_budgets
    assert [cap("guest"), cap("member"), cap("guest", "family")] == [Decimal("0.5"), Decimal(2), Decimal(20)]
