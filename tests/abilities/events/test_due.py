"""Due events: the watch over due work finds what no wakeup names, and retries come due by jobs of arq's."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest

from abilities.events import opening
from abilities.events.bus import DUE, EventBus
from abilities.events.store import EventRef, EventStore, WorkState
from abilities.events.types import Event, EventHandler
from core.clock import Clock
from core.queue.due import DueWatch
from core.queue.wakeups import RedisWakeups, Wakeups
from jobs.later.cron import Chores
from jobs.later.queueing import LaterJobs
from jobs.later.worker import LaterWorker
from onevalet import OneValet
from tests.core.harness import RecordedWakeups, Store
from tests.eventually import eventually
from tests.onevalet.test_embedding import environment as environment

LEASE = timedelta(seconds=35)
NEVER = timedelta(hours=1)
NO_REDIS = "redis://127.0.0.1:1/0"
RANG = EventRef("ann", "door", "1")


@asynccontextmanager
async def a_bus(
    store: Store, handle: EventHandler, redis_url: str = NO_REDIS, wakeups: Wakeups | None = None
) -> AsyncIterator[EventBus]:
    """Yield a bus with a subscriber, which searches for events only when it is told to."""
    bus = EventBus(redis_url, store.database, wakeups=wakeups, poll=NEVER)
    try:
        await bus.subscribe("*", handle, name="bells")
        yield bus
    finally:
        await bus.close()


@asynccontextmanager
async def running(*works: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    tasks = [asyncio.ensure_future(work()) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def failing(times: int, handled: list[str]) -> EventHandler:
    """Return a handler that fails a number of times, then notes the event."""

    async def handle(event: Event) -> None:
        nonlocal times
        times -= 1
        if times >= 0:
            raise KeyError("colour")
        handled.append(event.id)

    return handle


async def rung(store: Store) -> EventStore:
    """Store an event that a group waits for; return the events' store."""
    events = EventStore(store.database, store.make_id)
    await events.add_group("bells", "*")
    await events.keep(Event(RANG.source, "rang", id=RANG.id, tenant_id=RANG.tenant_id))
    return events


async def due_in(store: Store) -> float | None:
    """Return in how many seconds an event is due."""
    row = await store.database.call("select wait from what_is_due(null) where work = $1", DUE)
    return row["wait"] if row else None


async def test_an_event_is_due_until_it_is_handled_or_set_aside(store: Store) -> None:
    assert await due_in(store) is None
    events = await rung(store)
    assert (wait := await due_in(store)) is not None
    assert wait <= 0
    claimed = await events.claim_next("bells", LEASE)
    assert claimed is not None
    assert (wait := await due_in(store)) is not None
    assert 30 < wait <= 35, "the lease of a dead process ends then"
    await events.end(claimed, WorkState.WAITING, "KeyError", timedelta(seconds=60))
    assert (wait := await due_in(store)) is not None
    assert 55 < wait <= 60
    await store.admin.execute("update event_work set next_attempt_at = clock_timestamp()")
    claimed = await events.claim(RANG, "bells", LEASE)
    assert claimed is not None
    await events.end(claimed, WorkState.POISON, "KeyError")
    assert await due_in(store) is None
    assert await events.retry(RANG)
    assert (wait := await due_in(store)) is not None
    assert wait <= 0


async def test_each_event_is_claimed_once_the_oldest_first(store: Store) -> None:
    events = await rung(store)
    await events.add_group("others", "*")
    for id in ("2", "3"):
        await events.keep(Event("door", "rang", {"n": id}, id, "bob"))
    await store.admin.execute("update event_work set next_attempt_at = now() - '1 hour'::interval where event_id = '3'")
    claims = [await events.claim_next("bells", LEASE) for _ in range(4)]
    assert [claim and (claim.event.tenant_id, claim.event.id, claim.attempts) for claim in claims] == [
        ("bob", "3", 1), ("ann", "1", 1), ("bob", "2", 1), None,
    ]  # fmt: skip
    assert claims[0] is not None
    assert claims[0].event.data == {"n": "3"}
    assert await events.claim(RANG, "bells", LEASE) is None
    assert await events.claim(RANG, "others", LEASE) is not None


