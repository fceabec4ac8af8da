"""The tier of a household's children, and the tiers that it may replace: none that is stricter."""

from dataclasses import dataclass, replace
from datetime import time
from decimal import Decimal
from typing import Self

from core.people.access_policy import PersonRole
from core.people.tiers import Tier, Tiers

CHILDREN = "child"
"""The tier of a household's children, if the operator's settings have one of this name."""
_MINUTES = [time(minute // 60, minute % 60) for minute in range(24 * 60)]


@dataclass(frozen=True, slots=True)
class ChildTier:
    """The tier of children. `instead_of`: the tiers, and the roles without one, that are no stricter."""

    name: str
    instead_of: tuple[str, ...] = ()

    @classmethod
    def among(cls, tiers: Tiers, daily_budget: Decimal | None) -> Self | None:
        """Return the settings' tier of children; None if they have none. `daily_budget`: of tiers without their own."""
        known = [tier for name in tiers.names if (tier := tiers.of(PersonRole.MEMBER, name))]
        paid = {tier.name: replace(tier, dollars_a_day=_dollars(tier, daily_budget)) for tier in known}
        child = paid.pop(CHILDREN, None)
        if child is None:
            return None
        return cls(CHILDREN, tuple(name for name, other in paid.items() if is_as_strict(child, other)))


def is_as_strict(tier: Tier, other: Tier) -> bool:
    """Return whether a tier allows nothing that another forbids; without dollars it may spend any sum."""
    tools = other.tools is None or (tier.tools is not None and set(tier.tools) <= set(other.tools))
    most = other.dollars_a_day
    money = most is None or (tier.dollars_a_day is not None and tier.dollars_a_day <= most)
    return tools and money and tier.messages_a_minute <= other.messages_a_minute and _closes(tier, other)


def _dollars(tier: Tier, daily_budget: Decimal | None) -> Decimal | None:
    return daily_budget if tier.dollars_a_day is None else tier.dollars_a_day


def _closes(tier: Tier, other: Tier) -> bool:
    """Return whether a tier is closed whenever another is."""
    if tier.closed is None or other.closed is None:
        return other.closed is None
    shut, theirs = tier.closed, other.closed
    return all(shut.covers(minute) for minute in _MINUTES if theirs.covers(minute))
