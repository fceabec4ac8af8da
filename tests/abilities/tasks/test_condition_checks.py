"""Looks at conditions: whatever comes back, a look ends, and one that fails counts as failed and is told."""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import pytest

from abilities.tasks.kinds.condition import ERRORS_TOLD, ConditionTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.runner import LOOKS_AT_ONCE, LOOKS_OF_A_PERSON
from abilities.tasks.types import Task
from core.http.pages import Page
from core.http.types import HttpResponse
from core.json_types import JsonObject
from tests.abilities.tasks.harness import Harness, World
from tests.eventually import eventually, never

URL = "https://shop.example/deep.json"


async def watching(harness: Harness, expression: str = "value < 300", path: str | None = None) -> Task:
    """Keep a watch on `URL`, looked at every ten minutes."""
    trigger = ConditionTrigger(expression, url=URL, path=path, every_minutes=10)
    return await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=trigger, action={"instruction": "Tell me"}, title="The price"
    )


async def looks(harness: Harness, count: int) -> None:
    """Let so many looks be made, however much later each of them is."""
    for _ in range(count):
        await harness.work()
        harness.clock.move(hours=25)


@pytest.mark.parametrize("page", ['{"price": NaN}', '{"price": 1e999}', '{"price": -Infinity}'])
async def test_a_watch_on_a_number_that_is_none_counts_as_failed_and_is_told(harness: Harness, page: str) -> None:
    task = await watching(harness, path="$.price")
    harness.world.pages[URL] = page
    await looks(harness, ERRORS_TOLD)
    refreshed = await harness.again(task)
    assert refreshed.watch["errors"] == ERRORS_TOLD
    assert refreshed.revision == ERRORS_TOLD
    assert "not been able to check “The price”" in (await harness.sent())[-1]


@dataclass(slots=True)
class Slow:
    """A world in which one person's pages never come; those of others come at once."""

    person: str
    inner: World
    asked: int = 0

    async def read_page(self, answer: HttpResponse) -> Page:
        return await self.inner.read_page(answer)

    async def fetch(self, tenant_id: str, url: str) -> HttpResponse:
        """Return a page, or never."""
        if tenant_id == self.person:
            self.asked += 1
            await never()
        return await self.inner.fetch(tenant_id, url)

    async def read(self, tenant_id: str, tool: str, arguments: JsonObject) -> str:
        """Return a tool's result."""
        return await self.inner.read(tenant_id, tool, arguments)


async def test_slow_pages_hold_up_nobody_elses_watches_and_reminders(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = await harness.store.say("hello", sender="+15550000002")
    assert others
    ben = str(await harness.store.db.identities.one("tenant_id", user_key="+15550000002"))
    slow = Slow(harness.tenant, harness.world)
    monkeypatch.setattr(harness.runner.looking, "_tools", slow)
    harness.world.pages[URL] = "299"
    for _ in range(3 * LOOKS_AT_ONCE):
        await watching(harness)
    taking = asyncio.create_task(harness.runner.take())
    try:
        await eventually(lambda: slow.asked == LOOKS_OF_A_PERSON, "the looks of the first person")
        trigger = ConditionTrigger("value < 300", url=URL, every_minutes=10)
        watch = await harness.engine.create_task(tenant_id=ben, trigger=trigger, action={"instruction": "Tell me"})
        ring = ScheduleTrigger(at=harness.clock.now() + timedelta(seconds=1))
        reminder = await harness.engine.create_task(tenant_id=ben, trigger=ring, action={"instruction": "Ring"})
        harness.clock.move(seconds=2)
        harness.runner.look()
        for task in (watch, reminder):
            await eventually(partial(harness.runs, task), "another person's run")
        assert slow.asked == LOOKS_OF_A_PERSON
    finally:
        taking.cancel()
        with suppress(asyncio.CancelledError):
            await taking


async def test_a_look_that_waited_longer_than_its_lease_is_left_to_others(harness: Harness) -> None:
    task = await watching(harness)
    async with AsyncExitStack() as held:
        for _ in range(LOOKS_OF_A_PERSON):
            await held.enter_async_context(harness.runner._slots.of(harness.tenant))
        await harness.runner.once()
        harness.clock.move(minutes=3)
    await harness.runner.looked()
    assert harness.world.looks == 0
    await harness.work()
    assert harness.world.looks == 1
    assert (await harness.again(task)).looks_begun == 0
