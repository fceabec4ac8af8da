"""At the cap, over every channel: the person is asked whether to go on for so much more, and decides."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from core.budgets.store import DailyBudgets
from core.llm.prices import ModelPrice
from core.llm.types import ModelAnswer, TokenUsage
from core.tools.tool import tool
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import says, wants

STOPPED = "I stopped here: the $1.00 that I may spend on you in a day is used up."


def dear(answer: ModelAnswer) -> ModelAnswer:
    """Let an answer cost half a dollar."""
    return replace(answer, usage=TokenUsage(1, 1, cost=0.5))


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield an system where a dollar a day may be spent, and every call may cost 30 cents."""
    clock = StandingClock()
    # The test moves its clock by a second: at noon that is the same day, by which budgets are kept.
    clock.at = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    async with open_approving(HARNESSES[channel], database_url, clock) as system:
        prices = (ModelPrice(0.0, 0.3, longest_answer=1),)
        system.options["budgets"] = DailyBudgets(system.delivery.store.database, system.clock, Decimal(1), prices)
        yield system


async def test_at_the_cap_the_person_is_asked_and_the_turn_uses_what_they_allow(system: Approving) -> None:
    looked: list[str] = []

    @tool
    async def look(at: str) -> str:
        """Look."""
        looked.append(at)
        return f"saw {at}"

    system.more = [look]
    system.model.script = [dear(wants(("look", {"at": "a"}))), dear(wants(("look", {"at": "b"}))), dear(says("Both."))]
    await system.say("look at a and b")
    shown = system.last()
    assert "Continue for $1.20?" in shown
    assert STOPPED in shown
    assert (looked, len(system.model.requests)) == (["a", "b"], 2)

    await system.decide("Approve")
    assert system.last() == "Both."
    assert (looked, len(system.model.requests)) == (["a", "b"], 3), "nothing is done again"
    assert system.model.told() == ["saw a", "saw b"]
    assert await system.delivery.store.db.spending.one("spent", task_id="") == Decimal("1.5")
    assert await system.delivery.store.db.turns.column("state") == ["done"]

    assert isinstance(system.clock, StandingClock)
    system.clock.move(timedelta(seconds=1))
    system.model.script = [says("never said")]
    await system.say("and again")
    assert "Continue for" in system.last(), "what was allowed was for that turn"
    await system.decide("Cancel")
    assert STOPPED in system.last()
    assert len(system.model.requests) == 3
