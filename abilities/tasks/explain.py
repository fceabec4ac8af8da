"""Why a task ran or did not: its last occurrences, with observations, decisions and deliveries."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import cast
from zoneinfo import ZoneInfo

from abilities.events.types import Event
from abilities.tasks.codec import Kind
from abilities.tasks.costs import cost_of_task
from abilities.tasks.descriptions import in_words, value_in_words
from abilities.tasks.kinds.condition import ConditionTrigger, Watch
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.presence_words import presence_seen
from abilities.tasks.reasons import reason_in_words
from abilities.tasks.service import TaskService
from abilities.tasks.types import RunNotice, Task, TaskRun
from core.clock import zone_note, zone_or_utc
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, gettext_noop, ngettext
from core.language.times import moment_in_words
from core.notifications.types import NotificationStatus
from core.notifications.ways import way_in_words
from core.tools.context import TaskState
from core.turns.runs import RunState

LAST_RUNS = 10
LAST_LOOKS = 5
LAST_EVENTS = 50
_STATES = {
    RunState.QUEUED: gettext_noop("waits for a worker"),
    RunState.RUNNING: gettext_noop("is running"),
    RunState.PENDING_APPROVAL: gettext_noop("waits for you"),
    RunState.COMPLETED: gettext_noop("ran"),
    RunState.FAILED: gettext_noop("failed"),
    RunState.EXPIRED: gettext_noop("ended, because no decision came in time"),
    RunState.SKIPPED: gettext_noop("was skipped"),
    RunState.CANCELLED: gettext_noop("was stopped"),
}
_FATES = {
    NotificationStatus.QUEUED: gettext_noop("sent"),
    NotificationStatus.HELD: gettext_noop("held for the next digest"),
    NotificationStatus.MUTED: gettext_noop("not sent: muted"),
    NotificationStatus.DUPLICATE: gettext_noop("not sent again: the same news"),
    NotificationStatus.NOWHERE: gettext_noop("not sent: there was no place to reach you"),
}


async def explain(tasks: TaskService, task: Task) -> JsonObject:
    """Return everything known of a task as JSON; `text` has it in words."""
    persons_zone = (await tasks.store.person(task.tenant_id))[0]
    zone = zone_or_utc(persons_zone)
    runs = await tasks.runs(task.tenant_id, task.id, LAST_RUNS)
    when = in_words(task.trigger, zone)
    about = gettext("Task {number}, “{title}”: {when}.", number=task.number, title=task.title, when=when)
    lines = [about, _standing(task, zone)]
    lines += [_run_line(task, run, zone) for run in runs] or [_no_runs(task)]
    looks = _looks(task, zone)
    events = await _unmatched(tasks, task)
    lines += [*looks, *events, await cost_of_task(tasks, task), zone_note(persons_zone)]
    return {
        "task": task.id,
        "number": task.number,
        "title": task.title,
        "state": task.state.value,
        "next_at": task.next_at.isoformat() if task.next_at else None,
        "runs": [_run_json(run) for run in runs],
        "seen": [*looks, *events],
        "text": "\n".join(line for line in lines if line),
    }


def _standing(task: Task, zone: ZoneInfo) -> str:
    if task.deleted:
        return gettext("It was stopped, so it no longer runs.")
    match task.state:
        case TaskState.ACTIVE if task.held:
            return gettext("It rests until you can be reached again.")
        case TaskState.PAUSED:
            return gettext("It is paused: nothing runs until it is resumed.")
        case TaskState.DISABLED if task.set_aside is not None:
            why = reason_in_words(task.reason)
            return gettext("It is set aside, because {reason}; resume it, or plan it again.", reason=why)
        case TaskState.DISABLED:
            return ngettext(
                "It is disabled, because it failed {number} time in a row.",
                "It is disabled, because it failed {number} times in a row.",
                task.failures,
            )
        case TaskState.COMPLETED:
            return gettext("It will not run again.")
    if task.make_up_at is not None:
        moment = moment_in_words(task.make_up_at, zone)
        return gettext("It waits for the end of your quiet hours, on {moment}.", moment=moment)
    if task.next_at is None:
        return gettext("It waits for the next event.")
    moment = moment_in_words(task.next_at, zone)
    if task.kind is Kind.CONDITION:
        return gettext("It looks again on {moment}.", moment=moment)
    return gettext("It comes next on {moment}.", moment=moment)


def _no_runs(task: Task) -> str:
    if task.fired:
        return gettext("It has not run lately, and earlier runs are no longer kept.")
    return gettext("It has not run yet.")


def _run_line(task: Task, run: TaskRun, zone: ZoneInfo) -> str:
    parts = [f"- {moment_in_words(run.due_at, zone)}: {gettext(_STATES[run.state])}"]
    if reason := reason_in_words(run.reason):
        parts.append(f"({reason})")
    if "by_hand" in run.cause:
        parts.append(gettext("by hand"))
    if "type" in run.cause:
        event = {name: run.cause.get(name) for name in ("type", "id", "source")}
        parts.append(gettext("on {type} {id} from {source}", **event))
    if "new" in run.cause:
        before, now = _seen(task, run.cause.get("old")), _seen(task, run.cause.get("new"))
        parts.append(gettext("before {before}, now {now}", before=before, now=now))
    if since := run.cause.get("missed_since"):
        missed_since = moment_in_words(_moment(since), zone)
        parts.append(gettext("in place of the runs missed since {moment}", moment=missed_since))
    notices = [_told(notice) for notice in run.notices]
    if run.state in (RunState.COMPLETED, RunState.EXPIRED) and not notices:
        notices = [gettext("there was nothing to tell")]
    return "; ".join([" ".join(parts), *notices])


def _seen(task: Task, value: Json) -> str:
    presence = presence_seen(task.trigger, value) if isinstance(task.trigger, ConditionTrigger) else ""
    return presence or value_in_words(value)


def _told(notice: RunNotice) -> str:
    if notice.fate not in _FATES:
        return gettext("about to be sent")
    if notice.place is not None:
        return gettext("sent {way}", way=way_in_words(notice.place))
    return gettext(_FATES[notice.fate])


def _looks(task: Task, zone: ZoneInfo) -> list[str]:
    if not isinstance(task.trigger, ConditionTrigger):
        return []
    lines: list[str] = []
    for look in Watch.from_json(task.watch).seen[-LAST_LOOKS:]:
        when = moment_in_words(_moment(look["at"]), zone)
        if "error" in look:
            seen = str(look["error"])
        else:
            told = gettext("told you") if look.get("told") else gettext("did not tell you")
            judged = gettext("true") if look.get("true") else gettext("not true")
            presence = presence_seen(task.trigger, look.get("value"))
            seen = f"{presence or f'{value_in_words(look.get("value"))}, {judged}'}; {told}"
        lines.append(gettext("- looked {moment}: {seen}", moment=when, seen=seen))
    return lines


async def _unmatched(tasks: TaskService, task: Task) -> list[str]:
    """Return the newest events that nearly matched: the same source and type, but another value."""
    if not isinstance(task.trigger, EventTrigger):
        return []
    newest = await tasks.events.recent(task.tenant_id, LAST_EVENTS)
    seen: dict[str, Event] = {record.event.key: record.event for record in newest}
    return (await tasks.in_thread(partial(_near, task.trigger, seen.values())))[:LAST_LOOKS]


def _near(trigger: EventTrigger, events: Iterable[Event]) -> list[str]:
    near: list[str] = []
    for event in events:
        try:
            field = trigger.differs_in(event)
        except TriggerError:
            continue  # the reason is in its run
        if field and field not in ("source", "type"):
            came = {"type": event.type, "id": event.id, "source": event.source, "field": field}
            near.append(gettext("- {type} {id} from {source} came, but its {field} differs", **came))
    return near


def _run_json(run: TaskRun) -> JsonObject:
    notices: list[Json] = [
        {"key": notice.key, "state": notice.state, "fate": notice.fate, "place": notice.place} for notice in run.notices
    ]
    return {
        "run": run.id,
        "occurrence": run.occurrence,
        "due_at": run.due_at.isoformat(),
        "state": run.state.value,
        "reason": run.reason,
        "turn": run.turn_id,
        "told": notices,
    }


def _moment(text: Json) -> datetime:
    return datetime.fromisoformat(str(text))


def find_tasks(tasks: Sequence[Task], words: str) -> list[Task]:
    """Return the tasks that words mean: by id or number, else those with the words in title or instruction."""
    wanted_text = words.strip().casefold().removeprefix("task ").lstrip("#")
    exact = [task for task in tasks if task.id == words.strip() or str(task.number) == wanted_text]
    if exact or not wanted_text:
        return exact
    wanted = [word for word in wanted_text.split() if word not in ("the", "my", "a", "one", "task", "reminder")]
    return [task for task in tasks if all(word in _text(task) for word in wanted)]


def _text(task: Task) -> str:
    return f"{task.title} {task.instruction} {cast(str, task.action.get('text') or '')} {task.kind}".casefold()
