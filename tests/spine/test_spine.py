"""Promises 1, 2, 4 and 6 over two web processes and two workers: four processes, real servers, real SDKs."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.spine.run import run_spine, show
from tests.spine.texts import CHANNELS

MESSAGES = 200
PEOPLE = 21


@pytest.mark.timeout(180)
@pytest.mark.xdist_group("spine")
@pytest.mark.parametrize(
    "faults",
    [(), ("flushall", "kill-worker", "postgres-away")],
    ids=["calm", "redis flushed, a worker killed, postgres away for 5 s"],
)
async def test_promises_1_2_4_6_every_message_is_kept_once_answered_once_and_in_order(
    tmp_path: Path, faults: Sequence[str]
) -> None:
    report = await run_spine(tmp_path, messages=MESSAGES, people=PEOPLE, faults=faults, channels=CHANNELS)
    assert report.findings.rows == MESSAGES, show(report)
    assert report.findings.answered == MESSAGES, show(report)
    assert report.findings.lost == 0, show(report)
    assert report.findings.doubled == 0, show(report)
    assert report.findings.out_of_order == 0, show(report)
    assert len(set(report.pids.values())) == 4
