"""What a task costs a month: estimated on its card by its schedule, and told by its past runs afterwards."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from abilities.tasks.explain import explain
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.scheduling import ScheduleTask
from abilities.tasks.tools_api import TaskAccess
from abilities.tasks.types import Task
from core.agents.consent import agent_consent
from core.agents.standard_agent import StandardAgent
from core.agents.valet import valet_of
from core.json_types import JsonObject
from core.language.money import Currency
from onevalet.testing import make_context
from tests.abilities.tasks.harness import Harness
from tests.agents.services import no_loop

DAILY: JsonObject = {"kind": "schedule", "cron": "0 8 * * *"}
MAIL: JsonObject = {"kind": "event", "source": "mail", "type": "mail.received"}


async def spend(harness: Harness, times: int, dollars: str, task: str = "", *, days_ago: int = 1) -> None:
    """Let turns or runs have cost this together."""
    day = harness.clock.now().date()
    for kind, calls, cost in (("turn", times, "0"), ("model", 3 * times, dollars)):
        await harness.store.admin.execute(
            "insert into usage_days (tenant_id, day, task_id, kind, name, calls, cost)"
            " values ($1, $2::date - $3::int, $4, $5, 'x', $6, $7)",
            harness.tenant,
            day,
            days_ago,
            task,
            kind,
            calls,
            Decimal(cost),
        )


async def made(harness: Harness, trigger: ScheduleTrigger | EventTrigger) -> Task:
    return await harness.engine.create_task(tenant_id=harness.tenant, trigger=trigger, action={"instruction": "go"})


async def told(harness: Harness, task: Task) -> str:
    return str((await explain(harness.engine, await harness.again(task)))["text"])


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        (DAILY, "an estimate: US$1.50 a month, for 30 times"),
        ({**DAILY, "count": 2}, "an estimate: US$0.10 a month, for 2 times"),
        ({"kind": "schedule", "interval_minutes": 1}, "an estimate: US$2,160.00 a month, for 43200 times"),
        (MAIL, "an estimate: US$0.05 for each time"),
        ({"kind": "schedule", "at": "2026-11-25T08:00"}, ""),
    ],
)
async def test_a_new_task_is_estimated_by_its_schedule(harness: Harness, trigger: JsonObject, said: str) -> None:
    await spend(harness, 9, "0.5")  # and one that is there, for nothing
    await spend(harness, 10, "500", days_ago=40)
    assert await TaskAccess(harness.engine, harness.tenant).cost(trigger) == said


async def test_nothing_is_said_where_no_price_is_known(harness: Harness) -> None:
    access = TaskAccess(harness.engine, harness.tenant)
    assert await access.cost(DAILY) == ""
    await spend(harness, 10, "0")
    assert await access.cost(DAILY) == ""
    task = await made(harness, ScheduleTrigger(cron="0 8 * * *"))
    assert "a month" not in await told(harness, task)


async def test_a_task_that_has_run_costs_what_its_runs_did(harness: Harness) -> None:
    harness.engine.currency = Currency.read("EUR=0.5")
    task = await made(harness, ScheduleTrigger(cron="0 8 * * *"))
    await spend(harness, 10, "5")  # of answers
    await spend(harness, 2, "0.2", task.id)
    await harness.store.admin.execute(
        "insert into spending (tenant_id, day, task_id, spent) values ($1, $2, 'texts/' || $3, 0.04)",
        harness.tenant,
        harness.clock.now().date(),
        task.id,
    )
    assert "It costs about €1.80 a month, judging by 2 runs." in await told(harness, task)


async def test_a_task_without_a_schedule_costs_what_it_did_last_month(harness: Harness) -> None:
    task = await made(harness, EventTrigger("mail", "mail.received"))
    await spend(harness, 1, "0.25", task.id)
    assert "It costs about US$0.25 a month, judging by 1 run." in await told(harness, task)


async def test_a_card_that_is_edited_tells_the_cost_anew(harness: Harness) -> None:
    await spend(harness, 9, "0.5")  # and one that is there, for nothing
    planned = {"what": "Look", "expression": "value < 300", "url": "https://example.org/", "path": "$.price"}
    tried = ScheduleTask(context := _context(harness), no_loop, values={"what": "Look", "cron": "0 8 * * *"})
    tried.state["tried"], tried.state["seen"] = tried.trigger(), "320"
    marked = valet_of(ScheduleTask)
    assert marked is not None

    async def make(given: JsonObject) -> StandardAgent:
        agent = ScheduleTask(context, no_loop, values=given)
        agent.state = dict(tried.state)
        return agent

    async def card(fields: JsonObject) -> JsonObject:
        return dict((await agent_consent("c", marked, fields, make).describe(fields)).details)

    first = await card({"what": "Look", "cron": "0 8 * * *"})
    assert (first["cost"], first["now"]) == ("an estimate: US$1.50 a month, for 30 times", "320")
    hourly = await card({"what": "Look", "cron": "0 * * * *"})
    assert hourly["cost"] == "an estimate: US$36.00 a month, for 720 times"
    assert "now" not in hourly, "nobody has looked by the new trigger"
    watched = await card({"what": "Look", **planned, "every_minutes": 10})
    assert watched["cost"] == "an estimate: US$0.05 for each time"
    assert "cost" not in await card({"what": "Look", "cron": "0 8 * * *", "every_minutes": 10})


def _context(harness: Harness) -> Any:
    return replace(make_context(), tasks=TaskAccess(harness.engine, harness.tenant))
