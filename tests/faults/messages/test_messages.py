"""Promises 2, 5, 6 and 9: processes are killed by edits, deletions, reactions, places and claims; each counts once."""

from pathlib import Path

import pytest

from tests.faults.harness import make_people, open_harness
from tests.faults.messages.points import BY_NAME, MUTATIONS, SHORT
from tests.faults.messages.run import message_points
from tests.faults.results import Result, conclude, timed
from tests.forker import Forker


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
async def test_promises_2_5_6_and_9_hold_for_what_people_do_besides_writing(tmp_path: Path, forker: Forker) -> None:
    mutations = MUTATIONS[:1]
    people = make_people(len(SHORT) + len(mutations))
    result = Result("T2", "processes die of edits, reactions, places and claims", "each outcome as written down")
    async with open_harness(tmp_path, forker, people, webs=1, workers=1, started=False) as harness, timed(result):
        harness.spoilt |= await message_points(harness, result, people, points=SHORT, mutations=mutations)
        await conclude(harness, [], result)
    assert result.missed == []
    assert [finding for finding in result.findings if finding.broken] == []
    assert result.numbers["points of messages"] == f"{len(SHORT)} of {len(SHORT)}"


def test_each_removed_write_is_one_that_a_point_stands_on() -> None:
    assert all(mutation.point in BY_NAME.values() for mutation in MUTATIONS)
    assert len({(mutation.drop, mutation.point.kind) for mutation in MUTATIONS}) == len(MUTATIONS) == 6