async def test_an_event_whose_person_changes_during_its_claim_is_free_again(store: Store) -> None:
    events = await rung(store)
    read = events._claim

    async def moved(*given: object) -> None:
        assert await read(EventRef("bob", "door", "1"), "bells", "own_of_another", LEASE) is None

    events._claim = moved  # type: ignore[method-assign, assignment]
    assert await events.claim_next("bells", LEASE) is None
    events._claim = read  # type: ignore[method-assign]
    claimed = await events.claim_next("bells", LEASE)
    assert claimed is not None
    assert claimed.attempts == 1, "the claim that read nothing is no attempt"


async def test_without_redis_the_watch_has_events_and_retries_handled(store: Store) -> None:
    handled: list[str] = []
    looks: list[asyncio.Future[None]] = []
    async with a_bus(store, failing(1, handled)) as bus:
        watch = DueWatch(store.database, Clock(), every=0.2)
        watch.call(DUE, lambda: looks.append(asyncio.ensure_future(bus.look())))
        async with running(watch.run):
            await bus.publish(Event("door", "rang", id="1", tenant_id="ann"))
            await eventually(lambda: handled == ["1"], "the second try")
    assert await store.db.event_work.one("attempts") == 2


async def test_an_event_that_fails_is_tried_again_by_a_job_of_its_moment(store: Store, redis_url: str) -> None:
    handled: list[str] = []
    rings: list[asyncio.Future[None]] = []
    later, wakeups = LaterJobs(redis_url), RedisWakeups(redis_url)
    await later.start()
    await wakeups.start()
    wakeups.queue_later(later)
    async with a_bus(store, failing(2, handled), redis_url, wakeups) as bus:

        def ring(work: str, _: str) -> None:
            assert work == DUE
            rings.append(asyncio.ensure_future(bus.look()))

        async with running(LaterWorker(redis_url, ring, Chores([])).run):
            await bus.publish(Event("door", "rang", id="1", tenant_id="ann"))
            await eventually(lambda: handled == ["1"], "the third try")
    assert len(rings) == 2
    await wakeups.stop()
    await later.stop()


async def test_a_retry_is_queued_for_its_moment_and_nothing_else_is(store: Store) -> None:
    wakeups, handled = RecordedWakeups(), list[str]()
    async with a_bus(store, failing(1, handled), wakeups=wakeups) as bus:
        await bus.publish(Event("door", "rang", id="1", tenant_id="ann"))
        await bus.look()
        await eventually(lambda: wakeups.later, "the retry")
        await store.admin.execute("update event_work set next_attempt_at = clock_timestamp()")
        await bus.look()
        await eventually(lambda: handled == ["1"])
    [(work, row_id, after)] = wakeups.later
    assert (work, row_id) == (DUE, "")
    assert timedelta(seconds=0.5) <= after <= timedelta(seconds=1)
    assert wakeups.queued == [("onevalet:wake:events:bells", '["ann", "door", "1"]')]


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("redis", ["with redis", "without wakeups"])
async def test_a_worker_has_events_and_retries_handled(
    store: Store, redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "ASK_ANYWAY", NEVER.total_seconds())
    if redis == "without wakeups":
        monkeypatch.setattr(RedisWakeups, "wake", lambda *_: None)
        monkeypatch.setattr(RedisWakeups, "come_due", lambda *_: None)
    handled: list[str] = []
    async with OneValet({"ONEVALET_MEMORY": "off"}) as valet:
        await valet.events.subscribe("*", failing(1, handled), name="bells")
        await valet.events.publish(Event("door", "rang", id="1", tenant_id=await valet.tenant_id("cleo")))
        await eventually(lambda: handled == ["1"], "the second try")
