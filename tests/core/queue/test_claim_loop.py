"""Runners and leases: bounded work, nothing cut in the middle of its claim, nothing lost at a stop."""

import asyncio
from datetime import timedelta

import pytest

from core.errors import LeaseLost, StoreUnavailable
from core.queue.claim_loop import Runner
from core.queue.lease_keepalive import kept_alive
from tests.eventually import eventually, never
from tests.patience import PATIENCE

QUICK = timedelta(milliseconds=10)
GRACE = timedelta(seconds=PATIENCE)


class Work:
    """Rows to claim and run, with an admin connection on how many run at once."""

    def __init__(self, *rows: str) -> None:
        self.waiting = list(rows)
        self.asked: list[str | None] = []
        self.running = 0
        self.most = 0
        self.done: list[str] = []
        self.handed_back: list[str] = []
        self.go_on = asyncio.Event()
        self.claimable = asyncio.Event()
        self.claimable.set()
        self.away = 0

    async def claim(self, row: str | None) -> str | None:
        """Take the named row, or the first."""
        self.asked.append(row)
        if self.away:
            self.away -= 1
            raise StoreUnavailable("away")
        taken = None
        if self.waiting and (row is None or row in self.waiting):
            taken = row or self.waiting[0]
            self.waiting.remove(taken)
        await self.claimable.wait()
        return taken

    async def run(self, row: str) -> None:
        """Work until told to go on; hand back when cancelled."""
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if row == "bad":
                raise RuntimeError("it broke")
            await self.go_on.wait()
            self.done.append(row)
        except asyncio.CancelledError:
            self.handed_back.append(row)
            raise
        finally:
            self.running -= 1


def runner(work: Work, slots: int = 2) -> Runner[str]:
    return Runner("work", work.claim, work.run, slots=slots, poll=QUICK)


async def all_have_their_turn() -> None:
    """Let whatever can go on without a timer do so: many turns of the loop, more than anything here has steps."""
    for _ in range(100):
        await asyncio.sleep(0)


async def test_at_most_so_many_run_at_once_and_what_ends_makes_room() -> None:
    work = Work(*"abcdefg")
    runs = runner(work, slots=3)
    poll = asyncio.create_task(runs.poll())
    await eventually(lambda: work.running == 3)
    await all_have_their_turn()
    assert (work.running, len(work.waiting)) == (3, 4)
    work.go_on.set()
    await eventually(lambda: len(work.done) == 7)
    assert work.most == 3
    await runs.stop(GRACE)
    await poll


async def test_a_ring_claims_its_row_only() -> None:
    work = Work("a", "b")
    runs = runner(work)
    await runs.wake("b")
    await runs.wake("unknown")
    assert (work.asked, work.running, work.waiting) == (["b", "unknown"], 1, ["a"])
    await runs.stop(timedelta())


async def test_a_ring_without_a_free_slot_claims_nothing() -> None:
    work = Work("a", "b")
    runs = runner(work, slots=1)
    await runs.wake("a")
    ring = asyncio.create_task(runs.wake("b"))
    await all_have_their_turn()
    ring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ring
    assert (work.asked, work.waiting) == (["a"], ["b"])
    work.go_on.set()
    await runs.wake("b")
    await eventually(lambda: work.done == ["a", "b"])
    await runs.stop(GRACE)


async def test_a_row_is_taken_only_while_a_slot_is_free_for_it() -> None:
    work = Work("a", "b", "c")
    runs = runner(work, slots=2)
    assert [runs.take("a"), runs.take("b"), runs.take("c")] == [True, True, False], "rows that are being claimed count"
    await eventually(lambda: work.running == 2)
    assert not runs.take("c")
    work.go_on.set()
    await eventually(lambda: len(work.done) == 2)
    await eventually(lambda: runs.take("c"))
    await eventually(lambda: sorted(work.done) == ["a", "b", "c"])
    await runs.stop(GRACE)
    assert not runs.take("d"), "nothing is taken by a worker that stops"


async def test_work_that_breaks_and_a_database_that_is_away_cost_no_slot() -> None:
    work = Work("bad", "bad", "bad", "good")
    work.away = 3
    runs = runner(work, slots=1)
    poll = asyncio.create_task(runs.poll())
    work.go_on.set()
    await eventually(lambda: work.done == ["good"])
    await runs.stop(GRACE)
    await poll


async def test_a_stop_lets_work_finish_within_its_grace_and_claims_nothing_more() -> None:
    work = Work("a", "b", "c")
    runs = runner(work)
    poll = asyncio.create_task(runs.poll())
    await eventually(lambda: work.running == 2)
    stop = asyncio.create_task(runs.stop(GRACE))
    await all_have_their_turn()
    assert not stop.done()
    work.go_on.set()
    await stop
    assert (sorted(work.done), work.handed_back, work.waiting) == (["a", "b"], [], ["c"])
    await poll


