"""Looks at conditions: whatever comes back, a look ends, and one that fails counts as failed and is told."""

import pytest

from abilities.tasks.kinds.condition import ERRORS_TOLD, ConditionTrigger
from abilities.tasks.types import Task
from tests.abilities.tasks.harness import Harness

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
