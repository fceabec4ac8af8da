"""People's tasks for the list and the calendar: those that come next first, those without a time last."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from abilities.tasks.descriptions import in_words
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from abilities.tasks.store import TaskStore
from abilities.tasks.types import Task
from core.clock import zone_or_utc
from core.tools.context import TaskState
from operations.console.access import Scope

PAGE = 50
DAYS = 14
"""Days of the calendar."""


@dataclass(frozen=True, slots=True)
class TaskCursor:
    """The place where a page of tasks begins: after this task. `at` is `infinity` for a task without a next time."""

    at: str
    id: str

    @classmethod
    def read(cls, text: str) -> "TaskCursor | None":
        """Read a cursor from an address; None for none, and for text that is no cursor."""
        at, _, task = text.partition("~")
        try:
            return cls(at if at == "infinity" else datetime.fromisoformat(at).astimezone(UTC).isoformat(), task)
        except (ValueError, OverflowError):
            return None

    def __str__(self) -> str:
        return f"{self.at}~{self.id}"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task with its person. `when` is its trigger in words; `zone` is the zone in which it counts."""

    task: Task
    person: str
    zone: ZoneInfo
    when: str

    @property
    def cursor(self) -> TaskCursor:
        return TaskCursor(self.task.next_at.isoformat() if self.task.next_at else "infinity", self.task.id)

    @property
    def standing(self) -> str:
        """Return its state in a word, and its problem if it has any."""
        if self.task.set_aside is not None:
            return "set aside"
        if self.task.held:
            return "rests: nobody can be reached"
        if self.task.make_up_at is not None:
            return "quiet"
        return self.task.state.value.lower()

    @property
    def is_wrong(self) -> bool:
        return self.task.set_aside is not None or self.task.held or self.task.state is TaskState.DISABLED


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A task on a day of the calendar: its first time there, and whether there are more."""

    row: TaskRow
    at: datetime
    more: bool


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the calendar."""

    date: date
    occurrences: tuple[Occurrence, ...]


async def list_tasks(
    scope: Scope, store: TaskStore, *, state: TaskState | None = None, after: TaskCursor | None = None
) -> list[TaskRow]:
    """Return a page of tasks: an operator's of everybody, a person's own."""
    at, last = (after.at, after.id) if after else ("", "")
    viewer = scope.viewer
    if viewer.operator:
        found = await scope.everybody().rows("select * from console_tasks($1,$2,$3,$4)", state or "", at, last, PAGE)
        wanted = [(row["tenant_id"], row["task_id"]) for row in found]
    else:
        # A person's own tasks are few enough to be sorted here.
        own = sorted(await store.tasks(viewer.tenant_id), key=_order)
        place = (_moment(at), last) if after else None
        own = [task for task in own if state in (None, task.state) and (place is None or _order(task) > place)]
        wanted = [(task.tenant_id, task.id) for task in own[:PAGE]]
    shown: dict[str, TaskRow] = {}
    for tenant_id in dict.fromkeys(tenant for tenant, _ in wanted):
        ids = {task for tenant, task in wanted if tenant == tenant_id}
        shown |= {row.task.id: row for row in await read_tasks(scope, store, tenant_id, ids)}
    return [shown[task] for _, task in wanted if task in shown]


async def read_tasks(scope: Scope, store: TaskStore, tenant_id: str, ids: Iterable[str]) -> list[TaskRow]:
    """Return some tasks of a person, deleted tasks too."""
    person = await scope.tenant_row(tenant_id, "select name, timezone from tenants where tenant_id = $1")
    zone, name = zone_or_utc(person["timezone"] if person else ""), person["name"] if person else ""
    return [
        TaskRow(task, name, zone, in_words(task.trigger, zone)) for task in await store.by_ids(tenant_id, list(ids))
    ]


def calendar(rows: Sequence[TaskRow], now: datetime, zone: tzinfo) -> list[Day]:
    """Return the next days, each with the scheduled tasks that come on it. It evaluates people's expressions."""
    today = now.astimezone(zone).date()
    begins = [datetime.combine(today + timedelta(days=number), time(), zone) for number in range(DAYS + 1)]
    by_day: dict[date, list[Occurrence]] = {moment.date(): [] for moment in begins[:-1]}
    for row in rows:
        for occurrence in _occurrences(row, now, begins, zone):
            by_day[occurrence.at.astimezone(zone).date()].append(occurrence)
    return [Day(day, tuple(sorted(found, key=lambda one: one.at))) for day, found in by_day.items()]


def _occurrences(row: TaskRow, now: datetime, begins: Sequence[datetime], zone: tzinfo) -> list[Occurrence]:
    task, trigger = row.task, row.task.trigger
    if not isinstance(trigger, ScheduleTrigger) or task.state is not TaskState.ACTIVE or task.due_at is None:
        return []
    try:
        its_zone = trigger.zone(row.zone.key)
    except TriggerError:
        return []  # the zone is known no more: the task's own page says so
    anchor = task.anchor or now
    left = None if trigger.count is None else trigger.count - task.fired
    due: datetime | None = max(task.due_at, now)
    found: list[Occurrence] = []
    while due is not None and due < begins[-1] and (left is None or len(found) < left):
        ends = next(begin for begin in begins if begin > due)
        following = trigger.next_after(due, its_zone, anchor)
        found.append(Occurrence(row, due, following is not None and following < ends))
        if following is not None and following < ends:
            following = trigger.next_after(ends.astimezone(UTC) - timedelta(microseconds=1), its_zone, anchor)
        due = following
    return found


def _order(task: Task) -> tuple[datetime, str]:
    return task.next_at or datetime.max.replace(tzinfo=UTC), task.id


def _moment(text: str) -> datetime:
    return datetime.max.replace(tzinfo=UTC) if text == "infinity" else datetime.fromisoformat(text).astimezone(UTC)
