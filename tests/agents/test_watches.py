"""Watches that are asked for in words: what could never be looked at is refused at once, and no card is shown."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from core.json_types import JsonObject
from core.llm.types import ModelRequest
from tests.contract.channel_harnesses import SmsHarness
from tests.contract.proactive import Proactive, open_proactive
from tests.core.builders import says, wants

PUBLIC = "not on the public internet"


@pytest.fixture
async def system(database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield a worker's parts, with a person in Berlin."""
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        await system.delivery.store.admin.execute("update tenants set timezone = 'Europe/Berlin'")
        yield system


@pytest.mark.parametrize(
    ("watched", "why"),
    [
        ({"url": "http://127.0.0.1/"}, PUBLIC),
        ({"url": "http://169.254.169.254/latest/meta-data/"}, PUBLIC),
        ({"url": "http://[::1]/"}, PUBLIC),
        ({"url": "http://localhost/"}, PUBLIC),
        ({"url": "https://user:pw@shop.example/"}, "user name"),
        ({"url": "http://203.0.113.9:22/"}, "usual ports"),
        ({"tool": "stop_task"}, "stop_task does more than read"),
        ({"tool": "RemindMe"}, "no tool RemindMe"),
        ({"tool": "look_around"}, "no tool look_around"),
        ({"url": "{page}", "path": "$..*..*"}, "more than one"),
        ({"url": "{page}", "expression": "len('%099d' % value) > 1"}, "only numbers"),
    ],
)
async def test_a_watch_that_may_not_be_is_refused_before_any_card(
    system: Proactive, watched: dict[str, str], why: str
) -> None:
    given: dict[str, Any] = {"what": "tell me", "expression": "value < 3", **watched}
    given |= {name: text.replace("{page}", f"{system.web.url}/flight") for name, text in watched.items()}
    refusals: list[str] = []

    def then(request: ModelRequest) -> Any:
        refusals.extend(message.text for message in request.messages)
        return says("That cannot be watched.")

    answer = await system.hears("watch it", wants(("ScheduleTask", given)), then)
    assert answer == "That cannot be watched."
    assert why in refusals[-1]
    assert await system.delivery.store.one("select count(*) from approvals") == 0
    assert await system.delivery.store.one("select count(*) from tasks") == 0


async def test_a_watch_that_may_be_gets_its_card(system: Proactive) -> None:
    given: JsonObject = {
        "what": "tell me",
        "expression": "value < 3",
        "url": f"{system.web.url}/flight",
        "path": "$.price",
    }
    assert "When: when it becomes true" in await system.hears("watch it", wants(("ScheduleTask", given)))
