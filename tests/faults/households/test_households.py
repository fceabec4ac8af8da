"""Promises 5 and 9: processes die while people join, leave and agree together; each outcome is there once."""

from pathlib import Path

import pytest

from tests.faults.harness import make_people, open_harness
from tests.faults.households.points import BY_NAME, MUTATIONS, POINTS, SHORT
from tests.faults.households.run import household_points
from tests.forker import Forker


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
async def test_promises_5_and_9_hold_for_households_under_kills(tmp_path: Path, forker: Forker) -> None:
    people = make_people(2 * len(SHORT))
    async with open_harness(tmp_path, forker, people, webs=1, workers=1, started=False) as harness:
        result = await household_points(harness, points=SHORT, mutations=())
    assert result.missed == []
    assert [finding for finding in result.findings if finding.broken] == []
    assert result.numbers["points in all"] == f"{len(SHORT)} of {len(SHORT)}"


def test_each_point_is_named_once_and_each_removed_write_stands_on_one() -> None:
    assert len(BY_NAME) == len(POINTS)
    assert all(mutation.point in BY_NAME.values() for mutation in MUTATIONS)
