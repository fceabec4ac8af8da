"""Groups: the assistant takes part in group chats, for whoever asks it there."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

from abilities.groups.chat_words import GROUPS
from abilities.groups.tables import TABLES
from onevalet.ability import Ability, Repeated, calls
from onevalet.foundations import OpeningFoundation, WorkFoundation

if TYPE_CHECKING:
    from core.turns.services import ForTurn


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.groups.groups import Groups

    if foundation.settings.onevalet_router_url is not None:
        return {}
    return {Groups: lambda tenant_id, turn_id: Groups(foundation.database, foundation.wakeups, tenant_id, turn_id)}


def _work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.groups.settling import DUE, Settling

    if foundation.settings.onevalet_router_url is not None:
        import structlog

        structlog.get_logger().warning("groups_off", why="members of a group can be in different partitions")
        return []
    settling = Settling(foundation.database, foundation.wakeups, foundation.channels, foundation.notifier)
    return [Repeated("groups", timedelta(minutes=5), settling.once, DUE, for_all=True)]


ABILITY = Ability(
    name="groups",
    needs=("moments", "tasks"),
    tools=("abilities.groups.tools", "abilities.groups.reminders"),
    services=_services,
    groups=calls("abilities.groups.taking:take_in_group"),
    words=(GROUPS,),
    tables=TABLES,
    path=calls("abilities.groups.path:read_path"),
    work=_work,
)
