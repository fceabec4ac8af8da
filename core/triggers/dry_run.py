"""What a task would do: its next times, or its condition over what was seen, or its filter over recorded events."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from core.clock import zone_note, zone_or_utc
from core.events.types import Event
from core.json_types import Json
from core.triggers.codec import UnreadableTrigger
from core.triggers.descriptions import moment_in_words, value_in_words
from core.triggers.engine import TriggerEngine
from core.triggers.kinds.condition import ConditionTrigger, Watch, judge
from core.triggers.kinds.event import EventTrigger
from core.triggers.kinds.schedule import TriggerError
from core.triggers.types import Task

TIMES = 10
EVENTS = 50


async def dry_run(engine: TriggerEngine, task: Task, expression: str = "") -> list[str]:
    """Say line by line what would happen; nothing is changed. `expression` is tried instead of the task's own.

    Raises `TriggerError` for an expression that makes no sense, and for a schedule in a timezone that is not known.
    """
    persons = (await engine.store.person(task.tenant_id))[0]
    zone, note = zone_or_utc(persons), zone_note(persons)
    said = [note] if note else []
    match task.trigger:
        case ConditionTrigger():
            trigger = replace(task.trigger, expression=expression) if expression else task.trigger
            return said + _over_looks(trigger, task, zone)
        case EventTrigger():
            return said + await _over_events(engine, task.trigger, task, zone)
        case UnreadableTrigger():
            raise TriggerError(task.trigger.why)
    zone = task.trigger.zone(persons)
    return [f"{moment_in_words(due, zone)} ({zone.key})" for due in await engine.upcoming(task, TIMES)]


def _over_looks(trigger: ConditionTrigger, task: Task, zone: ZoneInfo) -> list[str]:
    # The recorded values are what the path had found.
    trigger = replace(trigger, path="")
    watch, lines = Watch(), []
    for look in Watch.from_json(task.watch).seen:
        at = datetime.fromisoformat(str(look["at"]))
        when = moment_in_words(at, zone)
        if "error" in look:
            lines.append(f"{when}  failed: {look['error']}")
            continue
        value: Json = look.get("value")
        judged = judge(trigger, watch, value, at)
        watch = judged.watch
        said = "would tell" if judged.fires else f"would not tell: {judged.reason}"
        lines.append(f"{when}  {value_in_words(value)}  {said}")
    return lines


async def _over_events(engine: TriggerEngine, trigger: EventTrigger, task: Task, zone: ZoneInfo) -> list[str]:
    lines: dict[str, str] = {}
    for one in reversed(await engine.events.recent(task.tenant_id, EVENTS)):
        said = _said(trigger, one.event)
        when = moment_in_words(one.received_at, zone)
        lines[one.event.key] = f"{when}  {one.event.source}:{one.event.type}  {one.event.id}  {said}"
    return list(lines.values())


def _said(trigger: EventTrigger, event: Event) -> str:
    try:
        differs = trigger.differs_in(event)
    except TriggerError as error:
        return f"would be skipped: {error}"
    return "would run" if not differs else f"would not run: its {differs} is another"
