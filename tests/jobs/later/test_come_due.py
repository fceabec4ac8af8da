"""What is tried again is begun by a job of arq's at its moment; without the job, by the watch over what is due."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from core.clock import Clock
from core.errors import TurnDelayed, Unavailable
from core.queue.claims import ClaimedWork
from core.queue.due import DueWatch, DueWork
from core.turns.types import TurnRequest, TurnResult
from jobs.delivery import backoff
from jobs.later.queueing import QUEUE, LaterJobs
from jobs.turns import runner as turns
from tests.core.harness import Store, message
from tests.eventually import eventually
from tests.jobs.worker_harness import WorkerHarness, echo, waking_inbox
from tests.patience import PATIENCE
from tests.services import private_valkey

NEVER = timedelta(days=1)
SOON = timedelta(milliseconds=300)

type Answer = Callable[[TurnRequest], Awaitable[TurnResult]]


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers without a watch look for nothing by themselves, and try a turn again soon."""
    monkeypatch.setattr("jobs.worker.POLL", NEVER)
    monkeypatch.setattr(turns, "RETRY_DELAY", SOON)


@pytest.fixture
def put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a turn be tried again so late that its job is seen first."""
    monkeypatch.setattr(turns, "RETRY_DELAY", timedelta(seconds=1))


def delayed_once() -> Answer:
    """Return an answer whose first try cannot tell."""
    tries = 0

    async def answer(request: TurnRequest) -> TurnResult:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise TurnDelayed("not now")
        return await echo(request)

    return answer


@asynccontextmanager
async def queueing(redis_url: str) -> AsyncIterator[LaterJobs]:
    """Yield what queues jobs, as a worker has it."""
    later = LaterJobs(redis_url)
    await later.start()
    try:
        yield later
    finally:
        await later.stop()


async def waits(redis_url: str) -> int:
    """Return how many jobs wait."""
    async with Redis.from_url(redis_url) as redis:
        return int(await redis.zcard(QUEUE))


@pytest.mark.usefixtures("blind")
async def test_a_turn_that_is_tried_again_is_begun_by_a_job(store: Store, redis_url: str) -> None:
    worker = WorkerHarness(store)
    async with worker.working(redis_url, delayed_once()), waking_inbox(store, redis_url) as inbox:
        await inbox.accept(message("hello"))
        await worker.until_sent(1)
    assert worker.channel.texts == ["re hello"]
    assert await waits(redis_url) == 0


@pytest.mark.usefixtures("blind")
async def test_a_delivery_that_failed_is_tried_again_by_a_job(
    store: Store, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backoff, "FIRST", 0.3)
    worker = WorkerHarness(store)
    worker.channel.acts.append(Unavailable("busy"))
    async with worker.working(redis_url), waking_inbox(store, redis_url) as inbox:
        await inbox.accept(message("hello"))
        await worker.until_sent(1)
    assert worker.channel.texts == ["re hello", "re hello"]


@pytest.mark.usefixtures("put_off")
async def test_what_redis_forgot_is_found_by_the_watch(store: Store, redis_url: str) -> None:
    worker = WorkerHarness(store)
    watch = DueWatch(store.database, Clock())
    async with worker.working(redis_url, delayed_once(), watch=watch), waking_inbox(store, redis_url) as inbox:
        await inbox.accept(message("hello"))
        await eventually(lambda: waits(redis_url), "the job")
        async with Redis.from_url(redis_url) as redis:
            await redis.flushdb()
        await worker.until_sent(1)


async def test_without_redis_what_is_tried_again_is_found_by_the_watch(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "RETRY_DELAY", SOON)
    worker, watch = WorkerHarness(store), DueWatch(store.database, Clock())
    async with worker.working("redis://127.0.0.1:1/0", delayed_once(), watch=watch):
        await store.inbox.accept(message("hello"))
        await worker.until_sent(1)


@pytest.mark.usefixtures("blind")
async def test_a_job_that_comes_twice_or_of_nothing_does_nothing(store: Store, redis_url: str) -> None:
    worker, requests = WorkerHarness(store), list[TurnRequest]()

    async def answer(request: TurnRequest) -> TurnResult:
        requests.append(request)
        return await echo(request)

    async with (
        worker.working(redis_url, answer),
        waking_inbox(store, redis_url) as inbox,
        queueing(redis_url) as later,
    ):
        await inbox.accept(message("hello"))
        await worker.until_sent(1)
        lane = str(await store.db.lanes.one("id"))
        for after in (0.0, 0.2, 0.4):
            later.come_due(DueWork.TURNS, lane, timedelta(seconds=after))
            later.come_due(DueWork.DELIVERIES, lane, timedelta(seconds=after))
        later.come_due(DueWork.TURNS, "no_such_lane", timedelta())
        later.come_due("no such work", "row", timedelta())
        await later.sent()
        await eventually(lambda: _none_wait(redis_url), "the end of the jobs")
        await inbox.accept(message("again", "+15550000001", "2"))
        await worker.until_sent(2)
    assert [len(request.inbound) for request in requests] == [1, 1]
    assert worker.channel.texts == ["re hello", "re again"]


async def _none_wait(redis_url: str) -> bool:
    return await waits(redis_url) == 0


async def test_a_row_has_one_job_for_a_moment(redis_url: str) -> None:
    async with queueing(redis_url) as later:
        for _ in range(2):
            later.come_due("habits", "h1", timedelta(hours=1))
        later.come_due("habits", "h1", timedelta(hours=2))
        later.come_due("habits", "h2", timedelta(days=30))
        await later.sent()
        assert await waits(redis_url) in (2, 3)  # the first two may lie on both sides of a tick


async def test_arqs_worker_comes_back_after_redis_was_restarted(store: Store) -> None:
    claimed = asyncio.Queue[str | None]()

    async def claim(row_id: str | None) -> str | None:
        claimed.put_nowait(row_id)
        return None

    async def run(_: str) -> None:
        raise AssertionError("nothing is claimed")

    habits = ClaimedWork("habits", "onevalet:wake:habits", "habits", claim, run, slots=4, poll=NEVER)
    worker = WorkerHarness(store)

    async def named(row_id: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while await claimed.get() != row_id:
                pass

    async with private_valkey() as valkey, worker.working(valkey.url, claimed=[habits]):
        async with queueing(valkey.url) as later:
            later.come_due("habits", "before", timedelta())
            await named("before")
        await valkey.stop()
        await valkey.start()
        async with queueing(valkey.url) as later:
            later.come_due("habits", "after", timedelta())
            await named("after")
