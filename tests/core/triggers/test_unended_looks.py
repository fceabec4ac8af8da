"""Looks that never end, or end their workers: they are counted, made alone, and then no more; others go on."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

import pytest

from core.errors import StoreUnavailable
from core.http.types import HttpResponse
from core.json_types import JsonObject
from core.triggers.runs.concurrency import Company
from core.triggers.runs.condition_checks import MOST_UNENDED
from core.triggers.types import TaskState
from tests.core.triggers.harness import House
from tests.core.triggers.test_condition_checks import URL, watching


class Died(BaseException):
    """What ends a worker in the middle of a look."""


@dataclass(slots=True)
class Deadly:
    """A world whose every page raises."""

    error: BaseException
    looks: int = 0

    async def fetch(self, tenant_id: str, url: str) -> HttpResponse:
        """Raise."""
        self.looks += 1
        raise self.error

    async def read(self, tenant_id: str, tool: str, arguments: JsonObject) -> str:
        """Raise."""
        raise self.error


async def die_of(house: House, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Let a worker take what is due and die of its look; False where no look was made."""
    deadly = Deadly(Died())
    with monkeypatch.context() as patched:
        patched.setattr(house.runner.looking, "_tools", deadly)
        for look in (await house.engine.fire_due()).looks:
            with suppress(Died):
                await house.runner.looking.look(look)
    return deadly.looks > 0


async def test_a_look_that_kills_its_worker_takes_so_many_and_its_person_is_told(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await watching(house)
    spans: list[float] = []
    for _ in range(MOST_UNENDED):
        assert await die_of(house, monkeypatch)
        due = (await house.again(task)).next_at
        assert due is not None
        spans.append((due - house.clock.now()).total_seconds() / 60)
        house.clock.moment = due
    assert spans == [2, 4, 8], "the next worker is left alone for longer and longer"
    house.world.pages[URL] = "299"
    await house.work()
    found = await house.again(task)
    assert (found.state, house.world.looks) == (TaskState.DISABLED, 0)
    assert "I have stopped “The price”" in (await house.sent())[-1]
    assert await house.work() == 0
    assert await house.engine.resume_task(house.tenant, task.id)
    await house.work()
    assert (await house.again(task)).watch["value"] == 299, "it can be tried again"


async def test_a_look_that_ends_is_forgotten_and_those_before_count_as_failed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await watching(house)
    assert await die_of(house, monkeypatch)
    house.clock.pass_by(minutes=5)
    await house.work()
    found = await house.again(task)
    assert (found.looks_begun, found.watch["errors"]) == (0, 2)
    house.world.pages[URL] = "310"
    house.clock.pass_by(hours=1)
    await house.work()
    assert (await house.again(task)).watch["errors"] == 0


@pytest.mark.parametrize("stopped", [StoreUnavailable("away"), asyncio.CancelledError()])
async def test_a_look_that_was_stopped_from_outside_does_not_count(
    house: House, monkeypatch: pytest.MonkeyPatch, stopped: BaseException
) -> None:
    task = await watching(house)
    house.world.pages[URL] = "310"

    with monkeypatch.context() as patched:
        patched.setattr(house.runner.looking, "_tools", Deadly(stopped))
        for _ in range(MOST_UNENDED + 1):
            await house.work()
            house.clock.pass_by(minutes=5)
    assert ((await house.again(task)).looks_begun, (await house.again(task)).state) == (0, TaskState.ACTIVE)
    await house.work()
    assert (await house.again(task)).watch["value"] == 310


async def test_a_suspected_look_is_made_while_no_other_is() -> None:
    company, order = Company(), list[str]()
    leave = asyncio.Event()

    async def work(name: str, *, alone: bool) -> None:
        async with company.joined(alone=alone):
            order.append(f"+{name}")
            await leave.wait()
            order.append(f"-{name}")

    first, second = (asyncio.ensure_future(work(name, alone=False)) for name in "ab")
    await asyncio.sleep(0)
    suspect = asyncio.ensure_future(work("suspect", alone=True))
    await asyncio.sleep(0)
    later = asyncio.ensure_future(work("c", alone=False))
    for _ in range(5):
        await asyncio.sleep(0)
    assert order == ["+a", "+b"]
    leave.set()
    await asyncio.gather(first, second, suspect, later)
    assert order[4:] == ["+suspect", "-suspect", "+c", "-c"]
