"""The budgets, as the page shows them beside the spending."""

from dataclasses import dataclass, field
from decimal import Decimal

from core.language.money import Currency
from core.messaging.capabilities import SegmentBudget
from core.people.access_policy import PersonRole
from core.people.tiers import Tiers


@dataclass(frozen=True, slots=True)
class ShownBudgets:
    """The limits of an installation in dollars, None for no limit, and of texts by SMS; `currency`: for display."""

    day: Decimal | None = None
    task: Decimal | None = None
    tiers: Tiers | None = None
    segments: SegmentBudget = field(default_factory=SegmentBudget)
    currency: Currency = field(default_factory=Currency)

    def of(self, role: PersonRole, tier: str) -> Decimal | None:
        """Return a person's budget for a day."""
        own = self.tiers.of(role, tier or None) if self.tiers else None
        return self.day if own is None or own.dollars_a_day is None else own.dollars_a_day
