"""A task that raises what nobody foresaw is set aside by itself: the others run, its person is told."""

import json
from datetime import timedelta

import pytest

from abilities.events.types import Event
from abilities.tasks.dry_run import dry_run
from abilities.tasks.explain import explain
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import Missed, ScheduleTrigger, TriggerError
from abilities.tasks.runner import TriggerRunner
from abilities.tasks.runs import notifications as notices
from abilities.tasks.runs.firing import run_row
from abilities.tasks.runs.misfires import Course
from abilities.tasks.runs.notice_store import NoticeStore
from abilities.tasks.types import Task
from core.errors import ToolRetry
from core.json_types import JsonObject
from core.notifications.types import Notification, Notified
from core.tools.context import TaskState
from tests.abilities.tasks.harness import NOW, Harness

HOURLY = ScheduleTrigger(interval_minutes=60)
FOR_EVER: JsonObject = {"cron": "0 9 * * *", "until": "9999-12-31T23:59"}


async def hourly(harness: Harness, title: str) -> Task:
    """Make a task that is due in an hour."""
    return await harness.engine.create_task(tenant_id=harness.tenant, trigger=HOURLY, executor="counting", title=title)


async def on_paid(harness: Harness, title: str) -> Task:
    """Make a task that waits for an event."""
    trigger = EventTrigger("shop", "paid")
    return await harness.engine.create_task(tenant_id=harness.tenant, trigger=trigger, executor="counting", title=title)


async def spoil(harness: Harness, task: Task, trigger: JsonObject) -> None:
    """Write a trigger into a row that no way in takes, as an older version may have left it."""
    written = json.dumps(trigger)
    await harness.store.admin.execute("update tasks set trigger = $2::text::jsonb where id = $1", task.id, written)


async def work(harness: Harness) -> None:
    """Do all that is due, until nothing is."""
    while await harness.work():
        pass


@pytest.mark.whole("it runs a hundred tasks")
async def test_poisoned_tasks_among_fifty_are_set_aside_and_fifty_run(harness: Harness) -> None:
    tasks = [await hourly(harness, f"Task {number}") for number in range(50)]
    unread, late, full = [await hourly(harness, title) for title in ("Drink water", "Far away", "Too often")]
    await spoil(harness, unread, FOR_EVER)
    # Three ways to raise: what is refused when it is read, what Python cannot compute, what Postgres cannot hold.
    await harness.store.db.tasks.change({"fired": 2147483647}, id=full.id)
    # As a person who moves makes it: the poisoned rows are taken first from now on.
    await harness.store.db.tenants.change({"timezone": "America/New_York"})
    await work(harness)
    await harness.store.admin.execute("update tasks set due_at = '9999-12-31T23:59:59Z' where id = $1", late.id)
    harness.clock.move(hours=1)
    await work(harness)
    assert [await harness.states(task) for task in tasks] == [["COMPLETED"]] * 50
    for task, cause in ((unread, "TriggerError"), (late, "OverflowError"), (full, "NumericValueOutOfRangeError")):
        kept = await harness.again(task)
        assert (kept.state, kept.set_aside, kept.next_at) == (TaskState.DISABLED, cause, None)
    texts = [text for text in await harness.sent() if "wrong unexpectedly" in text]
    assert len(texts) == 3, "each is told once"
    assert any("“Drink water” (task 51)" in text for text in texts)
    assert await harness.store.one("select number from find_set_aside_work() where kind = 'task'") == 3
    await work(harness)
    assert len([text for text in await harness.sent() if "wrong unexpectedly" in text]) == 3


async def test_a_task_set_aside_is_listed_explained_and_retried_from_due_time(harness: Harness) -> None:
    task, other = await hourly(harness, "Drink water"), await hourly(harness, "Other")
    was = await harness.store.one("select trigger::text from tasks where id = $1", task.id)
    await spoil(harness, task, FOR_EVER)
    harness.clock.move(hours=1)
    await work(harness)
    kept = await harness.again(task)
    listed = await harness.engine.for_tenant(harness.tenant).list()
    assert [(task.title, task.when) for task in listed] == [
        ("Drink water", "at a time that can no longer be read"),
        ("Other", "every hour (Europe/Berlin)"),
    ]
    assert "It is set aside" in str((await explain(harness.engine, kept))["text"])
    with pytest.raises(TriggerError, match="2199"):
        await dry_run(harness.engine, kept)
    with pytest.raises(ToolRetry, match="2199"):
        await harness.engine.for_tenant(harness.tenant).change(task.id, "resume")
    [set_aside] = await harness.engine.store.find_set_aside()
    assert (set_aside.task_id, set_aside.number, set_aside.cause) == (task.id, 1, "TriggerError")
    # Once what was wrong is mended, it goes on where it was: what it missed follows its policy.
    await harness.store.admin.execute("update tasks set trigger = $2::text::jsonb where id = $1", task.id, was)
    harness.clock.move(hours=2)
    assert await harness.engine.retry(harness.tenant, task.id)
    await work(harness)
    mended = await harness.again(task)
    assert (mended.state, mended.set_aside) == (TaskState.ACTIVE, None)
    assert await harness.states(task) == ["FAILED", "COMPLETED"]
    assert not await harness.engine.retry(harness.tenant, other.id), "what was not set aside is left alone"


