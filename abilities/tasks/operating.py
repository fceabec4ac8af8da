"""The commands of tasks: list and change them, and say why they ran or did not."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from abilities.tasks.codec import trigger_to_json
from abilities.tasks.descriptions import in_words
from abilities.tasks.dry_run import dry_run
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.explain import explain, find_tasks
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.runs.notice_store import NoticeStore
from abilities.tasks.types import Task
from core.clock import Clock, zone_or_utc
from core.db.database import Database
from core.errors import ConfigError
from core.ids import make_id
from core.json_types import JsonObject
from core.language.times import moment_in_words
from core.queue.wakeups import NoWakeups
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import known_tenant, one_tenant, open_database
from onevalet.settings import Settings


@dataclass(frozen=True, slots=True)
class _Opened:
    engine: TriggerEngine
    tenant: str

    async def meant(self, which: str) -> Task:
        """Return the only task that `which` names; raise `ConfigError` if it names none or several."""
        tasks = find_tasks(await self.engine.store.tasks(self.tenant, deleted=True), which)
        tasks = [task for task in tasks if not task.deleted] or tasks
        if len(tasks) != 1:
            many = "; ".join(f"{task.number}. {task.title}" for task in tasks[:10])
            raise ConfigError(f"Several are meant: {many}." if tasks else f"{self.tenant} has no task {which}.")
        return tasks[0]


async def print_tasks(settings: Settings, tenant: str, *, stopped: bool, as_json: bool) -> None:
    """List a person's tasks; listing changes nothing."""
    async with _opened(settings, tenant) as opened:
        tasks = await opened.engine.store.tasks(opened.tenant, deleted=stopped)
        zone = zone_or_utc((await opened.engine.store.person(opened.tenant))[0])
    if as_json:
        say_json([_as_json(task) for task in tasks])
        return
    for task in tasks:
        coming = f"  next {moment_in_words(task.next_at, zone)}" if task.next_at else ""
        coming = f"  quiet until {moment_in_words(task.make_up_at, zone)}" if task.make_up_at else coming
        coming = "  rests: its person can be reached nowhere" if task.held else coming
        coming = f"  set aside ({task.set_aside})" if task.set_aside is not None else coming
        when = in_words(task.trigger, zone)
        say(f"{task.number:>4}  {task.state.value:<9}  {task.title}: {when}{coming}  {task.id}")
    if not tasks:
        say(f"{opened.tenant} has no tasks.")


async def change_task(settings: Settings, tenant: str, which: str, change: Literal["pause", "resume"]) -> None:
    """Pause or resume a task; raise `ConfigError` if its state does not allow that."""
    async with _opened(settings, tenant) as opened:
        task = await opened.meant(which)
        changes = {"pause": opened.engine.pause_task, "resume": opened.engine.resume_task}
        if not await changes[change](opened.tenant, task.id):
            raise ConfigError(f"Task {task.number} is {task.state.value}: it cannot be {change}d.")
    say(f"{change.capitalize()}d: {task.number}. {task.title}.")


async def retry_tasks(settings: Settings, tenant: str, which: str) -> None:
    """Retry tasks that an unforeseen error set aside: the named task, all of a person, or everybody's.

    Raise `ConfigError` if the named task was not set aside.
    """
    if which:
        async with _opened(settings, tenant) as opened:
            named = await opened.meant(which)
            if not await opened.engine.retry(opened.tenant, named.id):
                raise ConfigError(f"Task {named.number} was not set aside.")
        say(f"Tried again: {named.number}. {named.title}.")
        return
    again = 0
    async with open_database(settings, "tasks") as database:
        tenant = await known_tenant(database, tenant) if tenant else ""
        engine = _engine(settings, database)
        for task in await engine.store.find_set_aside():
            if tenant in ("", task.tenant_id) and await engine.retry(task.tenant_id, task.task_id):
                say(f"Tried again: task {task.number} of {task.tenant_id}, set aside after {task.cause}.")
                again += 1
        notices = NoticeStore(database)
        for whose, _ in await notices.failed():
            if tenant in ("", whose) and (count := await notices.retry(whose)):
                say(f"Told again: {count} of what the tasks of {whose} had to say.")
                again += count
    if not again:
        say("Nothing was set aside.")


async def run_task(settings: Settings, tenant: str, which: str) -> None:
    """Run a task once, outside its schedule."""
    async with _opened(settings, tenant) as opened:
        task = await opened.meant(which)
        run = await opened.engine.run_now(opened.tenant, task.id)
    say(f"Started: {run}, of {task.number}. {task.title}. A worker takes it within seconds.")


async def print_why(settings: Settings, tenant: str, which: str, *, as_json: bool) -> None:
    """Print why a task ran or did not: its last times, with observations, decisions and deliveries."""
    async with _opened(settings, tenant) as opened:
        known = await explain(opened.engine, await opened.meant(which))
    say(json.dumps(known, indent=2) if as_json else str(known["text"]))


async def print_dry_run(settings: Settings, tenant: str, which: str, expression: str, *, as_json: bool) -> None:
    """Print the next ten times of a task, or the results of its condition or filter over recorded data."""
    async with _opened(settings, tenant) as opened:
        task = await opened.meant(which)
        lines = await dry_run(opened.engine, task, expression)
    if as_json:
        say_json(lines)
    else:
        say("\n".join(lines) or "Nothing is to come, and nothing was recorded.")


@asynccontextmanager
async def _opened(settings: Settings, tenant: str) -> AsyncIterator[_Opened]:
    async with open_database(settings, "tasks", refusals=(TriggerError,)) as database:
        yield _Opened(_engine(settings, database), await one_tenant(database, tenant))


def _engine(settings: Settings, database: Database) -> TriggerEngine:
    return TriggerEngine(database, make_id, Clock(settings.onevalet_clock), NoWakeups())


def _as_json(task: Task) -> JsonObject:
    return {
        "id": task.id,
        "number": task.number,
        "title": task.title,
        "state": task.state.value,
        "reason": task.reason,
        "set_aside": task.set_aside,
        "held": task.held,
        "kind": task.kind.value,
        "trigger": trigger_to_json(task.trigger),
        "executor": task.executor,
        "next_at": task.next_at.isoformat() if task.next_at else None,
        "fired": task.fired,
    }
