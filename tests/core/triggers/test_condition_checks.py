"""Looks at conditions: whatever comes back, a look ends, and one that fails counts as failed and is told."""

import pytest

from core.triggers.kinds.condition import ERRORS_TOLD, ConditionTrigger
from core.triggers.types import Task
from tests.core.triggers.harness import House

URL = "https://shop.example/deep.json"


async def watching(house: House, expression: str = "value < 300", path: str = "") -> Task:
    """Keep a watch on `URL`, looked at every ten minutes."""
    trigger = ConditionTrigger(expression, url=URL, path=path, every_minutes=10)
    return await house.engine.create_task(
        tenant_id=house.tenant, trigger=trigger, action={"instruction": "Tell me"}, title="The price"
    )


async def looks(house: House, count: int) -> None:
    """Let so many looks be made, however much later each of them is."""
    for _ in range(count):
        await house.work()
        house.clock.pass_by(hours=25)


@pytest.mark.parametrize("page", ['{"price": NaN}', '{"price": 1e999}', '{"price": -Infinity}'])
async def test_a_watch_on_a_number_that_is_none_counts_as_failed_and_is_told(house: House, page: str) -> None:
    task = await watching(house, path="$.price")
    house.world.pages[URL] = page
    await looks(house, ERRORS_TOLD)
    found = await house.again(task)
    assert found.watch["errors"] == ERRORS_TOLD
    assert found.revision == ERRORS_TOLD
    assert "not been able to check “The price”" in (await house.sent())[-1]
