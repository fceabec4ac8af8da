"""What the plugin notes of a process: each line once, by test."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from core.approvals.seal import Sealed
from tests.mutants.lines import Recorder
from tests.shipping.harness import ROOT


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder(sys.monitoring.PROFILER_ID)  # the run itself may be watched
    recorder.start()
    yield recorder
    recorder.stop()


def test_each_note_has_the_lines_that_ran_while_it_was_open(recorder: Recorder) -> None:
    sealed, now = Sealed('{"a', '"}'), datetime(2026, 11, 23, tzinfo=UTC)
    first = defaultdict[str, set[int]](set)
    recorder.note(first)
    sealed.hash(now)
    second = defaultdict[str, set[int]](set)
    assert recorder.note(second) is first
    sealed.hash(now)
    sealed.hash(now)
    recorder.note(defaultdict(set))
    assert first == second
    ((file, lines),) = first.items()
    assert file == str(ROOT / "core/approvals/seal.py")
    assert len(lines) == 2
