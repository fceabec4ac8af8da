"""Rows of an ability that a worker claims: a wakeup names them, or they are found without; a stop waits for them."""

import asyncio
from datetime import timedelta

from core.queue.claims import ClaimedWork
from core.queue.wakeups import connect
from tests.core.harness import Store
from tests.eventually import eventually
from tests.jobs.worker_harness import WorkerHarness
from tests.patience import PATIENCE

QUEUE = "onevalet:wake:habits"


class Habits:
    """Rows that are done once each, and how."""

    def __init__(self, *, only_named: bool = False) -> None:
        self.waiting = {"h1"}
        self._only_named = only_named
        self.named: list[str | None] = []
        self.done: asyncio.Queue[str] = asyncio.Queue()
        self.may_end = asyncio.Event()

    def work(self, poll: timedelta) -> ClaimedWork[str]:
        """Declare them."""
        return ClaimedWork("habits", QUEUE, "habits", self.claim, self.run, slots=1, poll=poll)

    async def claim(self, row_id: str | None) -> str | None:
        """Take the named row, or any."""
        if not self.waiting or (row_id is None and self._only_named):
            return None
        self.named.append(row_id)
        return self.waiting.pop()

    async def run(self, row_id: str) -> None:
        """End when it may."""
        await self.may_end.wait()
        self.done.put_nowait(row_id)


async def test_a_wakeup_names_the_row_that_is_claimed(store: Store, redis_url: str) -> None:
    habits = Habits(only_named=True)
    habits.may_end.set()
    async with (
        WorkerHarness(store).working(redis_url, claimed=[habits.work(timedelta(hours=1))]),
        connect(redis_url) as redis,
    ):
        await redis.zadd(QUEUE, {"h1": 1.0})
        async with asyncio.timeout(PATIENCE):
            assert await habits.done.get() == "h1"
    assert habits.named == ["h1"]


async def test_a_row_whose_wakeup_was_lost_is_found_and_a_stop_lets_it_end(store: Store, redis_url: str) -> None:
    habits = Habits()
    async with WorkerHarness(store).working(redis_url, claimed=[habits.work(timedelta(milliseconds=10))]):
        await eventually(lambda: habits.named, "a claim")
        habits.may_end.set()
    assert (habits.named, habits.done.get_nowait()) == ([None], "h1")
