"""Promise 5: a worker is killed between any two steps of a four-step turn, and another one finishes it."""

from pathlib import Path

import pytest

from tests.forker import Forker
from tests.kills.harness import BETWEEN, INSIDE, Fate, run_kills

DROPPED = ("0.0", "1.1")
"""A model's answer and a tool's result; `python -m tests.kills` drops at every point."""


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_5_each_tool_runs_once_with_one_answer_under_kills(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    plans = ["begun", *BETWEEN, *(f"{point} drop" for point in DROPPED)]
    fates = await run_kills(tmp_path, database_url, redis_url, plans, forker)
    assert [fate for fate in fates if fate.well is fate.plan.endswith("drop")] == []
    # Without the journal's rows the same cuts double what the tools did, or at least what the model was asked.
    for fate in fates:
        if fate.plan.endswith("drop"):
            assert fate.model_calls > 4, fate
            assert max(fate.marks.values()) == (1 if fate.plan.startswith("0.0") else 2), fate


def test_the_points_are_all_there_are_between_the_steps() -> None:
    assert BETWEEN == ("0.0", "0.1", "1.0", "1.1", "2.0", "2.1", "3.0")
    assert INSIDE == ("started 0.1", "started 1.1", "started 2.1", "acted 0", "acted 1", "acted 2")


def test_a_fate_is_well_only_when_all_of_it_is() -> None:
    well = Fate("1.1", True, ("1", "2"), {0: 1, 1: 1, 2: 1}, 4, ("all marks are made",))
    assert well.well
    assert Fate("3.0", True, ("1", "2"), {0: 1, 1: 1, 2: 1}, 5, ("all marks are made",)).well
    assert not Fate("1.1", True, ("1", "2"), {0: 1, 1: 1, 2: 1}, 5, ("all marks are made",)).well
    assert not Fate("1.1", True, ("1", "1"), {0: 1, 1: 1, 2: 1}, 4, ("all marks are made",)).well
    assert not Fate("1.1", True, ("1", "2"), {0: 1, 1: 2, 2: 1}, 4, ("all marks are made",)).well
    assert not Fate("1.1", True, ("1", "2"), {0: 1, 1: 1, 2: 1}, 4, ("all marks are made",) * 2).well
