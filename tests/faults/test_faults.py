"""All that have a short form, one after another in two harnesses; `python -m tests.faults --full` has the sizes."""

from pathlib import Path

import pytest

from tests.faults.catalogue import CATALOGUE, SHORT_HOUSE
from tests.faults.checker import show
from tests.faults.harness import make_people, open_harness
from tests.forker import Forker

# Bars in seconds are for an idle machine and the full sizes; here a miss of theirs alone is let be.
_IN_SECONDS = "work began again"


@pytest.mark.slow
@pytest.mark.xdist_group("faults")
@pytest.mark.parametrize("kept", [True, False], ids=["workers with supervisors", "workers alone"])
async def test_promises_1_to_7_and_10_hold_under_each_kind_of_fault(tmp_path: Path, forker: Forker, kept: bool) -> None:
    # Outages move everybody's clock by hours: they come last.
    tests = sorted((test for test in CATALOGUE if test.kept is kept and test.short), key=lambda test: test.name == "T7")
    async with open_harness(
        tmp_path,
        forker,
        make_people(SHORT_HOUSE.people),
        webs=SHORT_HOUSE.webs,
        workers=SHORT_HOUSE.workers,
        kept=kept,
        settings=SHORT_HOUSE.settings,
        sweep=3.0,
    ) as harness:
        for test in tests:
            assert test.short is not None
            result = await test.short(harness)
            missed = [words for words in result.missed if not words.startswith(_IN_SECONDS)]
            assert not missed, (test.name, missed, result.numbers)
            assert not [finding for finding in result.findings if finding.broken], (
                f"{test.name}\n{show(result.findings)}"
            )
