"""A person who cannot be reached anywhere: their tasks rest, without a model, and go on when they are back."""

from datetime import timedelta

from core.events.types import Event
from core.triggers.explain import explain
from core.triggers.kinds.condition import ConditionTrigger
from core.triggers.kinds.event import EventTrigger
from core.triggers.kinds.schedule import ScheduleTrigger
from core.triggers.types import Task
from tests.core.harness import ACCOUNT
from tests.core.triggers.harness import House

PHONE = "+15550000001"
HOURLY = ScheduleTrigger(interval_minutes=60)
PAGE = "https://shop.example/price"


async def a_task(house: House, trigger: ScheduleTrigger | EventTrigger | ConditionTrigger) -> Task:
    """Make a task that asks the model."""
    return await house.engine.create_task(tenant_id=house.tenant, trigger=trigger, action={"instruction": "Tell me"})


async def test_the_tasks_of_a_stopped_person_run_nothing_and_ask_no_model(house: House) -> None:
    hourly, paid = await a_task(house, HOURLY), await a_task(house, EventTrigger("shop", "paid"))
    watch = await a_task(house, ConditionTrigger("value > 1", url=PAGE, every_minutes=1))
    await house.work()
    looks = house.world.looks
    await house.store.reach(PHONE, False, "stop-1")
    late = await a_task(house, HOURLY)
    house.clock.pass_by(hours=3)
    for _ in range(3):
        assert await house.work() == 0
    await house.engine.fire_for_event(house.tenant, Event("shop", "paid", {}, "evt_1", house.tenant))
    await house.work()
    assert (house.says.requests, house.world.looks) == ([], looks)
    assert await house.runner._pause() > 0, "what rests is not asked for again and again"
    assert [await house.states(one) for one in (hourly, late, watch)] == [[], [], []]
    [skipped] = await house.runs(paid)
    assert (skipped.state, skipped.reason) == ("SKIPPED", "there was no place to reach you")
    assert "rests until you can be reached" in str((await explain(house.engine, await house.again(hourly)))["text"])


async def test_they_go_on_with_the_person_and_what_was_missed_follows_the_policy(house: House) -> None:
    hourly, watch = await a_task(house, HOURLY), await a_task(house, ConditionTrigger("value > 1", url=PAGE))
    house.world.pages[PAGE] = "5"
    await house.store.reach(PHONE, False, "stop-1")
    house.clock.pass_by(hours=3, minutes=10)
    assert await house.work() == 0
    await house.store.reach(PHONE, True, "start-1")
    assert await house.work() == 2
    [run] = await house.runs(hourly)
    assert (run.due_at == hourly.anchor and run.state == "COMPLETED") or run.due_at - (hourly.anchor or run.due_at) == (
        timedelta(hours=3)
    )
    assert "missed_since" in run.cause, "once, for all that was missed"
    assert await house.states(watch) == ["COMPLETED"]
    house.clock.pass_by(hours=1)
    await house.work()
    assert await house.states(hourly) == ["COMPLETED", "COMPLETED"]


async def test_a_run_that_had_not_begun_when_the_person_stopped_asks_no_model(house: House) -> None:
    task = await a_task(house, HOURLY)
    house.clock.pass_by(hours=1)
    await house.runner.once()
    await house.store.reach(PHONE, False, "stop-1")
    await house.work()
    assert house.says.requests == []
    assert await house.states(task) == ["SKIPPED"]


async def test_a_second_place_that_can_be_reached_keeps_the_tasks_going(house: House) -> None:
    task = await a_task(house, HOURLY)
    await house.store.eye.execute(
        "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
        " values ($1, 'idn_2', 'sms', $2, '+15550000002', 'link')",
        house.tenant,
        ACCOUNT,
    )
    await house.store.reach(PHONE, False, "stop-1")
    house.clock.pass_by(hours=1)
    assert await house.work() == 1
    assert await house.states(task) == ["COMPLETED"]
    await house.store.eye.execute("update identities set state = 'blocked' where id = 'idn_2'")
    house.clock.pass_by(hours=1)
    assert await house.work() == 0
    await house.store.eye.execute("delete from identities where id = 'idn_2'")
    await house.store.reach(PHONE, True, "start-1")
    assert await house.work() == 1
