"""Promise 5: processes die of voices, held answers, follow-ups and groups; each outcome is there once."""

from pathlib import Path

import pytest

from tests.faults.abilities.points import BY_NAME, MUTATIONS, POINTS, SHORT
from tests.faults.abilities.run import ability_points
from tests.faults.harness import make_people, open_harness
from tests.forker import Forker


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
@pytest.mark.timeout(900)
async def test_promise_5_holds_for_voices_groups_and_follow_ups_under_kills(tmp_path: Path, forker: Forker) -> None:
    mutations = MUTATIONS[:1]
    people = make_people(len(SHORT) + len(mutations) + 1)
    async with open_harness(tmp_path, forker, people, webs=1, workers=1, started=False) as harness:
        result = await ability_points(harness, points=SHORT, mutations=mutations)
    assert result.missed == []
    assert [finding for finding in result.findings if finding.broken] == []
    assert result.numbers["points in all"] == f"{len(SHORT)} of {len(SHORT)}"


def test_each_point_is_named_once_and_each_removed_write_stands_on_one() -> None:
    assert len(BY_NAME) == len(POINTS)
    assert all(mutation.point in BY_NAME.values() for mutation in MUTATIONS)
