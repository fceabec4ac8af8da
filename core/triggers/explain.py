"""Why a task ran or did not: its last occurrences, what was seen, decided and delivered."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import cast
from zoneinfo import ZoneInfo

from core.clock import zone_note, zone_or_utc
from core.events.types import Event
from core.json_types import Json, JsonObject
from core.language.times import moment_in_words
from core.triggers.codec import Kind
from core.triggers.descriptions import in_words, value_in_words
from core.triggers.kinds.condition import ConditionTrigger, Watch
from core.triggers.kinds.event import EventTrigger
from core.triggers.kinds.schedule import TriggerError
from core.triggers.tasks import TaskService
from core.triggers.types import Task, TaskRun, TaskState
from core.turns.runs import RunState

LAST_RUNS = 10
LAST_LOOKS = 5
LAST_EVENTS = 50
_STATES = {
    RunState.QUEUED: "waits for a worker",
    RunState.RUNNING: "is running",
    RunState.PENDING_APPROVAL: "waits for you",
    RunState.COMPLETED: "ran",
    RunState.FAILED: "failed",
    RunState.EXPIRED: "ended, because no decision came in time",
    RunState.SKIPPED: "was skipped",
    RunState.CANCELLED: "was stopped",
}
_FATES = {
    "queued": "sent",
    "held": "held for the next digest",
    "muted": "not sent: muted",
    "duplicate": "not sent again: the same news",
    "nowhere": "not sent: there was no place to reach you",
}


async def explain(tasks: TaskService, task: Task) -> JsonObject:
    """Return everything known of a task as JSON; `text` has it in words."""
    persons_zone = (await tasks.store.person(task.tenant_id))[0]
    zone = zone_or_utc(persons_zone)
    runs = await tasks.runs(task.tenant_id, task.id, LAST_RUNS)
    lines = [f"Task {task.number}, “{task.title}”: {in_words(task.trigger, zone)}.", _standing(task, zone)]
    lines += [_run_line(run, zone) for run in runs] or [_no_runs(task)]
    looks = _looks(task, zone)
    events = await _unmatched(tasks, task)
    lines += [*looks, *events, zone_note(persons_zone)]
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
        return "It was stopped, so it does not run any more."
    match task.state:
        case TaskState.ACTIVE if task.held:
            return "It rests until you can be reached again."
        case TaskState.PAUSED:
            return "It is paused: nothing runs until it is resumed."
        case TaskState.DISABLED if task.set_aside:
            return f"It is set aside, because {task.reason}; resume it, or plan it again."
        case TaskState.DISABLED:
            return f"It is disabled, because it {task.reason}."
        case TaskState.COMPLETED:
            return "Nothing more is to come of it."
    if task.next_at is None:
        return "It waits for the next event."
    word = "It looks again" if task.kind is Kind.CONDITION else "It comes next"
    return f"{word} on {moment_in_words(task.next_at, zone)}."


def _no_runs(task: Task) -> str:
    return "It has not run lately: what was before is not kept any more." if task.fired else "It has not run yet."


def _run_line(run: TaskRun, zone: ZoneInfo) -> str:
    parts = [f"- {moment_in_words(run.due_at, zone)}: {_STATES[run.state]}"]
    if run.reason:
        parts.append(f"({run.reason})")
    if "by_hand" in run.cause:
        parts.append("by hand")
    if "type" in run.cause:
        parts.append(f"on {run.cause['type']} {run.cause.get('id')} from {run.cause.get('source')}")
    if "new" in run.cause:
        before, now = value_in_words(run.cause.get("old")), value_in_words(run.cause.get("new"))
        parts.append(f"before {before}, now {now}")
    if since := run.cause.get("missed_since"):
        parts.append(f"in place of what was missed since {moment_in_words(_moment(since), zone)}")
    notices = [_told(notice) for notice in run.notices]
    if run.state in (RunState.COMPLETED, RunState.EXPIRED) and not notices:
        notices = ["there was nothing to tell"]
    return "; ".join([" ".join(parts), *notices])


def _told(notice: JsonObject) -> str:
    fate = str(notice.get("fate") or "")
    place = f" by {notice['place']}" if notice.get("place") else ""
    return f"{_FATES.get(fate, 'about to be told')}{place}"


def _looks(task: Task, zone: ZoneInfo) -> list[str]:
    if not isinstance(task.trigger, ConditionTrigger):
        return []
    lines: list[str] = []
    for look in Watch.from_json(task.watch).seen[-LAST_LOOKS:]:
        when = moment_in_words(_moment(look["at"]), zone)
        if "error" in look:
            lines.append(f"- looked {when}: {look['error']}")
        else:
            notified = "told you" if look.get("told") else "did not tell you"
            value = value_in_words(look.get("value"))
            lines.append(f"- looked {when}: {value}, {'true' if look.get('true') else 'not true'}; {notified}")
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
            near.append(f"- {event.type} {event.id} from {event.source} came, but its {field} is another")
    return near


def _run_json(run: TaskRun) -> JsonObject:
    notices: list[Json] = [
        {name: notice.get(name) for name in ("key", "state", "fate", "place")} for notice in run.notices
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