async def test_a_task_that_raises_on_an_event_is_set_aside_and_the_others_run(harness: Harness) -> None:
    unread, full, well = [await on_paid(harness, title) for title in ("Unread", "Full", "Well")]
    await spoil(harness, unread, {"source": "shop", "type": "paid", "count": "often"})
    await harness.store.db.tasks.change({"fired": 2147483647}, id=full.id)
    event = Event("shop", "paid", {}, "evt_1", harness.tenant)
    assert len(await harness.engine.fire_for_event(harness.tenant, event)) == 1
    await work(harness)
    assert await harness.states(well) == ["COMPLETED"]
    assert [(await harness.again(task)).set_aside for task in (unread, full)] == [
        "TriggerError",
        "NumericValueOutOfRangeError",
    ]
    assert len([text for text in await harness.sent() if "wrong unexpectedly" in text]) == 2


async def test_a_count_beyond_any_int_kept_by_an_older_version_stops_no_event(harness: Harness) -> None:
    task, other = await on_paid(harness, "Endless"), await on_paid(harness, "Other")
    await spoil(harness, task, {"source": "shop", "type": "paid", "count": 99999999999})
    lanes = await harness.engine.store.start(harness.tenant, [run(harness, task), run(harness, other)])
    assert len(lanes) == 2, "the database compares it without a limit"


def run(harness: Harness, task: Task) -> JsonObject:
    """Make a run as the engine hands it over."""
    return run_row(harness.store.make_id, "shop:evt_1", NOW) | {"task_id": task.id}


async def test_a_condition_whose_row_cannot_be_looked_at_is_set_aside(harness: Harness) -> None:
    watch = ConditionTrigger("value > 1", url="https://shop.example/price", every_minutes=1)
    task = await harness.engine.create_task(tenant_id=harness.tenant, trigger=watch, executor="counting", title="Price")
    await harness.store.admin.execute('update tasks set watch = \'{"told_at": "never"}\' where id = $1', task.id)
    await work(harness)
    assert (await harness.again(task)).set_aside == "ValueError"


async def test_one_notice_that_raises_keeps_no_other_and_is_set_aside_in_the_end(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stumbles:
        """A notifier that raises what nobody foresaw at one task."""

        async def notify(self, tenant_id: str, notification: Notification) -> Notified:
            if notification.title == "Bad":
                raise RuntimeError
            return await inner.notify(tenant_id, notification)

    inner = harness.notifier.inner
    harness.notifier.inner = Stumbles()
    await hourly(harness, "Bad")
    await hourly(harness, "Good")
    harness.clock.move(hours=1)
    monkeypatch.setattr(notices, "MAX_TRIES", 2)
    await work(harness)
    assert await harness.sent() == ["counted"]
    [pause] = [pause for work, _, pause in harness.store.wakeups.later if work == notices.DUE]
    assert timedelta(seconds=15) < pause <= timedelta(seconds=20), "a job of that moment hands it over again"
    await harness.store.admin.execute("update run_notices set next_attempt_at = clock_timestamp()")
    await work(harness)
    assert await harness.store.one("select number from find_set_aside_work() where kind = 'notice'") == 1
    harness.notifier.inner = inner
    assert await NoticeStore(harness.store.database).retry(harness.tenant) == 1
    await work(harness)
    assert await harness.sent() == ["counted", "counted"]


async def test_a_row_that_newer_code_cannot_read_hinders_no_notice_and_no_turn(harness: Harness) -> None:
    task = await hourly(harness, "Drink water")
    harness.clock.move(hours=1)
    await harness.runner.once()
    await spoil(harness, task, {"cron": "a word that it no longer knows"})
    await work(harness)
    assert await harness.states(task) == ["COMPLETED"]
    assert await harness.sent() == ["counted"]


async def test_making_up_for_a_year_of_seconds_takes_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0
    real = ScheduleTrigger.next_after

    def counted(*args: object) -> object:
        nonlocal steps
        steps += 1
        return real(*args)  # type: ignore[arg-type]

    trigger = ScheduleTrigger(interval_minutes=1 / 60, missed=Missed.ALL, grace_minutes=366 * 24 * 60.0)
    course = Course("task_1", trigger, trigger.zone("UTC"), NOW)
    monkeypatch.setattr(ScheduleTrigger, "next_after", counted)
    plan = course.plan(NOW, NOW.replace(year=NOW.year + 1))
    assert len(plan.fires) == 100
    assert steps < 1000


async def test_what_cannot_even_be_set_aside_leaves_the_others_running(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, other = await hourly(harness, "Bad"), await hourly(harness, "Good")
    await spoil(harness, task, FOR_EVER)

    async def refuses(*_: object) -> bool:
        raise RuntimeError

    monkeypatch.setattr(type(harness.engine.store), "set_aside", refuses)
    harness.clock.move(hours=1)
    runner: TriggerRunner = harness.runner
    assert await runner.once() == 1, "what stumbled does not count as taken: the next look waits for the poll"
    while lease := await harness.turns.claim(None):
        await harness.turns.run(lease)
    assert await harness.states(other) == ["COMPLETED"]
    assert (await harness.again(task)).state is TaskState.ACTIVE
