"""Looks that never end, or end their workers: they are counted, made alone, and then no more; others go on."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

import pytest

from abilities.tasks.runs.concurrency import SharedSlot
from abilities.tasks.runs.condition_checks import MAX_UNENDED
from core.errors import StoreUnavailable
from core.http.types import HttpResponse
from core.json_types import JsonObject
from core.tools.context import TaskState
from tests.abilities.tasks.harness import Harness
from tests.abilities.tasks.test_condition_checks import URL, watching


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


async def die_of(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Let a worker take what is due and die of its look; False where no look was made."""
    deadly = Deadly(Died())
    with monkeypatch.context() as patched:
        patched.setattr(harness.runner.looking, "_tools", deadly)
        for look in (await harness.engine.fire_due()).looks:
            with suppress(Died):
                await harness.runner.looking.look(look)
    return deadly.looks > 0


async def test_a_look_that_kills_its_worker_takes_so_many_and_its_person_is_told(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await watching(harness)
    spans: list[float] = []
    for _ in range(MAX_UNENDED):
        assert await die_of(harness, monkeypatch)
        due = (await harness.again(task)).next_at
        assert due is not None
        spans.append((due - harness.clock.now()).total_seconds() / 60)
        harness.clock.at = due
    assert spans == [2, 4, 8], "the next worker is left alone for longer and longer"
    harness.world.pages[URL] = "299"
    await harness.work()
    refreshed = await harness.again(task)
    assert (refreshed.state, harness.world.looks) == (TaskState.DISABLED, 0)
    assert "I have stopped “The price”" in (await harness.sent())[-1]
    assert await harness.work() == 0
    assert await harness.engine.resume_task(harness.tenant, task.id)
    await harness.work()
    assert (await harness.again(task)).watch["value"] == 299, "it can be tried again"


async def test_a_look_that_ends_is_forgotten_and_those_before_count_as_failed(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await watching(harness)
    assert await die_of(harness, monkeypatch)
    harness.clock.move(minutes=5)
    await harness.work()
    refreshed = await harness.again(task)
    assert (refreshed.looks_begun, refreshed.watch["errors"]) == (0, 2)
    harness.world.pages[URL] = "310"
    harness.clock.move(hours=1)
    await harness.work()
    assert (await harness.again(task)).watch["errors"] == 0


@pytest.mark.parametrize("stopped", [StoreUnavailable("away"), asyncio.CancelledError()])
async def test_a_look_that_was_stopped_from_outside_does_not_count(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, stopped: BaseException
) -> None:
    task = await watching(harness)
    harness.world.pages[URL] = "310"

    with monkeypatch.context() as patched:
        patched.setattr(harness.runner.looking, "_tools", Deadly(stopped))
        for _ in range(MAX_UNENDED + 1):
            await harness.work()
            harness.clock.move(minutes=5)
    assert ((await harness.again(task)).looks_begun, (await harness.again(task)).state) == (0, TaskState.ACTIVE)
    await harness.work()
    assert (await harness.again(task)).watch["value"] == 310


async def test_a_look_that_may_crash_is_made_while_no_other_is() -> None:
    company, order = SharedSlot(), list[str]()
    leave = asyncio.Event()

    async def work(name: str, *, alone: bool) -> None:
        async with company.enter(alone=alone):
            order.append(f"+{name}")
            await leave.wait()
            order.append(f"-{name}")

    first, second = (asyncio.ensure_future(work(name, alone=False)) for name in "ab")
    await asyncio.sleep(0)
    lonely = asyncio.ensure_future(work("lonely", alone=True))
    await asyncio.sleep(0)
    later = asyncio.ensure_future(work("c", alone=False))
    for _ in range(5):
        await asyncio.sleep(0)
    assert order == ["+a", "+b"]
    leave.set()
    await asyncio.gather(first, second, lonely, later)
    assert order[4:] == ["+lonely", "-lonely", "+c", "-c"]
