"""The loop around polling: whose turn it is, what is told, and what is left out."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from channels import poll_lease, polling
from channels.poll_lease import PollLease
from channels.polling import TRIES, PollLoop
from core.clock import Clock
from core.db.database import Database
from core.errors import StoreUnavailable
from tests.patience import PATIENCE


class ShakyLease(PollLease):
    """A lease whose next calls may find the database away."""

    failures = 0

    async def keep(self, offset: int, problem: str = "") -> bool:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("away")
        return await super().keep(offset, problem)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = Database(database_url, patience=1.0, size=2)
    yield opened
    await opened.close()


def loop_of(database: Database, owner: str) -> tuple[PollLoop, ShakyLease]:
    lease = ShakyLease(database, channel="telegram", account="1", owner=owner)
    return PollLoop(lease, Clock(), source="test", max_pause=1.0), lease


async def end(lease: PollLease, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time of a lease run out."""
    with monkeypatch.context() as patch:
        patch.setattr(poll_lease, "TTL", timedelta(0))
        await lease.claim()


async def test_a_problem_is_told_although_the_lease_ended_meanwhile(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, lease = loop_of(database, "one")
    await loop.claim()
    await end(lease, monkeypatch)
    await loop.tell("unreachable")
    assert (await lease.look()).problem.startswith("unreachable (since ")
    await loop.tell("")
    assert (await lease.look()).problem == ""


async def test_a_problem_that_could_not_be_stored_is_stored_later(database: Database) -> None:
    loop, lease = loop_of(database, "one")
    await loop.claim()
    lease.failures = 1
    with pytest.raises(StoreUnavailable):
        await loop.tell("unreachable")
    assert (await lease.look()).problem == ""
    await loop.tell("unreachable")
    assert (await lease.look()).problem.startswith("unreachable")


async def test_who_lost_the_lease_waits_until_the_other_ends(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "NOT_OURS_PAUSE", 0.02)
    (first, ours), (second, others) = loop_of(database, "one"), loop_of(database, "two")
    steps: list[str] = []

    async def step() -> float:
        known = await first.claim()
        steps.append("waits" if known is None else f"from {known}")
        if steps == ["from 0"]:
            await end(ours, monkeypatch)
            await second.claim()
            await second.keep(7)
            await first.keep(3)  # the lease is the other's by now
        if steps[-1] == "waits":
            await others.release()
        if len(steps) == 3:
            first.stop()
        return 0.0

    async with asyncio.timeout(PATIENCE):
        await first.run(step)
    assert steps == ["from 0", "waits", "from 7"]


def test_what_breaks_us_is_left_out_after_a_few_tries_of_its_own() -> None:
    loop = PollLoop(ShakyLease, Clock(), source="test", max_pause=1.0)  # type: ignore[arg-type]
    ours = ValueError("ours to mend")
    assert [loop.gives_up(1, ours) for _ in range(TRIES)] == [False] * (TRIES - 1) + [True]
    assert not loop.gives_up(2, ours)
    store = (StoreUnavailable("away"), asyncpg.UndefinedFunctionError("a migration is missing"))
    assert not any(loop.gives_up(3, error) for error in store * TRIES)
    loop.taken(1)
    assert not loop.gives_up(1, ours)
