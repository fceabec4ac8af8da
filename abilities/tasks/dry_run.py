"""Dry runs: a task's next times, its condition over recorded values, or its filter over recorded events."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from abilities.events.types import Event
from abilities.tasks.codec import UnreadableTrigger
from abilities.tasks.descriptions import value_in_words
from abilities.tasks.kinds.condition import ConditionTrigger, Watch, judge
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.service import TaskService
from abilities.tasks.types import Task
from core.clock import zone_note, zone_or_utc
from core.json_types import Json
from core.language.catalogue import gettext
from core.language.times import moment_in_words

TIMES = 10
EVENTS = 50


async def dry_run(tasks: TaskService, task: Task, expression: str = "") -> list[str]:
    """Return line by line the effects of a task, changing nothing. `expression` replaces the task's own.

    Raises `TriggerError` for an expression that makes no sense, and for a schedule in an unknown timezone.
    """
    persons_zone = (await tasks.store.person(task.tenant_id))[0]
    zone, note = zone_or_utc(persons_zone), zone_note(persons_zone)
    lines = [note] if note else []
    match task.trigger:
        case ConditionTrigger():
            trigger = replace(task.trigger, expression=expression) if expression else task.trigger
            return lines + _over_looks(trigger, task, zone)
        case EventTrigger():
            return lines + await _over_events(tasks, task.trigger, task, zone)
        case UnreadableTrigger():
            raise TriggerError(task.trigger.why)
    zone = task.trigger.zone(persons_zone)
    return [f"{moment_in_words(due, zone)} ({zone.key})" for due in await tasks.upcoming(task, TIMES)]


def _over_looks(trigger: ConditionTrigger, task: Task, zone: ZoneInfo) -> list[str]:
    # The recorded values are already the results of the path.
    trigger = replace(trigger, path=None)
    watch, lines = Watch(), []
    for look in Watch.from_json(task.watch).seen:
        at = datetime.fromisoformat(str(look["at"]))
        when = moment_in_words(at, zone)
        if "error" in look:
            lines.append(f"{when}  {gettext('failed: {error}', error=look['error'])}")
            continue
        value: Json = look.get("value")
        judged = judge(trigger, watch, value, at)
        watch = judged.watch
        outcome = (
            gettext("would tell") if judged.fires else gettext("would send nothing: {reason}", reason=judged.reason)
        )
        lines.append(f"{when}  {value_in_words(value)}  {outcome}")
    return lines


async def _over_events(tasks: TaskService, trigger: EventTrigger, task: Task, zone: ZoneInfo) -> list[str]:
    lines: dict[str, str] = {}
    for record in reversed(await tasks.events.recent(task.tenant_id, EVENTS)):
        event, when = record.event, moment_in_words(record.received_at, zone)
        lines[event.key] = f"{when}  {event.source}:{event.type}  {event.id}  {_outcome(trigger, event)}"
    return list(lines.values())


def _outcome(trigger: EventTrigger, event: Event) -> str:
    try:
        differs = trigger.differs_in(event)
    except TriggerError as error:
        return gettext("would be skipped: {error}", error=error)
    return gettext("would not run: its {field} differs", field=differs) if differs else gettext("would run")
