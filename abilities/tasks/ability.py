"""The assistant's own initiative: reminders, tasks that recur, wait for an event, or watch a value."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from abilities.tasks.chat_words import AWAKE, REMINDERS
from abilities.tasks.tables import TABLES
from onevalet.ability import Ability, Commands, ConsolePages, calls, named
from onevalet.foundations import OpeningFoundation, ServiceFoundation

if TYPE_CHECKING:
    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.db.database import Connection
    from core.people.merge import MergeHook
    from core.turns.services import ForTurn
    from core.turns.trigger_message import TriggerMessage
    from operations.console.pages.base import Kit


async def _trigger(connection: "Connection", tenant_id: str, turn_id: str) -> "TriggerMessage | None":
    from abilities.tasks.messages import trigger_message
    from abilities.tasks.store import run_of_turn

    run = await run_of_turn(connection, tenant_id, turn_id)
    return trigger_message(*run) if run else None


def _pages(foundation: ServiceFoundation) -> ConsolePages:
    from abilities.tasks.console.list_page import TaskListPages
    from abilities.tasks.console.task_page import TaskPages
    from abilities.tasks.service import TaskService

    def tasks(kit: "Kit") -> TaskService:
        return TaskService(foundation.database, kit.actions.make_id, foundation.clock, kit.wakeups)

    makes = [lambda kit: TaskListPages(kit, tasks(kit)), lambda kit: TaskPages(kit, tasks(kit))]
    return ConsolePages(makes, front=[("tasks", "Tasks")])


def _services(_: AsyncExitStack, foundation: OpeningFoundation) -> "Mapping[type, ForTurn]":
    from abilities.tasks.at_night import NightTasks
    from abilities.tasks.engine import TriggerEngine
    from abilities.tasks.for_others import RemindersForOthers

    engine = foundation.opened.get(TriggerEngine)
    return {
        RemindersForOthers: lambda tenant_id, turn_id: RemindersForOthers(engine, tenant_id),
        NightTasks: lambda tenant_id, turn_id: NightTasks(engine, tenant_id),
    }


def _merge_hooks(_: "Clock", __: "CredentialStore") -> "Sequence[MergeHook]":
    from abilities.tasks.merge import WishMerge

    return [WishMerge()]


ABILITY = Ability(
    name="tasks",
    needs=("events", "moments"),
    tables=TABLES,
    merge_hooks=_merge_hooks,
    tools=("abilities.tasks.tools",),
    services=_services,
    words=(REMINDERS, AWAKE),
    commands=(Commands("tasks", "People", named("abilities.tasks.cli:tasks_app")),),
    pages=_pages,
    probes=named("abilities.tasks.probes:PROBES"),
    path=calls("abilities.tasks.path:read_path"),
    opens=calls("abilities.tasks.opening:open_engine"),
    joins=calls("abilities.tasks.opening:join_turns"),
    work=calls("abilities.tasks.opening:open_work"),
    trigger=_trigger,
    client_tools=calls("abilities.tasks.for_programs:client_tools"),
)
