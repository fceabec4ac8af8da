"""What bounds tasks: nothing goes round in circles, is published for nobody, or stays for ever."""

from datetime import timedelta

import pytest

from core.events.types import Event
from core.notifications.store import NotificationStore
from core.triggers.engine import MOST_AN_HOUR
from core.triggers.explain import explain
from core.triggers.kinds.event import EventTrigger
from core.triggers.kinds.schedule import ScheduleTrigger
from core.triggers.types import RunState, Task
from jobs.runs import RunUpkeep
from notify.service import NotificationService
from tests.core.triggers.harness import House


async def on(house: House, source: str, type: str = "*", executor: str = "orchestrator") -> Task:
    """Make a task on events."""
    trigger = EventTrigger(source, type)
    return await house.engine.create_task(
        tenant_id=house.tenant, trigger=trigger, action={"instruction": "Tell me"}, executor=executor
    )


async def fails(house: House) -> Event:
    """Let the message that is owed last fail for good; give the event that its channel publishes."""
    text = str(await house.store.one("select text from outbound where state = 'ready' order by seq desc limit 1"))
    await house.store.outbox.fail(await house.store.claim_sending(text), "no")
    [record, *_] = await house.engine.events.recent(house.tenant)
    assert record.event.type == "delivery.failed"
    return record.event


async def test_a_task_on_failed_deliveries_never_runs_for_its_own_message(house: House) -> None:
    notes = NotificationStore(house.store.database, house.store.make_id)
    house.notifier.inner = NotificationService(notes, ["sms"], house.store.bell, house.clock, house.store.make_id)
    task, other = await on(house, "sms", "delivery.failed"), await on(house, "*", "delivery.*")
    await house.engine.pause_task(house.tenant, other.id)
    await house.store.owe("cannot be said")
    first = await fails(house)
    assert (first.data["task_id"], first.data["again"]) == ("", False)
    await house.engine.fire_for_event(house.tenant, first)
    await house.work()
    assert await house.states(task) == ["COMPLETED"]
    second = await fails(house)
    assert (second.data["task_id"], second.data["again"]) == (task.id, True)
    await house.engine.resume_task(house.tenant, other.id)
    for _ in range(2):
        await house.engine.fire_for_event(house.tenant, second)
    await house.work()
    assert await house.states(task) == ["COMPLETED", "SKIPPED"]
    assert await house.states(other) == ["SKIPPED"], "nor do two of them keep each other going"
    assert "it would go on for ever" in str((await explain(house.engine, task))["text"])


async def test_a_task_on_messages_runs_so_often_an_hour_and_one_on_a_source_as_often_as_it_sends(house: House) -> None:
    messages, door = await on(house, "sms", "message.received"), await on(house, "door")
    for number in range(MOST_AN_HOUR + 3):
        for source, type in (("sms", "message.received"), ("door", "opened")):
            await house.engine.fire_for_event(house.tenant, Event(source, type, id=str(number), tenant_id=house.tenant))
    assert await house.states(messages) == ["QUEUED"] * MOST_AN_HOUR + ["SKIPPED"] * 3
    assert await house.states(door) == ["QUEUED"] * (MOST_AN_HOUR + 3)
    assert "looks like a loop" in str((await explain(house.engine, messages))["text"])
    await house.store.eye.execute("update task_runs set created_at = created_at - interval '61 minutes'")
    await house.engine.fire_for_event(house.tenant, Event("sms", "message.received", id="n", tenant_id=house.tenant))
    assert (await house.states(messages)).count("QUEUED") == MOST_AN_HOUR + 1


@pytest.mark.parametrize(
    ("source", "type", "wanted"),
    [
        ("github", "*", False),
        ("slack", "message.received", False),
        ("sms", "delivery.failed", False),
        ("s_s", "message.received", False),
        ("%", "%", False),
        ("sms", "message.received", True),
        ("s?s", "message.*", True),
        ("*", "*", True),
        ("[s]ms", "message.received", True),
    ],
)
async def test_channels_publish_only_what_a_task_waits_for(house: House, source: str, type: str, wanted: bool) -> None:
    task = await on(house, source, type)
    await house.store.say("for whom?")
    assert [one.event.type for one in await house.engine.events.recent(house.tenant)] == ["message.received"] * wanted
    await house.engine.delete_task(house.tenant, task.id)
    await house.store.say("nobody now")
    assert len(await house.engine.events.recent(house.tenant)) == int(wanted), "a task that is over wants nothing"


async def test_runs_and_tasks_that_are_over_go_after_a_time_and_what_was_told_stays(house: House) -> None:
    hourly = await house.engine.create_task(
        tenant_id=house.tenant, trigger=ScheduleTrigger(cron="0 * * * *"), action={}, executor="counting"
    )
    once = await house.engine.create_task(
        tenant_id=house.tenant,
        trigger=ScheduleTrigger(at=house.clock.now() + timedelta(minutes=30)),
        action={"instruction": "Now"},
    )
    for _ in range(3):
        house.clock.pass_by(hours=1)
        await house.work()
    house.clock.pass_by(hours=1)
    await house.runner.once()
    store, upkeep = house.store, RunUpkeep(house.engine.store)
    assert await upkeep.once() == 0
    told = [await house.sent(), await store.one("select count(*) from history")]
    await store.eye.execute("update task_runs set finished_at = finished_at - interval '89 days'")
    assert await upkeep.once() == 0
    await store.eye.execute("update task_runs set finished_at = finished_at - interval '2 days'")
    assert await house.engine.store.prune(timedelta(days=90), 3) == 3, "in batches"
    assert await upkeep.once() == 1
    assert [await house.sent(), await store.one("select count(*) from history")] == told
    assert await house.states(hourly) == ["QUEUED"], "what is not over stays"
    assert await store.column("select id from lanes where id like 'run_%'") == [(await house.runs(hourly))[0].id]
    assert await store.one("select count(*) from turns where lane_id like 'run_%'") == 1
    assert await store.one("select count(*) from steps") == 0
    assert await store.one("select count(*) from tasks") == 2, "a task that has only just ended stays"
    await store.eye.execute("update tasks set ended_at = ended_at - interval '91 days'")
    assert await upkeep.once() == 1
    assert await house.engine.get_task(house.tenant, once.id) is None
    await house.work()
    assert (await house.states(hourly))[-1] == RunState.COMPLETED
    await store.eye.execute("update task_runs set finished_at = finished_at - interval '91 days'")
    await upkeep.once()
    assert "not kept any more" in str((await explain(house.engine, await house.again(hourly)))["text"])
