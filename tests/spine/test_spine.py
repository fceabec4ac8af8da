"""Promises 1, 2, 4 and 6 over two web processes and two workers: four processes, real servers, real SDKs."""

from pathlib import Path

import pytest

from tests.forker import Forker
from tests.spine.run import run_spine, show
from tests.spine.texts import CHANNELS

MESSAGES = 200
PEOPLE = 21
CALM: tuple[str, ...] = ()
FAULTS = ("flushall", "kill-worker", "postgres-away")


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promises_1_2_4_6_messages_are_stored_and_answered_once_in_order(tmp_path: Path, forker: Forker) -> None:
    reports = await run_spine(
        tmp_path, forker, messages=MESSAGES, people=PEOPLE, rounds=[CALM, FAULTS], channels=CHANNELS
    )
    for report, expected in zip(reports, (MESSAGES, 2 * MESSAGES), strict=True):
        assert report.findings.kept(expected), show(report)
        assert len(set(report.pids.values())) == 4
