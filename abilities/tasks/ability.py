"""The assistant's own initiative: reminders, tasks that recur, wait for an event, or watch a value."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from abilities.tasks.chat_words import AWAKE, REMINDERS
from abilities.tasks.tables import TABLES
from onevalet.ability import Ability, Commands, ConsolePages, Repeated, Work
from onevalet.foundations import OpeningFoundation, ServiceFoundation, WorkFoundation

if TYPE_CHECKING:
    from typer import Typer

    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.db.database import Connection, Database
    from core.people.merge import MergeHook
    from core.turns.services import ForTurn
    from core.turns.trigger_message import TriggerMessage
    from operations.console.pages.base import Kit
    from operations.doctor.types import Probe
    from operations.paths.types import PathReader
    from operations.programs.types import ClientTool


def _commands() -> "Typer":
    from abilities.tasks.cli import tasks_app

    return tasks_app


def _path() -> "PathReader":
    from abilities.tasks.path import PATH

    return PATH


def _probes() -> "Sequence[Probe]":
    from abilities.tasks.probes import PROBES

    return PROBES


async def _trigger(connection: "Connection", tenant_id: str, turn_id: str) -> "TriggerMessage | None":
    from abilities.tasks.messages import trigger_message
    from abilities.tasks.store import run_of_turn

    run = await run_of_turn(connection, tenant_id, turn_id)
    return trigger_message(*run) if run else None


def _client_tools(database: "Database") -> "Sequence[ClientTool]":
    from abilities.tasks.for_programs import client_tools

    return client_tools(database)


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


def _opens(stack: AsyncExitStack, foundation: OpeningFoundation) -> None:
    from abilities.tasks.opening import open_engine

    open_engine(stack, foundation)


def _joins(foundation: WorkFoundation) -> None:
    from abilities.tasks.opening import join_turns

    join_turns(foundation)


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Work | Repeated]:
    from abilities.tasks.opening import open_work

    return open_work(stack, foundation)


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
    commands=(Commands("tasks", "People", _commands),),
    pages=_pages,
    probes=_probes,
    path=_path,
    opens=_opens,
    joins=_joins,
    work=_work,
    trigger=_trigger,
    client_tools=_client_tools,
)
