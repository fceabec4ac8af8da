"""Tests of one group run on one worker of xdist, which share what costs seconds to start."""

import os

import pytest

from onevalet import OneValet
from providers.models.litellm_client import LiteLLMClient
from tests.model_group import GROUP


@pytest.mark.xdist_group("told apart")
def test_a_group_is_told_to_the_scheduler(request: pytest.FixtureRequest) -> None:
    assert request.node.nodeid.endswith("@told apart") == ("PYTEST_XDIST_WORKER" in os.environ)


@pytest.fixture
def client() -> LiteLLMClient:
    return LiteLLMClient("openai/scripted")


def test_a_test_whose_fixture_makes_a_client_is_of_the_models(request: pytest.FixtureRequest, client: object) -> None:
    assert _group(request) == (GROUP,)


def test_a_test_that_makes_the_assistant_is_of_the_models(request: pytest.FixtureRequest) -> None:
    assert OneValet.__name__
    assert _group(request) == (GROUP,)


def test_another_test_is_of_no_group(request: pytest.FixtureRequest) -> None:
    assert _group(request) == ()


def _group(request: pytest.FixtureRequest) -> tuple[object, ...]:
    mark = request.node.get_closest_marker("xdist_group")
    return mark.args if mark else ()
