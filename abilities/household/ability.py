"""Households: people who live together share lists, by invitation and consent."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from abilities.household.chat_words import HOUSEHOLD
from abilities.household.tables import TABLES
from onevalet.ability import Ability, Repeated
from onevalet.foundations import OpeningFoundation, WorkFoundation

if TYPE_CHECKING:
    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.people.merge import MergeHook
    from core.turns.services import ForTurn


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.household.children import ChildTier
    from abilities.household.households import Households
    from abilities.household.shared import SharedInHousehold
    from core.tools.sharing import Sharing

    tier = ChildTier.among(foundation.settings.tiers, foundation.settings.day_budget)

    def of(tenant_id: str, turn_id: str) -> Households:
        return Households(foundation.database, foundation.clock, tenant_id, turn_id, tier)

    return {Households: of, Sharing: lambda tenant_id, turn_id: SharedInHousehold(of(tenant_id, turn_id))}


def _merge_hooks(_: "Clock", __: "CredentialStore") -> "Sequence[MergeHook]":
    from abilities.household.merge import HouseholdMerge

    return [HouseholdMerge()]


def _work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.household.telling import DUE, follow_deeds

    once = partial(follow_deeds, foundation.database, foundation.notifier)
    return [Repeated("household news", timedelta(minutes=5), once, DUE)]


ABILITY = Ability(
    name="household",
    tools=("abilities.household.tools",),
    services=_services,
    words=(HOUSEHOLD,),
    tables=TABLES,
    merge_hooks=_merge_hooks,
    work=_work,
)
