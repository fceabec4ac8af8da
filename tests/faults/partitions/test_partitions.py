"""T20 in a small size: a partition dies, its people wait, and nothing is lost."""

import os
from pathlib import Path

import pytest

from core.errors import ConfigError
from tests.faults.partitions.run import partitions
from tests.forker import Forker
from tests.servers.plproxy import programs


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
async def test_promises_1_2_4_hold_when_one_of_two_partitions_dies(tmp_path: Path, forker: Forker) -> None:
    try:
        programs()
    except ConfigError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))
    small = {"rounds": 1, "messages": 24, "people": 16}
    result = await partitions(tmp_path / "run", forker, **small, seconds=3.0, bar=None, pause=1.0)
    assert result.well, result.missed
