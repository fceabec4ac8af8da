"""Tests of one group run on one worker of xdist, which share what costs seconds to start."""

import os

import pytest


@pytest.mark.xdist_group("told apart")
def test_a_group_is_told_to_the_scheduler(request: pytest.FixtureRequest) -> None:
    assert request.node.nodeid.endswith("@told apart") == ("PYTEST_XDIST_WORKER" in os.environ)
