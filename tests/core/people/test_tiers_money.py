"""A tier's own budget for the day."""

import json
from decimal import Decimal

from core.budgets.store import DailyBudgets
from core.budgets.types import Payer
from core.clock import Clock
from core.db.database import Database
from core.people.access_policy import PersonRole
from core.people.tiers import read_tiers


async def test_a_tiers_own_budget_stands_in_the_place_of_the_usual_one() -> None:
    tiers = read_tiers(json.dumps({"guest": {"budget_a_day": 0.5}, "family": {"budget_a_day": 20}}), 30)
    budgets = DailyBudgets(Database("postgresql://nowhere"), Clock(), Decimal(2), (), tiers=tiers)

    def cap(role: PersonRole, tier: str | None = None) -> Decimal | None:
        return budgets.of(Payer("tn", "t", role, tier)).budgets.cap

    assert tiers.have_budgets
    assert [cap(PersonRole.GUEST), cap(PersonRole.MEMBER), cap(PersonRole.GUEST, "family")] == [
        Decimal("0.5"),
        Decimal(2),
        Decimal(20),
    ]
