"""A person who cannot be reached anywhere: their tasks rest, without a model, and go on when they are back."""

from datetime import timedelta

from abilities.events.types import Event
from abilities.tasks.explain import explain
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.types import Task
from tests.abilities.tasks.harness import Harness
from tests.core.harness import ACCOUNT

PHONE = "+15550000001"
HOURLY = ScheduleTrigger(interval_minutes=60)
PAGE = "https://shop.example/price"


async def a_task(harness: Harness, trigger: ScheduleTrigger | EventTrigger | ConditionTrigger) -> Task:
    """Make a task that asks the model."""
    return await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=trigger, action={"instruction": "Tell me"}
    )


async def test_the_tasks_of_a_stopped_person_run_nothing_and_ask_no_model(harness: Harness) -> None:
    hourly, paid = await a_task(harness, HOURLY), await a_task(harness, EventTrigger("shop", "paid"))
    watch = await a_task(harness, ConditionTrigger("value > 1", url=PAGE, every_minutes=1))
    await harness.work()
    looks = harness.world.looks
    await harness.store.reach(PHONE, False, "stop-1")
    late = await a_task(harness, HOURLY)
    harness.clock.move(hours=3)
    for _ in range(3):
        assert await harness.work() == 0
    await harness.engine.fire_for_event(harness.tenant, Event("shop", "paid", {}, "evt_1", harness.tenant))
    await harness.work()
    assert (harness.says.requests, harness.world.looks) == ([], looks)
    assert await harness.runner._pause() > 0, "what rests is not asked for again and again"
    assert [await harness.states(task) for task in (hourly, late, watch)] == [[], [], []]
    [skipped] = await harness.runs(paid)
    assert (skipped.state, skipped.reason) == ("SKIPPED", "unreachable")
    assert "rests until you can be reached" in str((await explain(harness.engine, await harness.again(hourly)))["text"])


async def test_they_go_on_with_the_person_and_what_was_missed_follows_the_policy(harness: Harness) -> None:
    hourly, watch = await a_task(harness, HOURLY), await a_task(harness, ConditionTrigger("value > 1", url=PAGE))
    harness.world.pages[PAGE] = "5"
    await harness.store.reach(PHONE, False, "stop-1")
    harness.clock.move(hours=3, minutes=10)
    assert await harness.work() == 0
    await harness.store.reach(PHONE, True, "start-1")
    assert await harness.work() == 2
    [run] = await harness.runs(hourly)
    assert (run.due_at == hourly.anchor and run.state == "COMPLETED") or run.due_at - (hourly.anchor or run.due_at) == (
        timedelta(hours=3)
    )
    assert "missed_since" in run.cause, "once, for all that was missed"
    assert await harness.states(watch) == ["COMPLETED"]
    harness.clock.move(hours=1)
    await harness.work()
    assert await harness.states(hourly) == ["COMPLETED", "COMPLETED"]


async def test_a_run_that_had_not_begun_when_the_person_stopped_asks_no_model(harness: Harness) -> None:
    task = await a_task(harness, HOURLY)
    harness.clock.move(hours=1)
    await harness.runner.once()
    await harness.store.reach(PHONE, False, "stop-1")
    await harness.work()
    assert harness.says.requests == []
    assert await harness.states(task) == ["SKIPPED"]


async def test_a_second_place_that_can_be_reached_keeps_the_tasks_going(harness: Harness) -> None:
    task = await a_task(harness, HOURLY)
    await harness.store.admin.execute(
        "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
        " values ($1, 'idn_2', 'sms', $2, '+15550000002', 'link')",
        harness.tenant,
        ACCOUNT,
    )
    await harness.store.reach(PHONE, False, "stop-1")
    harness.clock.move(hours=1)
    assert await harness.work() == 1
    assert await harness.states(task) == ["COMPLETED"]
    await harness.store.db.identities.change({"state": "blocked"}, id="idn_2")
    harness.clock.move(hours=1)
    assert await harness.work() == 0
    await harness.store.db.identities.delete(id="idn_2")
    await harness.store.reach(PHONE, True, "start-1")
    assert await harness.work() == 1
