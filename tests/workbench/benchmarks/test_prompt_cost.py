"""Tools in groups are reached like those in full: by requests of a model that knows which tools it wants."""

import pytest

from tests.examples import sized
from workbench.benchmarks.assistant.scenarios import scenarios
from workbench.benchmarks.prompt_cost import IN_FULL, choices

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("model")]


EACH = sized(4, full=1)
"""Of 150 requests, 25 in each of six languages, every fourth: so each of the 25 is there, and each language."""


async def test_requests_come_to_the_same_calls_with_groups_and_without() -> None:
    chosen = list(scenarios())[::EACH]
    assert len({one.id for one in chosen}) == 25
    whole = await choices(chosen, opens=True, **IN_FULL)
    opened, named = await choices(chosen, opens=True), await choices(chosen, opens=False)
    assert whole.met == opened.met == named.met == len(chosen)
    assert whole.reached == opened.reached == named.reached
    in_groups = sum(any(name in IN_GROUPS for name, _ in one.example) for one in chosen)
    follow_ups = sum(one.id == FOLLOW_UP for one in chosen)
    assert opened.model_calls - whole.model_calls == follow_ups, "the words of all others open their group"
    assert named.model_calls == whole.model_calls
    assert in_groups / len(chosen) < 0.25


FOLLOW_UP = "another-day"
"""It goes on from a talk about flights, of which its own words say nothing."""
IN_GROUPS = ("FlightSearchAgent", "ScheduleTask", "SendEmailAgent")
