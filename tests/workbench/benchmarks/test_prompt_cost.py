"""Tools in groups are reached like those in full: the 150 requests, by a model that knows which tools it wants."""

import pytest

from workbench.benchmarks.assistant.scenarios import scenarios
from workbench.benchmarks.prompt_cost import IN_FULL, choices

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("model")]


async def test_150_requests_come_to_the_same_calls_with_groups_and_without() -> None:
    chosen = list(scenarios())
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
