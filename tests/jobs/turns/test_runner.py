"""Turns as a worker runs them: every end that a turn can come to, and none that burns what it should not."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import NoReturn

import pytest

from core.errors import StoreUnavailable, TurnDelayed
from core.journal.types import StepKey, StepKind, StepRecord, StepState
from core.json_types import JsonObject
from core.messaging.due_messages import Claim
from core.messaging.outbox import Outbox
from core.queue.claim_loop import Runner
from core.turns.failures import FAILED, SET_ASIDE
from core.turns.types import TurnRequest, TurnResult, TurnState
from jobs.delivery.runner import DeliveryRunner
from jobs.turns.messages import Sender
from jobs.turns.results import MAX_SOLO_CRASHES
from jobs.turns.runner import TurnRunner
from tests.core.harness import Store
from tests.eventually import eventually, never
from tests.jobs.worker_harness import WorkerHarness, echo
from tests.patience import PATIENCE


async def fates(store: Store) -> list[tuple[object, ...]]:
    return [tuple(r) for r in await store.admin.fetch("select state, reason, attempts from turns order by started_at")]


async def replies(store: Store) -> list[object]:
    return await store.db.outbound.column("text", order="seq")


async def test_a_turn_is_answered_and_its_delivery_is_woken(store: Store) -> None:
    await store.say("one")
    await store.say("two")
    await WorkerHarness(store).run_turns()
    assert await replies(store) == ["re one+two"]
    assert await fates(store) == [("done", "", 1)]
    assert store.wakeups.deliveries == await store.db.conversations.column("id")


def sending(harness: WorkerHarness) -> tuple[TurnRunner, Runner[Claim], Outbox]:
    """Return turns whose answers are sent by one slot of the same process."""
    outbox = Outbox(harness.store.database, harness.store.make_id, harness.lease)
    delivery = DeliveryRunner(outbox, {"sms": harness.channel}, harness.name)
    runner = Runner("delivery", delivery.claim, delivery.run, slots=1)
    turns = harness.turn_runner()
    turns.send_by(Sender(runner.hold, partial(outbox.claim_after, worker=harness.name)))
    return turns, runner, outbox


async def run(turns: TurnRunner) -> None:
    lease = await turns.claim(None)
    assert lease is not None
    await turns.run(lease)


async def test_an_answer_is_claimed_with_the_end_of_its_turn_and_sent_here(store: Store) -> None:
    harness = WorkerHarness(store)
    turns, runner, _ = sending(harness)
    await store.say("one")
    await run(turns)
    await runner.room()
    assert [text for _, text in harness.channel.calls] == ["re one"]
    assert (await store.db.outbound.column("state"), store.wakeups.deliveries) == (["sent"], [])


async def test_an_answer_is_left_to_other_workers_if_no_slot_is_free(store: Store) -> None:
    harness = WorkerHarness(store)
    turns, runner, _ = sending(harness)
    assert await runner.hold() is not None
    await store.say("one")
    await run(turns)
    assert (await store.db.outbound.column("state"), harness.channel.calls) == (["ready"], [])
    assert store.wakeups.deliveries == await store.db.conversations.column("id")


async def test_an_answer_behind_another_workers_message_is_left_to_that_worker(store: Store) -> None:
    harness = WorkerHarness(store)
    turns, runner, outbox = sending(harness)
    await store.say("one")
    await harness.run_turns()
    assert await outbox.claim(None, "another") is not None
    await store.say("two")
    await run(turns)
    await runner.room()
    assert harness.channel.calls == []
    assert len(store.wakeups.deliveries) == 2


async def test_a_turn_ends_though_its_answer_cannot_be_claimed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(write: str, given: Sequence[object], conversation_id: str) -> NoReturn:
        raise ValueError("a row that cannot be read")

    monkeypatch.setattr("jobs.turns.runner.SECOND_TRY", 0.0)
    turns, runner, _ = sending(WorkerHarness(store))
    turns.send_by(Sender(runner.hold, refused))
    await store.say("one")
    await run(turns)
    await runner.room()
    assert (await fates(store), await replies(store)) == ([("done", "", 1)], ["re one"])
    assert store.wakeups.deliveries == await store.db.conversations.column("id")


async def test_promise_6_a_turn_that_says_nothing_keeps_its_reason(store: Store) -> None:
    async def nothing(request: TurnRequest) -> TurnResult:
        return TurnResult(TurnState.DONE, reason="refused")

    await store.say("one")
    await WorkerHarness(store).run_turns(nothing)
    assert (await replies(store), await fates(store)) == ([], [("done", "refused", 1)])
    assert await store.db.inbound.column("reason") == ["refused"]
    assert store.wakeups.deliveries == []


async def test_promise_14_a_turn_that_breaks_is_told_in_a_plain_sentence(store: Store) -> None:
    async def broken(request: TurnRequest) -> TurnResult:
        raise ValueError("internals")

    await store.say("one")
    await WorkerHarness(store).run_turns(broken)
    assert (await replies(store), await fates(store)) == ([FAILED], [("failed", "error", 1)])
    assert await store.db.history.count() == 2


async def test_commands_are_answered_without_the_orchestrator(store: Store) -> None:
    async def unasked(request: TurnRequest) -> TurnResult:
        raise AssertionError("asked")

    for name in ("help", "start", "stop", "new"):
        await store.say("", command=name)
    await WorkerHarness(store).run_turns(unasked)
    texts = await replies(store)
    assert len(texts) == 4
    assert "Nothing is running" in str(texts[2])
    assert await store.db.conversations.one("session") == 2


async def test_a_word_that_is_no_command_of_ours_goes_to_the_assistant(store: Store) -> None:
    await store.say("x", command="dance")
    await WorkerHarness(store).run_turns()
    assert await replies(store) == ["re x"]


async def test_a_turn_that_kills_its_workers_is_set_aside_and_later_turns_run(store: Store) -> None:
    await store.say("deadly")
    for number in range(MAX_SOLO_CRASHES):
        await store.claim_turn(f"dead{number}")
        await store.expire()
    await store.say("next")
    await WorkerHarness(store).run_turns()
    assert await replies(store) == [SET_ASIDE, "re next"]
    assert await fates(store) == [("poison", "poison", MAX_SOLO_CRASHES + 1), ("done", "", 1)]


async def test_promise_5_absorbed_messages_are_set_aside_with_their_turn(store: Store) -> None:
    await store.say("deadly")
    for attempt in range(MAX_SOLO_CRASHES):
        _, turn = await store.claim_turn(f"dead{attempt}")
        if attempt == 1:
            # Written meanwhile, taken in, and perhaps already acted upon when the worker died.
            steered = await store.say("and pay the bill")
            item: JsonObject = {
                "id": steered.id,
                "text": "and pay the bill",
                "received_at": "2026-01-01T00:00:00+00:00",
            }
            row = StepRecord(StepKey(0, -1), StepKind.STEER, "steer", StepState.DONE, result={"messages": [item]})
            await turn.request.work.journal.write(row)
        await store.expire()
    await store.say("next")
    await WorkerHarness(store).run_turns()
    assert await replies(store) == [SET_ASIDE, "re next"]
    taken = await store.db.inbound.column("turn_id", order="seq")
    assert taken[0] == taken[1] != taken[2]


@pytest.mark.parametrize("error", [TurnDelayed("rates unknown"), StoreUnavailable("away")])
async def test_a_turn_that_must_wait_waits_and_burns_no_attempt(store: Store, error: Exception) -> None:
    async def waits(request: TurnRequest) -> TurnResult:
        raise error

    await store.say("one")
    for _ in range(MAX_SOLO_CRASHES + 2):
        await WorkerHarness(store).run_turns(waits)
        assert await store.one("select not_before > clock_timestamp() from lanes")
        await store.db.lanes.change({"not_before": None})
    await WorkerHarness(store).run_turns()
    assert (await replies(store), await fates(store)) == (["re one"], [("done", "", 1)])


async def test_promise_5_a_cancelled_turn_is_released_at_once_with_its_journal(store: Store) -> None:
    reached = asyncio.Event()

    async def long(request: TurnRequest) -> TurnResult:
        await request.work.journal.write(StepRecord(StepKey(0, 0), StepKind.MODEL, "m", StepState.DONE))
        reached.set()
        await never()
        raise AssertionError

    async def resumed(request: TurnRequest) -> TurnResult:
        assert [row.name for row in await request.work.journal.recorded()] == ["m"]
        assert request.work.attempt == 1
        return await echo(request)

    await store.say("one")
    runner = WorkerHarness(store).turn_runner(long)
    lease = await runner.claim(None)
    assert lease is not None
    task = asyncio.create_task(runner.run(lease))
    await reached.wait()
    task.cancel()
    await asyncio.wait([task])
    await WorkerHarness(store, name="w2").run_turns(resumed)
    assert (await replies(store), await fates(store)) == (["re one"], [("done", "", 1)])


async def test_promise_5_a_worker_that_lost_its_lease_stops_and_says_nothing(store: Store) -> None:
    stopped, overtaking = asyncio.Event(), asyncio.Event()

    async def overtake() -> None:
        await overtaking.wait()
        while (lease := await store.turns.claim(None, "w2")) is None:
            await store.expire()  # again, where the holder renewed in between
        turn = await store.turns.begin(lease)
        assert turn is not None
        await store.finish(lease, turn, "by another")

    async def overtaken(request: TurnRequest) -> TurnResult:
        overtaking.set()
        try:
            await never()
        except asyncio.CancelledError:
            stopped.set()
            raise
        raise AssertionError

    await store.say("one")
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        group.create_task(overtake())
        await WorkerHarness(store, lease=timedelta(seconds=0.3)).run_turns(overtaken)
    assert stopped.is_set()
    assert (await replies(store), await fates(store)) == (["by another"], [("done", "", 2)])


async def test_a_lease_is_kept_through_a_turn_that_is_longer_than_it(store: Store) -> None:
    async def slow(request: TurnRequest) -> TurnResult:
        first = await store.db.lanes.one("lease_until")

        async def over() -> bool:
            assert await store.turns.claim(None, "w2") is None
            return bool(await store.admin.fetchval("select clock_timestamp() > $1", first))

        await eventually(over, "the end of the first lease")
        return await echo(request)

    await store.say("one")
    await WorkerHarness(store, lease=timedelta(seconds=1)).run_turns(slow)
    assert (await replies(store), await fates(store)) == (["re one"], [("done", "", 1)])


async def test_the_person_sees_a_typing_sign_during_work(store: Store) -> None:
    system = WorkerHarness(store)

    async def slow(request: TurnRequest) -> TurnResult:
        await eventually(lambda: system.channel.working, "the sign")
        return await echo(request)

    await store.say("one")
    await system.run_turns(slow)
    assert [address.peer for address in system.channel.working] == ["+15550000001"]
    await store.say("", command="help")
    await system.run_turns()
    assert len(system.channel.working) == 1
