"""Joint consent: an action that runs only if another member of the household agrees, too."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

from abilities.joint.tables import TABLES
from onevalet.ability import Ability, Repeated, calls
from onevalet.foundations import OpeningFoundation, WorkFoundation

if TYPE_CHECKING:
    from core.turns.services import ForTurn


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.joint.deciders import HouseholdDeciders
    from core.approvals.other_deciders import OtherDeciders

    database, clock, channels = foundation.database, foundation.clock, tuple(foundation.channels)
    return {OtherDeciders: lambda tenant_id, _: HouseholdDeciders(database, clock, tenant_id, channels)}


def _work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.joint.settling import DUE, Settling
    from core.approvals.store import ApprovalStore

    approvals = ApprovalStore(foundation.database, foundation.wakeups)
    settling = Settling(
        foundation.database, foundation.clock, foundation.wakeups, approvals, foundation.channels, foundation.notifier
    )
    return [Repeated("joint consents", timedelta(minutes=1), settling.once, DUE, by_peoples_clock=True, for_all=True)]


ABILITY = Ability(
    name="joint",
    needs=("household",),
    tools=("abilities.joint.tools",),
    services=_services,
    tables=TABLES,
    path=calls("abilities.joint.path:read_path"),
    work=_work,
)
