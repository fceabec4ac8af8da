"""Promises 5 and 7: processes are killed at each step with people's accounts; each mail and event is there once."""

from pathlib import Path

import pytest

from tests.faults.accounts.points import BY_NAME, MUTATIONS, SHORT
from tests.faults.accounts.run import account_points
from tests.faults.harness import make_people, open_harness
from tests.faults.results import Result, conclude, timed
from tests.forker import Forker


@pytest.mark.slow
@pytest.mark.timeout(600, func_only=True)
@pytest.mark.xdist_group("faults")
@pytest.mark.needs("dovecot")
async def test_promises_5_and_7_hold_for_accounts_under_kills(tmp_path: Path, forker: Forker) -> None:
    people = make_people(len(SHORT))
    result = Result("T2", "processes die with people's accounts", "each outcome as written down")
    async with open_harness(tmp_path, forker, people, webs=1, workers=1, started=False) as harness, timed(result):
        await account_points(harness, result, people, points=SHORT, mutations=())
        await conclude(harness, [], result)
    assert result.missed == []
    assert [finding for finding in result.findings if finding.broken] == []
    assert result.numbers["points of accounts"] == f"{len(SHORT)} of {len(SHORT)}"


def test_each_removed_write_is_one_that_a_point_stands_on() -> None:
    assert all(mutation.point in BY_NAME.values() for mutation in MUTATIONS)
    assert len({(mutation.drop, mutation.point.kind) for mutation in MUTATIONS}) == len(MUTATIONS) == 10
