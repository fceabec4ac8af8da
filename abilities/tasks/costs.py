"""The cost of a task in a month: by its past runs, or an estimate by its schedule before it has run."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from abilities.tasks.codec import StoredTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.service import TaskService
from abilities.tasks.types import Task
from core.clock import zone_or_utc
from core.language.catalogue import gettext, ngettext

MONTH = timedelta(days=30)
_MOST = 500
"""Occurrences that are counted; a month's number follows from their distance."""
# A run's own calls, and the texts that told of it; a turn's, where there is no run yet.
_SPENT = (
    "select (select coalesce(sum(u.cost), 0) from usage_days u where u.tenant_id = $1 and u.kind = 'model'"
    "  and u.day >= $2 and ($3::text is null or u.task_id = $3)) + (select coalesce(sum(s.spent), 0) from spending s"
    "  where s.tenant_id = $1 and s.day >= $2 and s.task_id = coalesce('texts/' || $3, 'texts')) as dollars,"
    " (select coalesce(sum(u.calls), 0)::int from usage_days u where u.tenant_id = $1 and u.kind = 'turn'"
    "  and u.day >= $2 and ($3::text is null or u.task_id = $3)) as times"
)


@dataclass(frozen=True, slots=True)
class Spent:
    """The dollars of the last month, and the number of runs or turns that cost them."""

    dollars: Decimal
    times: int

    @property
    def each(self) -> Decimal:
        """Return the cost of one; zero if nothing was spent, or no price is known."""
        return self.dollars / self.times if self.times else Decimal(0)


async def cost_of_task(tasks: TaskService, task: Task) -> str:
    """Return the monthly cost of a task by its past runs, as a sentence; empty if no cost is known."""
    now = tasks.clock.now()
    spent = await _spent(tasks, task.tenant_id, now, task.id)
    if not spent.each:
        return ""
    zone = zone_or_utc((await tasks.store.person(task.tenant_id))[0])
    month = spent.dollars
    if isinstance(task.trigger, ScheduleTrigger):
        month = spent.each * await runs_a_month(tasks, task.trigger, task.trigger.zone(zone.key), now)
    return ngettext(
        "It costs about {price} a month, judging by {number} run.",
        "It costs about {price} a month, judging by {number} runs.",
        spent.times,
        price=tasks.currency.said(month),
    )


async def cost_of_plan(tasks: TaskService, tenant_id: str, trigger: StoredTrigger) -> str:
    """Return an estimate for a new task, in a few words; empty if no price is known, or it runs only once."""
    now = tasks.clock.now()
    spent = await _spent(tasks, tenant_id, now, None)
    if not spent.each:
        return ""
    if not isinstance(trigger, ScheduleTrigger):
        return gettext("an estimate: {price} for each time", price=tasks.currency.said(spent.each))
    zone = zone_or_utc((await tasks.store.person(tenant_id))[0])
    runs = await runs_a_month(tasks, trigger, trigger.zone(zone.key), now)
    if trigger.at is not None or not runs:
        return ""
    return ngettext(
        "an estimate: {price} a month, for {number} time",
        "an estimate: {price} a month, for {number} times",
        runs,
        price=tasks.currency.said(spent.each * runs),
    )


async def runs_a_month(tasks: TaskService, trigger: ScheduleTrigger, zone: ZoneInfo, now: datetime) -> int:
    """Return the number of times that a schedule comes in the next 30 days."""
    number = await tasks.in_thread(lambda: _count(trigger, zone, now))
    return number if trigger.count is None else min(number, trigger.count)


def _count(trigger: ScheduleTrigger, zone: ZoneInfo, now: datetime) -> int:
    due: datetime | None = now
    for number in range(_MOST):
        due = trigger.next_after(due, zone, now) if due else None
        if due is None or due > now + MONTH:
            return number
    return round(_MOST * (MONTH / (due - now))) if due else 0


async def _spent(tasks: TaskService, tenant_id: str, now: datetime, task_id: str | None) -> Spent:
    row = await tasks.store.database.tenant_row(tenant_id, _SPENT, (now - MONTH).date(), task_id)
    return Spent(row["dollars"], row["times"]) if row else Spent(Decimal(0), 0)
