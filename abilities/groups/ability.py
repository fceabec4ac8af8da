"""Groups: the assistant takes part in group chats, for whoever asks it there."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from abilities.groups.chat_words import GROUPS
from abilities.groups.tables import TABLES
from onevalet.ability import Ability, Repeated
from onevalet.foundations import OpeningFoundation, WorkFoundation

if TYPE_CHECKING:
    from core.db.database import Database
    from core.ids import IdMaker
    from core.messaging.channels import Received
    from core.messaging.messages import IgnoredMessage
    from core.people.access_policy import Access
    from core.queue.wakeups import Wakeups
    from core.turns.services import ForTurn
    from operations.paths.types import PathReader


async def _take(
    database: "Database", wakeups: "Wakeups", make_id: "IdMaker", access: "Access", message: "IgnoredMessage"
) -> "Received | None":
    from abilities.groups.taking import take_in_group

    return await take_in_group(database, wakeups, make_id, access, message)


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.groups.groups import Groups

    if foundation.settings.onevalet_router_url is not None:
        return {}
    return {Groups: lambda tenant_id, turn_id: Groups(foundation.database, foundation.wakeups, tenant_id, turn_id)}


def _work(_: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from abilities.groups.settling import DUE, Settling

    if foundation.settings.onevalet_router_url is not None:
        structlog.get_logger().warning("groups_off", why="members of a group can be in different partitions")
        return []
    settling = Settling(foundation.database, foundation.wakeups, foundation.channels, foundation.notifier)
    return [Repeated("groups", timedelta(minutes=5), settling.once, DUE, for_all=True)]


def _path() -> "PathReader":
    from abilities.groups.path import PATH

    return PATH


ABILITY = Ability(
    name="groups",
    needs=("moments", "tasks"),
    tools=("abilities.groups.tools", "abilities.groups.reminders"),
    services=_services,
    groups=_take,
    words=(GROUPS,),
    tables=TABLES,
    path=_path,
    work=_work,
)
