"""What a task would do: its next times, its condition over what was seen, its filter over recorded events."""

from datetime import date, datetime

import pytest

from abilities.events.types import Event
from abilities.tasks.dry_run import dry_run
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from core.errors import ToolFailed
from core.json_types import JsonObject
from tests.abilities.tasks.harness import Harness

PAGE = "https://flights.example/x"


async def test_a_dry_run_lists_ten_times_in_the_tasks_zone_and_changes_nothing(harness: Harness) -> None:
    daily = ScheduleTrigger(cron="30 1 * * *", timezone="America/New_York", count=12)
    task = await harness.engine.create_task(tenant_id=harness.tenant, trigger=daily, action={"instruction": "go"})
    before = await harness.store.everything()
    lines = await dry_run(harness.engine, task)
    assert (len(lines), lines[0]) == (10, "Tue 3 Mar 2026, 01:30 (America/New_York)")
    assert lines[5:7] == ["Sun 8 Mar 2026, 01:30 (America/New_York)", "Mon 9 Mar 2026, 01:30 (America/New_York)"]
    assert await harness.store.everything() == before


async def test_a_dry_run_says_which_of_two_equal_wall_times_is_meant(harness: Harness) -> None:
    harness.clock.move(days=(date(2026, 10, 24) - harness.clock.now().date()).days)
    for cron, lines in (
        ("30 2 * * *", ["Sun 25 Oct 2026, 02:30 (first time)", "Mon 26 Oct 2026, 02:30"]),
        ("30 * * * *", ["Sun 25 Oct 2026, 02:30 (first time)", "Sun 25 Oct 2026, 02:30 (second time)"]),
    ):
        trigger = ScheduleTrigger(cron=cron, start=datetime(2026, 10, 25, 2, 30))  # noqa: DTZ001 - a wall time
        task = await harness.engine.create_task(tenant_id=harness.tenant, trigger=trigger, action={"instruction": "go"})
        assert (await dry_run(harness.engine, task))[:2] == [f"{line} (Europe/Berlin)" for line in lines]


async def test_a_condition_is_dry_run_over_past_values_with_any_expression(harness: Harness) -> None:
    watch = ConditionTrigger("value < 300", url=PAGE, every_minutes=10, reset="value > 320")
    task = await harness.engine.create_task(tenant_id=harness.tenant, trigger=watch, action={"instruction": "go"})
    for page in (310, 290, ToolFailed("The server is away."), 310, 280, 330, 290):
        harness.world.pages[PAGE] = page
        await harness.work()
        harness.clock.move(minutes=10)
    task = await harness.again(task)
    lines = [line.split("  ", 1)[1] for line in await dry_run(harness.engine, task)]
    assert lines == [
        "310  would send nothing: not true",
        "290  would tell",
        "failed: The server is away.",
        "310  would send nothing: not true",
        "280  would send nothing: told already",
        "330  would send nothing: not true",
        "290  would tell",
    ]
    assert len(await harness.runs(task)) == 2, "as it was"
    other = await dry_run(harness.engine, task, "value < 285")
    assert [line.endswith("would tell") for line in other].count(True) == 1
    with pytest.raises(TriggerError):
        await dry_run(harness.engine, task, "price < 285")
    assert len(await harness.runs(task)) == 2


async def test_a_filter_is_tried_over_the_events_that_came_of_its_person_alone(harness: Harness) -> None:
    trigger = EventTrigger("shop", "order.*", {"$.items[*].price": {"gt": 40}})
    task = await harness.engine.create_task(tenant_id=harness.tenant, trigger=trigger, action={"instruction": "go"})
    for id, type, price in (("1", "order.paid", 50), ("2", "order.paid", 5), ("3", "left", 50)):
        data: JsonObject = {"items": [{"price": 1}, {"price": price}]}
        await harness.engine.events.keep(Event("shop", type, data, id, harness.tenant))
    lines = [line.split("  ", 1)[1] for line in await dry_run(harness.engine, task)]
    assert lines == [
        "shop:order.paid  1  would run",
        "shop:order.paid  2  would not run: its $.items[*].price differs",
        "shop:left  3  would not run: its type differs",
    ]
    assert await harness.runs(task) == []