async def test_a_stop_cancels_work_past_its_grace_and_waits_for_its_release() -> None:
    work = Work("a", "b")
    runs = runner(work)
    await runs.wake("a")
    await runs.wake("b")
    await eventually(lambda: work.running == 2)
    await runs.stop(QUICK)
    assert (sorted(work.handed_back), work.done, work.running) == (["a", "b"], [], 0)


@pytest.mark.parametrize("stopping", [True, False])
async def test_a_claim_is_not_cut_in_the_middle(stopping: bool) -> None:
    # A claim that committed and whose answer nobody takes would be a lease that nobody holds.
    work = Work("a")
    work.claimable.clear()
    runs = runner(work)
    ring = asyncio.create_task(runs.wake("a"))
    await eventually(lambda: not work.waiting)
    ring.cancel()
    await asyncio.wait([ring])
    stop = asyncio.create_task(runs.stop(GRACE)) if stopping else None
    await asyncio.sleep(0)
    work.claimable.set()
    work.go_on.set()
    await eventually(lambda: work.done == ["a"])
    await (stop or runs.stop(GRACE))


async def test_a_lease_is_renewed_while_the_work_goes_on() -> None:
    renewed = 0

    async def renew() -> bool:
        nonlocal renewed
        renewed += 1
        return True

    async with kept_alive(renew, timedelta(milliseconds=30)):
        await eventually(lambda: renewed >= 3)
    assert "lease" not in {task.get_name() for task in asyncio.all_tasks()}, "nothing renews it any more"


async def test_a_lost_lease_stops_the_work() -> None:
    async def renew() -> bool:
        return False

    with pytest.raises(LeaseLost):
        async with kept_alive(renew, QUICK):
            await never()
    current = asyncio.current_task()
    assert current is not None
    assert current.cancelling() == 0


@pytest.mark.parametrize("error", [StoreUnavailable("away"), RuntimeError("odd")])
async def test_a_renewal_that_fails_is_tried_again_and_the_work_goes_on(error: Exception) -> None:
    answers: list[Exception | bool] = [error, error, True]

    async def renew() -> bool:
        answer = answers.pop(0) if answers else True
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with kept_alive(renew, QUICK):
        await eventually(lambda: not answers)


async def test_a_stop_while_the_lease_is_lost_stays_a_stop() -> None:
    async def renew() -> bool:
        return False

    async def work() -> None:
        async with kept_alive(renew, QUICK):
            try:
                await never()
            finally:
                await asyncio.sleep(0)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_the_work_comes_through() -> None:
    async def renew() -> bool:
        return True

    with pytest.raises(KeyError):
        async with kept_alive(renew, GRACE):
            raise KeyError


async def test_an_end_that_makes_room_is_followed_by_a_look_at_once() -> None:
    looked: list[float] = []
    ended = asyncio.Event()

    async def claim(_: str | None) -> str | None:
        looked.append(asyncio.get_running_loop().time())
        return "taken" if len(looked) == 1 else None

    async def run(_: str) -> bool:
        await ended.wait()
        return True

    runner = Runner("turn", claim, run, slots=2, poll=timedelta(hours=1))
    polling = asyncio.create_task(runner.poll())
    await eventually(lambda: len(looked) == 2)
    await all_have_their_turn()
    assert len(looked) == 2
    ended.set()
    await eventually(lambda: len(looked) == 3)
    polling.cancel()
    await asyncio.gather(polling, return_exceptions=True)


async def test_a_slot_that_is_held_does_the_row_that_its_holder_claimed() -> None:
    work = Work()
    loop = runner(work, slots=1)
    slot = await loop.hold()
    assert slot is not None
    assert await loop.hold() is None, "the only slot is held"
    slot.start("mine")
    await eventually(lambda: work.running == 1, "the work of the claimed row")
    work.go_on.set()
    await loop.room()
    assert (work.asked, work.done) == ([], ["mine"])
    empty = await loop.hold()
    assert empty is not None
    empty.start(None)
    await loop.room()


async def test_a_stop_waits_for_the_claim_of_a_held_slot() -> None:
    work = Work()
    work.go_on.set()
    loop = runner(work)
    slot = await loop.hold()
    assert slot is not None
    stopping = asyncio.create_task(loop.stop(GRACE))
    await all_have_their_turn()
    assert not stopping.done()
    assert await loop.hold() is None
    slot.start("mine")
    await stopping
    assert work.done == ["mine"]
