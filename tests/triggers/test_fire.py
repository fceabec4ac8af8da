"""Promise 13: two workers, one of them killed again and again, and each occurrence runs once and none early.

The long form is `uv run -m tests.triggers`.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.triggers.bursts import run_burst
from tests.triggers.harness import Plan, run_plan


@pytest.mark.slow
@pytest.mark.xdist_group("kills")
async def test_promise_13_each_occurrence_runs_once_and_on_time_under_kills(
    tmp_path: Path, database_url: str, redis_url: str
) -> None:
    plan = Plan(tasks=30, again=1, span=timedelta(seconds=12), rate=10, kill_every=0.6, lease=2, people=10)
    outcome = await run_plan(tmp_path, database_url, redis_url, plan)
    assert outcome.well, outcome.lines()
    assert outcome.kills >= 2


@pytest.mark.slow
@pytest.mark.xdist_group("kills")
async def test_promise_13_200_events_4_ms_apart_are_handled_once_despite_a_kill(
    tmp_path: Path, database_url: str, redis_url: str
) -> None:
    burst = await run_burst(tmp_path, database_url, redis_url)
    assert burst.well, burst.line()
    assert burst.consumers == 3
    assert burst.again <= 8, "only what the dead consumer held was started again"
