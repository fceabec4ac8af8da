"""A worker, end to end: what people write is answered in order and once, whatever Redis does meanwhile."""

import asyncio
import time
from datetime import timedelta

import asyncpg
import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from core.db.database import Database
from core.inbox.inbox import Inbox
from core.journal.types import StepKey, StepKind, StepRecord, StepState
from core.turns.types import TurnRequest, TurnResult
from onevalet.migrating import migrate
from tests.core.harness import Store, TwiceDatabase, message, opened
from tests.eventually import eventually, never
from tests.jobs.harness import RecordingChannel
from tests.jobs.worker_harness import WorkerHarness, echo, waking_inbox
from tests.patience import PATIENCE
from tests.services import flush, private_postgres, private_valkey

PEOPLE = [f"+1555000{n:04d}" for n in range(6)]


async def write(inbox: Inbox, first: int, last: int) -> None:
    """Let everybody write these numbers, and each message come twice."""
    for number in range(first, last):
        for sender in PEOPLE:
            inbound = message(f"{number}", sender, f"{sender}/{number}")
            await asyncio.gather(inbox.accept(inbound), inbox.accept(inbound))


async def heard(store: Store, channel: RecordingChannel) -> dict[str, list[str]]:
    """Return which numbers each person was answered, in the order of arrival."""
    rows = await store.admin.fetch(
        "select p.ref, c.peer from outbound_parts p join outbound o on o.id = p.outbound_id"
        " join conversations c on c.id = o.conversation_id"
    )
    peer_of = {row["ref"]: row["peer"] for row in rows}
    answers: dict[str, list[str]] = {sender: [] for sender in PEOPLE}
    for ref, text in channel.calls:
        answers[peer_of[ref]] += text.removeprefix("re ").split("+")
    return answers


async def all_answered(store: Store, channel: RecordingChannel, count: int) -> None:
    """Wait until all is sent; every number was answered once and in order."""
    statement = (
        "select (select count(*) from inbound where state <> 'done')"
        " + (select count(*) from outbound where state <> 'sent') = 0"
    )
    await eventually(lambda: store.one(statement), "that all is answered")
    assert await heard(store, channel) == {sender: [f"{n}" for n in range(count)] for sender in PEOPLE}


async def test_promises_1_2_4_two_workers_answer_once_in_order_despite_flushes(store: Store, redis_url: str) -> None:
    channel = RecordingChannel()
    first, second = WorkerHarness(store, channel), WorkerHarness(store, channel, name="w2")
    async with waking_inbox(store, redis_url) as inbox, first.working(redis_url), second.working(redis_url):
        for number in range(5):
            await write(inbox, number, number + 1)
            await flush(redis_url)
        await all_answered(store, channel, 5)
    assert await store.db.inbound.count() == 5 * len(PEOPLE)
    assert await store.one("select max(attempts) from turns") == 1


async def test_redis_may_go_and_come_back(store: Store) -> None:
    async with private_valkey() as server:
        system = WorkerHarness(store)
        async with waking_inbox(store, server.url) as inbox, system.working(server.url):
            await write(inbox, 0, 1)
            await server.stop()
            await write(inbox, 1, 3)
            await all_answered(store, system.channel, 3)
            await server.start()
            await write(inbox, 3, 4)
            async with Redis.from_url(server.url) as redis:
                await redis.flushall()
            await all_answered(store, system.channel, 4)


async def test_a_worker_starts_without_redis(store: Store) -> None:
    system = WorkerHarness(store)
    await store.say("hello")
    async with system.working("redis://127.0.0.1:1/0"):
        await system.until_sent(1)
    assert system.channel.texts == ["re hello"]


@pytest.mark.whole("it waits for a limit of real time")
async def test_a_ring_is_answered_sooner_than_the_slow_poll_would(store: Store, redis_url: str) -> None:
    async def timed(url: str) -> float:
        system, waits = WorkerHarness(store), []
        async with waking_inbox(store, url) as inbox, system.working(url):
            for number in range(4):
                began = time.perf_counter()
                await inbox.accept(message("hi", PEOPLE[0], store.make_id("SM")))
                await system.until_sent(number + 1)
                waits.append(time.perf_counter() - began)
                await asyncio.sleep(0.1 * (number % 3))  # the poll is not always in the same phase
        return sorted(waits[1:])[1]  # with the first, all starts

    rung, polled = await timed(redis_url), await timed("redis://127.0.0.1:1/0")
    assert rung < polled / 2, (rung, polled)


async def test_promise_5_a_stop_releases_a_long_turn_to_the_next_worker_at_once(store: Store, redis_url: str) -> None:
    reached = asyncio.Event()

    async def long(request: TurnRequest) -> TurnResult:
        reached.set()
        await never()
        raise AssertionError

    await store.say("hello")
    async with WorkerHarness(store).working(redis_url, long) as process:
        await reached.wait()
        async with asyncio.timeout(PATIENCE):
            await process.stop(timedelta(seconds=0.1))
    system = WorkerHarness(store, name="w2")
    async with system.working(redis_url):
        await system.until_sent(1)
    assert system.channel.texts == ["re hello"]
    assert await store.db.turns.column("attempts") == [1]


async def test_promise_5_a_worker_that_vanishes_costs_its_lease_and_one_attempt(store: Store, redis_url: str) -> None:
    await store.say("hello")
    vanished = WorkerHarness(store, lease=timedelta(seconds=0.5))
    runner = vanished.turn_runner(echo)
    lease = await runner.claim(None)
    assert lease is not None
    assert await store.turns.begin(lease)
    system = WorkerHarness(store, name="w2")
    async with system.working(redis_url):
        await system.until_sent(1)
    assert system.channel.texts == ["re hello"]
    assert await store.db.turns.column("attempts") == [2]


async def test_the_whole_way_with_every_answer_of_postgres_lost_once(database_url: str, redis_url: str) -> None:
    async with opened(database_url, TwiceDatabase(database_url)) as store:
        system = WorkerHarness(store)
        async with waking_inbox(store, redis_url) as inbox, system.working(redis_url):
            await write(inbox, 0, 4)
            await all_answered(store, system.channel, 4)
        assert await store.one("select max(attempts) from turns") == 1
        assert await store.one("select count(*) from deliveries where outcome <> 'accepted'") == 0


@pytest.mark.slow
async def test_a_postgres_restart_in_the_middle_burns_no_attempt(redis_url: str) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def slow(request: TurnRequest) -> TurnResult:
        begun.set()
        await stopped.wait()
        await request.work.journal.write(StepRecord(StepKey(0, 0), StepKind.MODEL, "m", StepState.DONE))
        return await echo(request)

    async with private_postgres() as server:
        await migrate(server.url)
        # The worker has less patience than Postgres is away: turns and deliveries are cut, not only delayed.
        worker, patient = Database(server.url, patience=1), Database(server.url, patience=PATIENCE)
        async with opened(server.url, worker) as store:
            system = WorkerHarness(store, lease=timedelta(seconds=60))
            inbox = Store(server.url, patient, store.admin, make_id=store.make_id).inbox
            await write(inbox, 0, 1)
            async with system.working(redis_url, slow):
                await begun.wait()
                await store.admin.close()
                await server.stop()
                with capture_logs() as logs:
                    stopped.set()
                    cut = {"turn_delayed", "claim_delayed"}
                    await eventually(lambda: cut <= {line["event"] for line in logs}, "that both lost their patience")
                await server.start()
                store.admin = await asyncpg.connect(server.url)
                await write(inbox, 1, 3)
                await all_answered(store, system.channel, 3)
            assert await store.one("select max(attempts) from turns") == 1
        await patient.close()
