"""A stop reaches a turn that waits for its model, at once by a notice, and without one by the next renewal."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from core.errors import StoreUnavailable
from core.llm.types import ModelAnswer, ModelRequest, Role
from core.messaging.messages import Command
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.turns.runner import TurnRunner
from tests.core.builders import FakeModel, says
from tests.core.harness import LEASE, Store, message
from tests.eventually import eventually
from tests.jobs.turns.test_runner import fates, replies
from tests.jobs.worker_harness import WorkerHarness, waking_inbox
from tests.patience import PATIENCE

OTHER = "+15550000002"


@dataclass
class Model:
    """A model that hangs over each question until it is let go."""

    asked: int = 0
    free: asyncio.Event = field(default_factory=asyncio.Event)
    asks: asyncio.Condition = field(default_factory=asyncio.Condition)
    said: list[str] = field(default_factory=list)
    """What the person said, in the newest request."""

    async def hang(self, request: ModelRequest) -> ModelAnswer:
        async with self.asks:
            self.asked += 1
            self.said = [each.text for each in request.messages if each.role is Role.USER and not each.internal]
            self.asks.notify_all()
        await self.free.wait()
        return says("Seven")

    async def until_asked(self, times: int) -> None:
        async with asyncio.timeout(PATIENCE), self.asks:
            await self.asks.wait_for(lambda: self.asked >= times)

    def orchestrator(self) -> Orchestrator:
        return Orchestrator(FakeModel([self.hang] * 9))


@asynccontextmanager
async def hanging(store: Store, *people: str, lease: timedelta = LEASE) -> AsyncIterator[tuple[Model, TurnRunner]]:
    """Yield a runner whose turns, one a person, all wait for the model; end when they have ended."""
    model = Model()
    turns = TurnStore(store.database, store.make_id, lease)
    runner = TurnRunner(turns, model.orchestrator(), store.wakeups, {}, store.make_id, "w1")
    running: list[asyncio.Task[bool]] = []
    for person in people:
        await store.say("What is it?", sender=person)
        claimed = await runner.claim(None)
        assert claimed is not None
        running.append(asyncio.create_task(runner.run(claimed)))
    await model.until_asked(len(people))
    yield model, runner
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*running)


async def until_heard(redis_url: str) -> None:
    """Wait until a worker listens for stops."""
    async with Redis.from_url(redis_url) as redis:
        database = str(redis.connection_pool.connection_kwargs["db"])

        async def is_heard() -> bool:  # the names of channels are the whole server's, which other tests use
            return any(client["db"] == database and client["sub"] != "0" for client in await redis.client_list())

        await eventually(is_heard, "a worker that listens")


async def test_a_notice_cuts_off_the_call_of_that_turn_alone(store: Store) -> None:
    async with hanging(store, "+15550000001", OTHER) as (model, runner):
        await store.say("wrong person", command="stop")
        assert store.wakeups.interrupts == await store.column(
            "select lane_id from turns where stop_message is not null"
        )
        await runner.interrupts.look("cv_of_nobody")
        await runner.interrupts.look(store.wakeups.interrupts[0])
        assert await eventually(lambda: replies(store)) == ["Stopped: wrong person"]
        model.free.set()
    assert sorted(map(str, await replies(store))) == ["Seven", "Stopped: wrong person"]
    assert sorted(str(row[0]) for row in await fates(store)) == ["done", "interrupted"]


async def test_a_notice_without_a_stop_in_the_store_stops_nothing(store: Store) -> None:
    async with hanging(store, OTHER) as (model, runner):
        await runner.interrupts.look(str(await store.db.turns.one("lane_id")))
        model.free.set()
    assert await replies(store) == ["Seven"]


async def test_a_message_that_interrupts_cuts_off_the_call_and_both_are_answered(store: Store) -> None:
    async with hanging(store, OTHER) as (model, runner):
        await store.db.tenants.change({"while_running": "interrupt"})
        await store.say("No, what was it?", sender=OTHER)
        [lane] = store.wakeups.interrupts
        await runner.interrupts.look(lane)
        await model.until_asked(2)
        assert [str(row[0]) for row in await fates(store)] == ["interrupted", "running"]
        assert model.said == ["What is it?", "No, what was it?"]
        model.free.set()
    assert await replies(store) == ["Seven"]


@pytest.mark.parametrize("mode", ["steer", "queue"])
async def test_a_message_that_does_not_interrupt_cuts_off_nothing(store: Store, mode: str) -> None:
    async with hanging(store, OTHER) as (model, runner):
        await store.db.tenants.change({"while_running": mode})
        await store.say("No, what was it?", sender=OTHER)
        assert store.wakeups.interrupts == []
        await runner.interrupts.look(str(await store.db.turns.one("lane_id", state="running")))
        model.free.set()
    assert "interrupted" not in [str(row[0]) for row in await fates(store)]


async def test_without_a_notice_the_next_renewal_of_the_lease_finds_it(store: Store) -> None:
    async with hanging(store, OTHER, lease=timedelta(seconds=1)):
        await store.say("", sender=OTHER, command="stop")
    assert await replies(store) == ["Stopped."]


async def test_a_database_that_is_away_does_not_end_the_listening(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hanging(store, OTHER) as (model, runner):
        lane = str(await store.db.turns.one("lane_id"))

        async def away(*_: object) -> None:
            raise StoreUnavailable("away")

        with monkeypatch.context() as patch:
            patch.setattr(TurnStore, "look_for_interrupt", away)
            await runner.interrupts.look(lane)
        model.free.set()
    assert await replies(store) == ["Seven"]


async def test_the_worker_hears_over_redis_of_a_stop_in_the_web(store: Store, redis_url: str) -> None:
    model = Model()
    system = WorkerHarness(store, lease=timedelta(minutes=30))  # no renewal finds it
    orchestrator = model.orchestrator()
    async with waking_inbox(store, redis_url) as inbox, system.working(redis_url, orchestrator.handle_message):
        await inbox.accept(message("What is it?", OTHER, "SM1"))
        await model.until_asked(1)
        await until_heard(redis_url)
        await inbox.accept(message("", OTHER, "SM2", command=Command("stop", "")))
        await system.until_sent(1)
    assert system.channel.texts == ["Stopped."]
