"""Follow-ups: people are asked how something went that was ahead of them, if they say yes to a proposal."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from abilities.followups.chat_words import FOLLOWUPS
from abilities.followups.tables import TABLES
from onevalet.ability import Ability, Repeated, calls, named
from onevalet.foundations import OpeningFoundation, WorkFoundation

if TYPE_CHECKING:
    from core.turns.services import ForTurn


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.followups.followups import FollowUps
    from abilities.tasks.engine import TriggerEngine

    engine = foundation.opened.get(TriggerEngine)
    return {FollowUps: lambda tenant_id, turn_id: FollowUps(engine, tenant_id, turn_id)}


def _work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.followups.proposing import DUE, EVERY, Proposals
    from abilities.tasks.engine import TriggerEngine
    from core.tools.sharing import sharing_among

    services = foundation.orchestrator.services
    proposals = Proposals(
        foundation.opened.get(TriggerEngine),
        foundation.notifier,
        foundation.settings.tiers,
        lambda tenant_id: sharing_among(services.for_turn(tenant_id, "")),
    )
    return [Repeated("follow-ups", EVERY, proposals.propose, DUE, by_peoples_clock=True)]


ABILITY = Ability(
    name="followups",
    needs=("memory", "tasks"),
    tools=("abilities.followups.tools",),
    services=_services,
    words=(FOLLOWUPS,),
    tables=TABLES,
    pages=named("abilities.followups.pages:PAGES"),
    path=calls("abilities.followups.path:read_path"),
    work=_work,
)
