"""Promise 9 over two web processes and two workers: decided once, by its person, and done at most once."""

from pathlib import Path

import pytest

from tests.approvals.harness import open_races
from tests.approvals.races import RACES
from tests.approvals.run import run_races, show
from tests.forker import Forker


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_9_approval_is_decided_once_by_its_person_under_races(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    async with open_races(tmp_path, database_url, redis_url, 2, forker, workers=1) as harness:
        findings = await run_races(harness, 27, kills=0, seed=1, deadly=4)
        assert findings.wrong == [], show(findings) + harness.logs()[-3000:]
        assert set(findings.ends) == set(RACES)
        assert findings.deadly >= 1, show(findings)
        assert findings.executed >= 6, show(findings)
        assert findings.set_aside == 0, show(findings)
        assert "Traceback" not in harness.logs()
