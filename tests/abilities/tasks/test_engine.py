"""Promise 13: tasks fire when they are due, once each; the turn is their own, and its outcome is told."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from abilities.events.types import Event
from abilities.tasks.ability import ABILITY
from abilities.tasks.codec import Trigger
from abilities.tasks.explain import explain
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import Missed, ScheduleTrigger, TriggerError
from abilities.tasks.runs.firing import fire_due
from abilities.tasks.runs.notice_store import NoticeStore
from abilities.tasks.runs.notifications import notification
from abilities.tasks.types import ActionResult, NoticeState, Task
from core.agents.pool_entry import PoolEntry
from core.agents.standard_agent import AgentStatus
from core.errors import ToolFailed, ToolRetry
from core.json_types import JsonObject
from core.messaging.messages import Media
from core.notifications.types import Notification, NotificationStatus, Notified, Urgency
from core.tools.context import TaskState
from core.turns.runs import MAX_FAILURES
from core.turns.types import TurnRequest, TurnResult, TurnState
from operations.paths.transcript import read_transcript
from tests.abilities.tasks.harness import Harness, make_harness
from tests.core.harness import Store

DAILY = ScheduleTrigger(cron="0 8 * * *")
HOURLY = ScheduleTrigger(interval_minutes=60)


async def a_task(harness: Harness, trigger: Trigger = DAILY, executor: str = "counting", **more: Any) -> Task:
    """Make a task."""
    values = {"title": "The mail", **more}
    return await harness.engine.create_task(tenant_id=harness.tenant, trigger=trigger, executor=executor, **values)


async def test_a_scheduled_task_runs_as_its_own_turn_and_reports_once(harness: Harness, store: Store) -> None:
    task = await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=DAILY, action={"instruction": "Summarise my unread mail"}
    )
    assert (task.number, task.title, task.zone) == (1, "Summarise my unread mail", "Europe/Berlin")
    before = await harness.store.everything()
    await harness.engine.list_tasks(harness.tenant)
    await harness.engine.upcoming(task)
    await explain(harness.engine, task)
    assert await harness.store.everything() == before, "reading moves nothing"
    assert await harness.work() == 0
    harness.clock.move(hours=23, seconds=1)
    assert await harness.work() == 1
    [request] = harness.says.requests
    assert request.inbound == ()
    assert request.trigger is not None
    assert request.trigger.content.startswith("[Scheduled Task] Summarise my unread mail\n")
    assert request.trigger.metadata["trigger_type"] == "schedule"
    assert await harness.states(task) == ["COMPLETED"]
    assert await harness.sent() == ["done: [Scheduled Task] Summarise my unread mail"]
    assert (await harness.again(task)).next_at == datetime.fromisoformat("2026-03-04T08:00+01:00")
    assert (await harness.work(), await harness.work()) == (0, 0)
    assert len(await harness.sent()) == 1
    assert request.turn_id
    assert ABILITY.trigger is not None
    replayed = (await read_transcript(store.database, request.turn_id, [ABILITY.trigger])).request
    assert (replayed.trigger, replayed.kept.history) == (request.trigger, ())
    # What was told stands in the conversation, as ours, so that an answer to it makes sense.
    roles = "select message->>'role' || coalesce(message->>'internal', '') from history order by position"
    history = await harness.store.column(roles)
    assert history[-2:] == ["usertrue", "assistant"]


async def test_the_files_of_a_run_go_with_what_it_tells(store: Store) -> None:
    media = (Media("kept:f0123456789", "text/plain", "notes.txt", 10),)

    async def sends(request: TurnRequest) -> TurnResult:
        return TurnResult(TurnState.DONE, "Your notes.", media=media)

    harness = await make_harness(store, sends)
    task = await harness.engine.create_task(tenant_id=harness.tenant, trigger=DAILY, action={"instruction": "My notes"})
    harness.clock.move(hours=23, seconds=1)
    await harness.work()
    (run,) = await harness.runs(task)
    assert [notice.media for notice in run.notices] == [media]
    assert await store.column("select media -> 0 ->> 'url' from outbound order by seq") == [media[0].url]
    await store.database.rows("select redact($1,$2)", harness.tenant, ["notes"])
    assert "notes" not in str(await store.db.run_notices.column("media"))


async def test_promise_13_each_occurrence_runs_once_however_many_workers_look(harness: Harness, store: Store) -> None:
    for number in range(30):
        await a_task(harness, HOURLY, title=f"Task {number}")
    harness.clock.move(hours=1)
    now = harness.clock.now()
    fired = await asyncio.gather(*(fire_due(store.database, store.make_id, now, 7) for _ in range(12)))
    while (more := await fire_due(store.database, store.make_id, now, 7)).due:
        fired.append(more)
    lanes = [lane for run in fired for lane in run.lanes]
    assert (len(lanes), len(set(lanes)), sum(run.due for run in fired)) == (30, 30, 30)
    assert await store.db.task_runs.count() == 30
    # An occurrence that is taken once more, however that came to be, is the run that it was.
    await store.db.tasks.change({"due_at": now, "next_at": now})
    assert (await fire_due(store.database, store.make_id, now)).lanes == ()
    assert await store.db.task_runs.count() == 30


async def test_promise_13_a_missed_occurrence_follows_the_policy_and_says_so(harness: Harness) -> None:
    tasks = {
        missed: await a_task(harness, ScheduleTrigger(cron="0 * * * *", missed=missed, grace_minutes=90))
        for missed in Missed
    }
    harness.clock.move(hours=3, minutes=20)
    await harness.work()
    states = {missed.value: await harness.states(task) for missed, task in tasks.items()}
    assert states == {"skip": ["SKIPPED"], "once": ["COMPLETED"], "all": ["COMPLETED", "COMPLETED"]}
    assert "counted\n(This was due Mon 2 Mar 2026, 12:00.)" in await harness.sent()
    why = str((await explain(harness.engine, tasks[Missed.SKIP]))["text"])
    assert "was skipped (missed: it could not start in time)" in why


async def test_paused_tasks_rest_resumed_tasks_go_on_from_now_and_stopped_end(harness: Harness) -> None:
    task = await a_task(harness, HOURLY)
    assert await harness.engine.pause_task(harness.tenant, task.id)
    assert not await harness.engine.pause_task(harness.tenant, task.id)
    harness.clock.move(hours=5, minutes=30)
    assert await harness.work() == 0
    assert await harness.engine.resume_task(harness.tenant, task.id)
    assert await harness.work() == 0
    harness.clock.move(minutes=30)
    assert await harness.work() == 1
    run = await harness.engine.run_now(harness.tenant, task.id, "k")
    assert run.startswith("run_")
    assert await harness.engine.run_now(harness.tenant, task.id, "k") == ""
    assert await harness.engine.delete_task(harness.tenant, task.id)
    await harness.work()
    assert await harness.states(task) == ["COMPLETED", "CANCELLED"]
    assert await harness.engine.list_tasks(harness.tenant) == []
    with pytest.raises(TriggerError):
        await harness.engine.run_now(harness.tenant, task.id)


async def test_count_and_until_end_a_task_and_a_key_makes_it_once(harness: Harness) -> None:
    task = await a_task(harness, ScheduleTrigger(interval_minutes=60, count=2), key="call_1")
    assert await a_task(harness, ScheduleTrigger(interval_minutes=60, count=2), key="call_1") == task
    for _ in range(4):
        harness.clock.move(hours=1)
        await harness.work()
    assert await harness.states(task) == ["COMPLETED"] * 2
    assert (await harness.again(task)).state is TaskState.COMPLETED
    with pytest.raises(TriggerError, match="over already"):
        await a_task(harness, ScheduleTrigger(at=harness.clock.now() - timedelta(hours=1)))


async def test_promise_5_a_repeated_call_sets_one_reminder(harness: Harness) -> None:
    tasks, moment = harness.engine.for_tenant(harness.tenant), harness.clock.now() + timedelta(minutes=1)
    trigger: JsonObject = {"kind": "schedule", "at": moment.isoformat()}
    first = await tasks.create(trigger, {"text": "earlier"}, executor="counting", key="call_1")
    made = await tasks.create(trigger, {"text": "later"}, executor="counting", key="call_2")
    await tasks.change(made.id, "delete")
    stopped = await tasks.find(made.id)
    assert stopped is not None
    assert stopped.deleted
    harness.clock.move(minutes=2)
    assert await harness.work() == 1
    # The worker that set it died before it said so; another does it again when the moment is over.
    again = await tasks.create(trigger, {"text": "earlier"}, executor="counting", key="call_1")
    assert (again.id, again.when) == (first.id, first.when)
    assert await harness.work() == 0


async def test_a_person_who_moves_takes_their_times_along(harness: Harness, store: Store) -> None:
    follows = await a_task(harness, DAILY)
    stays = await a_task(harness, ScheduleTrigger(cron="0 8 * * *", timezone="Europe/Berlin"))
    await store.db.tenants.change({"timezone": "America/New_York"})
    assert await harness.work() == 1
    assert await harness.states(follows) == []
    moved, same = await harness.again(follows), await harness.again(stays)
    assert (moved.next_at, moved.zone) == (datetime.fromisoformat("2026-03-02T13:00+00:00"), "America/New_York")
    assert same.next_at == stays.next_at


async def test_an_event_runs_each_matching_task_of_its_person_once(harness: Harness, store: Store) -> None:
    other = await make_harness(store, sender="+15550000002")
    trigger = EventTrigger("shop", "order.*", {"from": {"contains": "amazon"}})
    mine = [await a_task(harness, trigger, "counting"), await a_task(harness, trigger, "counting")]
    theirs = await a_task(other, trigger, "counting")
    event = Event("shop", "order.sent", {"from": "Amazon"}, "e1", harness.tenant, harness.clock.now())
    assert len(await harness.engine.fire_for_event(harness.tenant, event)) == 2
    assert await harness.engine.fire_for_event(harness.tenant, event) == []
    assert await harness.engine.fire_for_event(harness.tenant, Event("shop", "order.sent", {}, "e2")) == []
    await harness.work()
    assert [await harness.states(task) for task in mine] == [["COMPLETED"]] * 2
    assert await harness.states(theirs) == []
    assert harness.counting.contexts[0].event_data == {"from": "Amazon"}
    assert harness.counting.contexts[0].event_type == "order.sent"


async def test_a_condition_that_flips_twice_reports_both_values_twice(harness: Harness) -> None:
    url = "https://air.example/rome"
    trigger = ConditionTrigger("value < 300", url=url, path="$.price", every_minutes=10)
    task = await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=trigger, action={"instruction": "Tell me"}, title="The flight"
    )
    for price in (320, 290, 280, 310, 250):
        harness.world.pages[url] = f'{{"price": {price}}}'
        await harness.work()
        harness.clock.move(minutes=10)
    assert harness.world.looks == 5
    assert await harness.states(task) == ["COMPLETED"] * 2
    assert [text.splitlines()[-1] for text in await harness.sent()] == [
        "Before: 320. Now: 290.",
        "Before: 310. Now: 250.",
    ]
    del harness.world.pages[url]
    for _ in range(6):
        await harness.work()
        harness.clock.move(hours=4)
    assert harness.world.looks == 11
    assert "not been able to check “The flight”" in (await harness.sent())[-1]
    why = str((await explain(harness.engine, await harness.again(task)))["text"])
    assert "The server cannot be reached." in why


async def test_a_condition_uses_read_only_tools_and_a_repeat_changes_nothing(harness: Harness) -> None:
    task = await harness.engine.create_task(
        tenant_id=harness.tenant,
        trigger=ConditionTrigger("value > 30", tool="get_weather", arguments={"city": "Rome"}),
        executor="counting",
    )
    harness.world.pages["get_weather"] = "31"
    first, second = await harness.again(task), await harness.again(task)
    assert first.revision == second.revision
    await harness.work()
    assert await harness.engine.store.record_look(second, {}, None, []) == []
    assert (await harness.again(task)).state is TaskState.ACTIVE
    assert harness.counting.contexts[0].new == 31


async def test_a_task_that_may_be_silent_says_nothing_and_costs_no_message(store: Store) -> None:
    async def nothing(request: TurnRequest) -> TurnResult:
        return TurnResult(TurnState.DONE, "NOTHING.")

    harness = await make_harness(store, nothing)
    task = await a_task(harness, HOURLY, "orchestrator", action={"instruction": "Look"}, output={"silent": True})
    harness.clock.move(hours=1)
    await harness.work()
    assert await harness.states(task) == ["COMPLETED"]
    assert (await harness.sent(), harness.notifier.said) == ([], [])
    assert "there was nothing to tell" in str((await explain(harness.engine, task))["text"])


async def test_a_task_that_keeps_failing_is_disabled_and_the_person_is_told(harness: Harness) -> None:
    task = await a_task(harness, HOURLY)
    for number in range(MAX_FAILURES + 1):
        harness.counting.results.append(ActionResult(False, error="broken") if number else RuntimeError("broken"))
        harness.clock.move(hours=1)
        await harness.work()
    assert await harness.states(task) == ["FAILED"] * MAX_FAILURES
    assert (await harness.again(task)).state is TaskState.DISABLED
    texts = sorted(await harness.sent())
    assert texts[0].startswith("I have stopped trying “The mail” (task 1)")
    assert texts[1:] == ["My task “The mail” did not work."] * MAX_FAILURES
    assert await harness.engine.resume_task(harness.tenant, task.id)


async def test_a_custom_executor_reports_and_is_not_rerun_after_a_worker_dies(harness: Harness) -> None:
    task = await a_task(harness, HOURLY, output={"urgency": "urgent", "category": "mail"})
    harness.clock.move(hours=1)
    await harness.runner.once()
    lease = await harness.turns.claim(None)
    assert lease is not None
    harness.counting.results.append(asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        await harness.turns.run(lease)
    # The worker is gone without a word: the lease runs out, and the run's end is not known.
    await harness.work()
    assert len(harness.counting.contexts) == 1
    assert await harness.states(task) == ["FAILED"]
    assert "I cannot tell whether it was done" in (await harness.sent())[0]
    harness.counting.results.append(ActionResult(True, "3 new"))
    harness.clock.move(hours=1)
    await harness.work()
    [_, notification] = harness.notifier.said
    assert (notification.text, notification.urgency, notification.category, notification.task_id) == (
        "3 new",
        Urgency.URGENT,
        "mail",
        task.id,
    )


async def test_what_a_run_says_is_told_once_although_its_worker_dies_between(harness: Harness, store: Store) -> None:
    await a_task(harness, HOURLY)
    harness.clock.move(hours=1)
    await harness.runner.once()
    lease = await harness.turns.claim(None)
    assert lease is not None
    await harness.turns.run(lease)
    [claimed] = await NoticeStore(store.database).claim(9, timedelta())
    loaded = await harness.engine.store.run(claimed.tenant_id, claimed.run_id)
    assert loaded is not None
    # It was handed over, and the worker died before it could write that down.
    await harness.notifier.notify(claimed.tenant_id, notification(*loaded, "counted", key=claimed.key))
    await store.admin.execute("update run_notices set next_attempt_at = now()")
    await harness.work()
    assert await harness.sent() == ["counted"]


@pytest.mark.parametrize("fate", [NotificationStatus.HELD, NotificationStatus.MUTED, NotificationStatus.NOWHERE])
async def test_what_goes_nowhere_now_is_settled_at_once(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, fate: NotificationStatus
) -> None:
    async def notify(tenant_id: str, notification: Notification) -> Notified:
        return Notified("ntf_1", fate)

    monkeypatch.setattr(harness.notifier.inner, "notify", notify)
    task = await a_task(harness)
    harness.clock.move(hours=23, seconds=1)
    assert await harness.work() == 1
    [run] = await harness.runs(task)
    assert [(notice.state, notice.fate, notice.place) for notice in run.notices] == [
        (NoticeState.HANDED_OVER, fate, None)
    ]


async def test_a_waiting_run_is_pending_then_continues_or_expires(store: Store) -> None:
    async def asks(request: TurnRequest) -> TurnResult:
        if request.go_on_at is None:
            entry = PoolEntry(
                f"agent_{request.turn_id}", "Ask", "", request.turn_id, "0.0/Ask", "c", AgentStatus.WAITING_FOR_INPUT,
                "v", harness.clock.now() + timedelta(hours=1), question="Which day?",
            )  # fmt: skip
            return TurnResult(TurnState.WAITING, "Which day?", pool=(entry,), waiting_step=0)
        [entry] = [entry for entry in request.kept.pool if entry.turn_id == request.turn_id]
        return TurnResult(TurnState.DONE, f"It ended: {entry.reason or 'answered'}")

    harness = await make_harness(store, asks)
    task = await a_task(harness, HOURLY, "orchestrator", action={"instruction": "Plan"})
    harness.clock.move(hours=1)
    await harness.work()
    assert await harness.states(task) == ["PENDING_APPROVAL"]
    home = await store.db.pool_entries.one("conversation_id")
    assert home == await store.db.conversations.one("id")
    harness.clock.move(hours=1, seconds=1)
    await store.database.rows("select * from expire_pool($1, 9)", harness.clock.now())
    await harness.work()
    assert await harness.states(task) == ["EXPIRED", "PENDING_APPROVAL"]
    assert await harness.sent() == ["Which day?", "It ended: expired", "Which day?"]
    assert await harness.engine.delete_task(harness.tenant, task.id)
    assert await harness.states(task) == ["EXPIRED", "CANCELLED"]
    assert await store.db.pool_entries.count() == 0


async def test_promise_11_a_person_reaches_nobody_elses_tasks(harness: Harness, store: Store) -> None:
    other = await make_harness(store, sender="+15550000002")
    task = await a_task(harness)
    access = harness.engine.for_tenant(other.tenant)
    assert await access.list() == []
    assert not await access.change(task.id, "delete")
    assert await access.why(task.id) == "There is no such task, and never was."
    with pytest.raises(ToolFailed):
        await access.run_now(task.id, "k")
    assert (await harness.again(task)).state is TaskState.ACTIVE


async def test_a_task_is_refused_in_a_sentence_where_it_makes_no_sense(harness: Harness) -> None:
    access = harness.engine.for_tenant(harness.tenant)
    for trigger, action, executor in (
        ({"kind": "schedule", "cron": "0 8 * *"}, {"instruction": "go"}, "orchestrator"),
        ({"kind": "schedule", "interval_minutes": "often"}, {"instruction": "go"}, "orchestrator"),
        ({"kind": "condition", "expression": "value < 3"}, {"instruction": "go"}, "orchestrator"),
        ({"kind": "moon"}, {"instruction": "go"}, "orchestrator"),
        ({"kind": "schedule", "cron": "0 8 * * *"}, {}, "orchestrator"),
        ({"kind": "schedule", "cron": "0 8 * * *"}, {}, "nobody"),
    ):
        with pytest.raises(ToolRetry, match=r"\.$"):
            await access.create(dict(trigger), dict(action), executor=executor)
    assert await access.list() == []
