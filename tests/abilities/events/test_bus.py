"""The event bus: kept first, handled once per group, whoever dies and whatever Redis forgets."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from unittest.mock import patch

import pytest
from redis.asyncio import Redis

from abilities.events.bus import EventBus
from abilities.events.store import ClaimedEvent, EventRef
from abilities.events.types import Event, UnreadableEvent
from core.http.peer import PERSON
from tests.core.harness import Store
from tests.eventually import eventually
from tests.services import flush

FAST = timedelta(milliseconds=200)
NEVER = timedelta(hours=1)
PREFIX = "onevalet:wake:events:"
QUEUE = f"{PREFIX}shop:*"


@asynccontextmanager
async def a_bus(store: Store, redis_url: str, tries: int = 5, poll: timedelta = FAST) -> AsyncIterator[EventBus]:
    """Yield a bus as a process has one; closed at the end."""
    bus = EventBus(redis_url, store.database, poll=poll, handle_within=timedelta(milliseconds=300), tries=tries)
    try:
        yield bus
    finally:
        await bus.close()


async def searched(bus: EventBus) -> None:
    """Wait for a search from now on that finds no event to do again."""
    searches, claim_next = 0, bus.store.claim_next

    async def counted(group: str, lease: timedelta) -> ClaimedEvent | None:
        nonlocal searches
        claimed = await claim_next(group, lease)
        searches += claimed is None
        return claimed

    with patch.object(bus.store, "claim_next", counted):
        await eventually(lambda: searches > 0, "a search that began after now")


async def kill(bus: EventBus) -> None:
    """Let a process die: nothing is finished, nothing handed back."""

    async def nothing(*_: object, **__: object) -> bool:
        return False

    bus.store.end = nothing  # type: ignore[method-assign]
    for group in bus._groups.values():
        tasks = [*group.parts, *group.runner._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    bus._groups.clear()


@pytest.mark.parametrize("flushed", [False, True], ids=["redis stays", "redis forgets all"])
async def test_promise_13_200_events_4_ms_apart_run_once_across_a_restart(
    store: Store, redis_url: str, flushed: bool
) -> None:
    handled: Counter[str] = Counter()
    by: Counter[str] = Counter()

    def worker(name: str) -> Callable[[Event], Awaitable[None]]:
        async def handle(event: Event) -> None:
            handled[event.id] += 1  # before the wait: one that is begun twice counts twice
            by[name] += 1
            await asyncio.sleep(0.01)

        return handle

    async with a_bus(store, redis_url) as web, a_bus(store, redis_url) as first, a_bus(store, redis_url) as second:
        await first.subscribe("door:*", worker("one"), name="tasks")
        await second.subscribe("door:*", worker("two"), name="tasks")
        for number in range(200):
            assert await web.publish(Event("door", "opened", {"n": number}, f"{number}", "ann"))
            await asyncio.sleep(0.004)
            if number == 100:
                await first.close()
                await first.subscribe("door:*", worker("one again"), name="tasks")
                if flushed:
                    await flush(redis_url)
        await eventually(lambda: len(handled) == 200)
        for bus in (first, second):
            await searched(bus)
    assert handled == {f"{number}": 1 for number in range(200)}
    assert min(by["one"], by["two"], by["one again"]) > 10, f"the load was not shared: {by}"
    assert await store.column("select distinct state from event_work") == ["done"]


async def test_what_a_dead_consumer_held_is_handled_by_another_and_burns_one_try(store: Store, redis_url: str) -> None:
    holding = asyncio.Event()
    handled: list[str] = []

    async def hang(_: Event) -> None:
        holding.set()
        await asyncio.Event().wait()

    async def handle(event: Event) -> None:
        handled.append(event.id)

    async with a_bus(store, redis_url) as first, a_bus(store, redis_url) as second:
        first._lease = second._lease = timedelta(milliseconds=400)
        await first.subscribe("*", hang, name="tasks")
        await second.publish(Event("door", "opened", id="1", tenant_id="ann"))
        await holding.wait()
        await kill(first)
        await second.subscribe("*", handle, name="tasks")
        await eventually(lambda: bool(handled))
        await eventually(lambda: not second._groups["tasks"].runner._tasks)
    assert handled == ["1"]
    assert await store.db.event_work.one("attempts") == 2


async def test_what_was_published_before_anybody_subscribed_is_handled(store: Store, redis_url: str) -> None:
    handled: list[tuple[str, str]] = []

    async def handle(event: Event) -> None:
        handled.append((event.tenant_id, event.key))

    async with a_bus(store, redis_url) as bus:
        await bus.publish(Event("door", "opened", id="1", tenant_id="ann"))
        await bus.publish(Event("mail", "came", id="2", tenant_id="bob"))
        await bus.subscribe("door:*", handle)
        await eventually(lambda: bool(handled))
        # Known again after a stop, and nothing is missed meanwhile.
        await bus.close()
        await bus.publish(Event("door", "closed", id="3", tenant_id="bob"))
        await bus.subscribe("door:*", handle)
        await eventually(lambda: len(handled) == 2)
        # Nothing is kept for who unsubscribed.
        await bus.unsubscribe("door:*")
        await bus.publish(Event("door", "closed", id="4", tenant_id="bob"))
        assert await store.db.event_work.count(event_id="4") == 0
    assert handled == [("ann", "door:1"), ("bob", "door:3")]


async def test_the_same_event_of_a_tenant_is_one_and_of_two_tenants_two(store: Store, redis_url: str) -> None:
    async with a_bus(store, redis_url) as bus:
        event = Event("door", "opened", {"text": "a\x00b\ud800"}, "1", "ann")
        assert [await bus.publish(event), await bus.publish(event)] == [True, False]
        assert await bus.publish(Event("door", "opened", id="1", tenant_id="bob"))
        assert await bus.publish(Event("door", "opened", id="2", tenant_id="ann"), also="1") is False
        assert await bus.publish(Event("door", "opened", tenant_id="ann"))
    assert await store.db.events.count() == 3


async def test_promise_12_an_event_is_handled_in_its_persons_share(store: Store, redis_url: str) -> None:
    persons = dict[str, str]()

    async def handle(event: Event) -> None:
        persons[event.tenant_id] = PERSON.get()

    async with a_bus(store, redis_url) as bus:
        await bus.subscribe("door:*", handle)
        for person in ("ann", "bob"):
            await bus.publish(Event("door", "opened", tenant_id=person))
        await eventually(lambda: len(persons) == 2, "both events")
    assert persons == {"ann": "ann", "bob": "bob"}


@pytest.mark.parametrize("how", ["fails", "says so", "hangs"])
async def test_a_poison_event_is_set_aside_with_its_reason_and_the_others_go_on(
    store: Store, redis_url: str, how: str
) -> None:
    handled: list[str] = []
    breaks = {"bad"}

    async def handle(event: Event) -> None:
        if event.id in breaks and how == "fails":
            raise KeyError("colour")
        if event.id in breaks and how == "says so":
            raise UnreadableEvent("it has no colour")
        if event.id in breaks:
            await asyncio.Event().wait()
        handled.append(event.id)

    async with a_bus(store, redis_url, tries=1 if how == "hangs" else 2) as bus:
        await bus.subscribe("*", handle, name="tasks")
        for id in ("1", "bad", "2"):
            await bus.publish(Event("door", "opened", id=id, tenant_id="ann"))
        await eventually(lambda: len(handled) == 2)
        [record] = await eventually(lambda: bus.store.recent("ann", poison_only=True))
        assert record.event.id == "bad"
        assert record.reason == {
            "fails": "KeyError: 'colour'", "says so": "it has no colour", "hangs": "TimeoutError: ",
        }[how]  # fmt: skip
        assert record.attempts == {"fails": 2, "says so": 1, "hangs": 1}[how]
        breaks.clear()
        assert await bus.store.retry(EventRef("ann", "door", "bad"))
        await eventually(lambda: "bad" in handled, "the event that was set aside")
        assert (await bus.store.recent("ann", poison_only=True)) == []


async def test_without_redis_events_are_handled_all_the_same(store: Store) -> None:
    handled: list[str] = []

    async def handle(event: Event) -> None:
        handled.append(event.id)

    async with a_bus(store, "redis://127.0.0.1:1/0") as bus:
        await bus.subscribe("*", handle)
        await bus.publish(Event("door", "opened", id="1", tenant_id="ann"))
        await eventually(lambda: handled == ["1"])


async def test_channels_publish_receipts_and_failed_deliveries_to_subscribers(store: Store) -> None:
    bus = EventBus("redis://127.0.0.1:1/0", store.database)
    await store.say("nobody asked")
    [tenant] = await store.db.identities.column("tenant_id")
    assert await bus.store.recent(str(tenant)) == []
    await store.admin.execute(
        "insert into tasks (tenant_id, id, number, title, kind, trigger, anchor, created_at)"
        " values ($1, 'tsk_1', 1, 'watch', 'event', '{\"source\": \"*\", \"type\": \"*\"}', now(), now())",
        tenant,
    )
    await store.say("")  # as a press: no message
    await store.enqueue("cannot be said")
    claim = await store.claim_sending("cannot be said")
    await store.outbox.fail(claim, "no")
    failed, received = (record.event for record in await bus.store.recent(str(tenant)))
    assert (received.source, received.type, received.data["text"]) == ("sms", "message.received", "hello")
    assert (failed.source, failed.type, failed.data["reason"]) == ("sms", "delivery.failed", "no")
    await bus.close()


async def test_what_stands_in_a_queues_place_is_deleted_and_no_event_is_lost(store: Store, redis_url: str) -> None:
    seen: list[str] = []

    async def handle(event: Event) -> None:
        seen.append(event.id)

    async with Redis.from_url(redis_url) as redis, a_bus(store, redis_url) as bus:
        await redis.set(QUEUE, "PWNED")
        await bus.subscribe("shop:*", handle)
        await bus.publish(Event("shop", "sold", id="e0", tenant_id="ann"))
        await eventually(lambda: seen == ["e0"])
        await eventually(lambda: gone(redis), "that the key is deleted")


async def gone(redis: Redis) -> bool:
    return not await redis.exists(QUEUE)


async def test_a_wakeup_has_an_event_handled_by_a_process_that_never_looks(store: Store, redis_url: str) -> None:
    seen: list[tuple[str, str, str]] = []

    async def handle(event: Event) -> None:
        seen.append((event.tenant_id, event.source, event.id))

    async with a_bus(store, redis_url) as web, a_bus(store, redis_url, poll=NEVER) as bus:
        await bus.subscribe("*", handle)
        for tenant_id, id in (("ann", 'a "quote"\n'), ("bob", "ü😀")):
            await web.publish(Event("a shop", "sold", id=id, tenant_id=tenant_id))
        await eventually(lambda: len(seen) == 2)
        await web.hurry("*", [EventRef("ann", "a shop", "no such event")])
        async with Redis.from_url(redis_url) as redis:
            await redis.zadd(f"{PREFIX}*", {"no event at all": 1.0})
        await web.publish(Event("a shop", "sold", id="last", tenant_id="ann"))
        await eventually(lambda: len(seen) == 3, "that the wakeups after a wrong one are heard")
    assert sorted(seen[:2]) == [("ann", "a shop", 'a "quote"\n'), ("bob", "a shop", "ü😀")]
