"""Promises 1, 5 and 7: processes die with plugins, skills, questions and programs; each outcome is there once."""

from pathlib import Path

import pytest

from tests.faults.extensions.points import BY_NAME, MUTATIONS, POINTS, SHORT
from tests.faults.extensions.run import extension_points
from tests.faults.harness import make_people, open_harness
from tests.forker import Forker


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
async def test_promises_1_5_and_7_hold_for_extensions_under_kills(tmp_path: Path, forker: Forker) -> None:
    async with open_harness(tmp_path, forker, make_people(len(SHORT)), webs=1, workers=1, started=False) as harness:
        result = await extension_points(harness, points=SHORT, mutations=())
    assert result.missed == []
    assert [finding for finding in result.findings if finding.broken] == []
    assert result.numbers["points in all"] == f"{len(SHORT)} of {len(SHORT)}"


def test_each_point_is_named_once_and_each_removed_write_stands_on_one() -> None:
    assert len(BY_NAME) == len(POINTS)
    assert all(mutation.point in BY_NAME.values() for mutation in MUTATIONS)
