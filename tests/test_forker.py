"""The forker tells how a process ended, whichever had its number before."""

import os

import pytest

from tests import forker_process

PID = 4242


def test_a_process_with_the_number_of_an_ended_one_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forker_process, "_ended", {PID: -9})
    monkeypatch.setattr(os, "fork", lambda: PID)
    monkeypatch.setattr(os, "waitpid", lambda *_: (0, 0))
    assert forker_process._start({"module": "tests.forker_process"}) == PID
    assert forker_process._end_of(PID) is None
