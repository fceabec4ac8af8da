"""What bounds tasks: nothing loops, is published to nobody, or stays forever."""

from datetime import timedelta

import pytest

from abilities.events.types import Event
from abilities.tasks.engine import MAX_AN_HOUR
from abilities.tasks.explain import explain
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.retention import prune_runs
from abilities.tasks.types import Task
from core.turns.runs import RunState
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.abilities.tasks.harness import Harness


async def on(harness: Harness, source: str, type: str = "*", executor: str = "orchestrator") -> Task:
    """Make a task on events."""
    trigger = EventTrigger(source, type)
    return await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=trigger, action={"instruction": "Tell me"}, executor=executor
    )


async def fails(harness: Harness) -> Event:
    """Let the message that is owed last fail for good; give the event that its channel publishes."""
    text = str(await harness.store.one("select text from outbound where state = 'ready' order by seq desc limit 1"))
    await harness.store.outbox.fail(await harness.store.claim_sending(text), "no")
    [record, *_] = await harness.engine.events.recent(harness.tenant)
    assert record.event.type == "delivery.failed"
    return record.event


async def test_a_task_on_failed_deliveries_never_runs_for_its_own_message(harness: Harness) -> None:
    notes = NotificationStore(harness.store.database, harness.store.make_id)
    harness.notifier.inner = NotificationService(
        notes, ["sms"], harness.store.wakeups, harness.clock, harness.store.make_id
    )
    task, other = await on(harness, "sms", "delivery.failed"), await on(harness, "*", "delivery.*")
    await harness.engine.pause_task(harness.tenant, other.id)
    await harness.store.enqueue("cannot be said")
    first = await fails(harness)
    assert (first.data["task_id"], first.data["again"]) == ("", False)
    await harness.engine.fire_for_event(harness.tenant, first)
    await harness.work()
    assert await harness.states(task) == ["COMPLETED"]
    second = await fails(harness)
    assert (second.data["task_id"], second.data["again"]) == (task.id, True)
    await harness.engine.resume_task(harness.tenant, other.id)
    for _ in range(2):
        await harness.engine.fire_for_event(harness.tenant, second)
    await harness.work()
    assert await harness.states(task) == ["COMPLETED", "SKIPPED"]
    assert await harness.states(other) == ["SKIPPED"], "nor do two of them keep each other going"
    assert "it would go on for ever" in str((await explain(harness.engine, task))["text"])


async def test_tasks_on_messages_are_capped_hourly_and_tasks_on_sources_are_not(
    harness: Harness,
) -> None:
    messages, door = await on(harness, "sms", "message.received"), await on(harness, "door")
    for number in range(MAX_AN_HOUR + 3):
        for source, type in (("sms", "message.received"), ("door", "opened")):
            await harness.engine.fire_for_event(
                harness.tenant, Event(source, type, id=str(number), tenant_id=harness.tenant)
            )
    assert await harness.states(messages) == ["QUEUED"] * MAX_AN_HOUR + ["SKIPPED"] * 3
    assert await harness.states(door) == ["QUEUED"] * (MAX_AN_HOUR + 3)
    assert "looks like a loop" in str((await explain(harness.engine, messages))["text"])
    await harness.store.admin.execute("update task_runs set created_at = created_at - interval '61 minutes'")
    await harness.engine.fire_for_event(
        harness.tenant, Event("sms", "message.received", id="n", tenant_id=harness.tenant)
    )
    assert (await harness.states(messages)).count("QUEUED") == MAX_AN_HOUR + 1


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
async def test_channels_publish_only_what_a_task_waits_for(
    harness: Harness, source: str, type: str, wanted: bool
) -> None:
    task = await on(harness, source, type)
    await harness.store.say("for whom?")
    assert [record.event.type for record in await harness.engine.events.recent(harness.tenant)] == [
        "message.received"
    ] * wanted
    await harness.engine.delete_task(harness.tenant, task.id)
    await harness.store.say("nobody now")
    assert len(await harness.engine.events.recent(harness.tenant)) == int(wanted), "a task that is over wants nothing"


async def test_old_runs_and_tasks_are_pruned_and_sent_notifications_stay(harness: Harness) -> None:
    hourly = await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=ScheduleTrigger(cron="0 * * * *"), action={}, executor="counting"
    )
    once = await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=ScheduleTrigger(at=harness.clock.now() + timedelta(minutes=30)),
        action={"instruction": "Now"},
    )
    for _ in range(3):
        harness.clock.move(hours=1)
        await harness.work()
    harness.clock.move(hours=1)
    await harness.runner.once()
    store, tasks = harness.store, harness.engine.store
    assert await prune_runs(tasks) == 0
    outcome = [await harness.sent(), await store.db.history.count()]
    await store.admin.execute("update task_runs set finished_at = finished_at - interval '89 days'")
    assert await prune_runs(tasks) == 0
    await store.admin.execute("update task_runs set finished_at = finished_at - interval '2 days'")
    assert await harness.engine.store.prune(timedelta(days=90), 3) == 3, "in batches"
    assert await prune_runs(tasks) == 1
    assert [await harness.sent(), await store.db.history.count()] == outcome
    assert await harness.states(hourly) == ["QUEUED"], "what is not over stays"
    assert await store.column("select id from lanes where id like 'run_%'") == [(await harness.runs(hourly))[0].id]
    assert await store.one("select count(*) from turns where lane_id like 'run_%'") == 1
    assert await store.db.steps.count() == 0
    assert await store.db.tasks.count() == 2, "a task that has only just ended stays"
    await store.admin.execute("update tasks set ended_at = ended_at - interval '91 days'")
    assert await prune_runs(tasks) == 1
    assert await harness.engine.get_task(harness.tenant, once.id) is None
    await harness.work()
    assert (await harness.states(hourly))[-1] == RunState.COMPLETED
    await store.admin.execute("update task_runs set finished_at = finished_at - interval '91 days'")
    await prune_runs(tasks)
    assert "no longer kept" in str((await explain(harness.engine, await harness.again(hourly)))["text"])
