"""The agents that ship, talked with as in `dev`: by the demo model, over a real database."""

from collections.abc import AsyncIterator

import pytest

from agents.arithmetic import calculate
from agents.travel import FlightSearchAgent
from providers.models.litellm_client import LiteLLMClient
from tests.core.agents.harness import Talk
from tests.core.harness import opened
from tests.scripted_model import ScriptedModel
from workbench.demo.model import DEMO_MODEL


@pytest.fixture
async def talk(database_url: str) -> AsyncIterator[Talk]:
    """Yield a talk with the demo model; on that day it is Saturday, 21 November 2026."""
    client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await client.warm_up()
    async with opened(database_url) as store:
        yield Talk(store, ScriptedModel([]), client, agents=[FlightSearchAgent], tools=[calculate])
    await client.close()


async def test_fields_are_collected_in_any_order_reminded_of_and_dropped(talk: Talk) -> None:
    ask_all = "Where do you fly from?\nWhere do you fly to?\nOn which day do you leave?"
    assert await talk.say("flights, please") == [ask_all]
    assert await talk.say("from Berlin, next Friday") == ["Where do you fly to?"]
    assert await talk.say("what is 2+2?") == [
        "2+2 = 4 (demo model)\n\nBy the way, I still need to know: Where do you fly to?"
    ]
    assert await talk.say("what is 3+3?") == ["3+3 = 6 (demo model)"]
    [offers] = await talk.say("Rome")
    assert offers.startswith(
        "Sample data, not real flights (no flight search is set up), BERLIN to ROME on Fri 27 Nov 2026:"
    )
    assert "2+2" not in offers

    assert await talk.say("flights from Berlin to Rome") == ["On which day do you leave?"]
    assert await talk.say("never mind") == ["All right, I let that go. (demo model)"]
    assert await talk.store.db.pool_entries.count() == 0
