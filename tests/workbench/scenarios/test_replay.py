"""How a replay that is watched goes: at its own speed, fast or step by step, and what it says of each step."""

import asyncio

import pytest

from core.errors import RequestRefused
from tests.eventually import eventually
from workbench.scenarios.replay import Replay, Speed
from workbench.scenarios.scenario import Scenario, parse_scenario
from workbench.scenarios.step_words import words_of

HOUR = 3600.0
STEPS = [{"answer": "Hello."}, {"send": "hi", "pause": HOUR}, {"expect": ["He", "lo"]}, {"advance": "2h"}]


@pytest.fixture
def scenario() -> Scenario:
    return parse_scenario({"title": "A story", "step": STEPS})


async def go(replay: Replay, scenario: Scenario) -> None:
    for step in scenario.steps:
        await replay.begin(step)
        replay.done(step, f"told {step.number}")
    replay.end()


async def let_others_go_on() -> None:
    """Let each task go as far as it can by itself."""
    for _ in range(20):
        await asyncio.sleep(0)


def states(replay: Replay) -> list[str]:
    steps = replay.shown()["steps"]
    assert isinstance(steps, list)
    return [str(step["state"]) for step in steps if isinstance(step, dict)]


async def test_step_by_step_waits_before_each_act_and_nothing_else(scenario: Scenario) -> None:
    replay = Replay(scenario, Speed.STEP)
    going = asyncio.create_task(go(replay, scenario))
    await eventually(lambda: states(replay) == ["done", "now", "later", "later"])
    await let_others_go_on()
    assert states(replay) == ["done", "now", "later", "later"]
    replay.lead({"next": True})
    await eventually(lambda: states(replay) == ["done", "done", "done", "now"])
    await let_others_go_on()
    replay.lead({"speed": "fast"})
    await going
    assert replay.shown()["ended"] is True


async def test_a_pause_is_waited_for_only_at_its_own_speed(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.scenarios.replay.LONGEST_PAUSE", HOUR)
    fast = Replay(scenario, Speed.FAST)
    await go(fast, scenario)
    own = Replay(scenario, Speed.OWN)
    going = asyncio.create_task(go(own, scenario))
    await eventually(lambda: states(own) == ["done", "now", "later", "later"])
    own.lead({"speed": "step"})  # in the middle of a pause
    await let_others_go_on()
    assert states(own)[1] == "now"
    own.lead({"speed": "fast"})
    await going


def test_the_first_difference_is_told(scenario: Scenario) -> None:
    replay = Replay(scenario, Speed.FAST)
    replay.failed(scenario.steps[2], "no message came.")
    replay.end("all of it")
    assert states(replay)[2] == "failed"
    assert replay.shown()["error"] == "no message came."


def test_what_cannot_be_asked_is_refused(scenario: Scenario) -> None:
    with pytest.raises(RequestRefused):
        Replay(scenario, Speed.FAST).lead({"speed": "backwards"})


def test_every_step_has_words() -> None:
    steps = [
        {"calls": [{"name": "a"}, {"name": "b"}]},
        {"fill": {"Subject": "Late"}},
        {"fault": "slack.*", "kind": "page"},
        {"silence": 2},
        {"break": "worker"},
    ]
    scenario = parse_scenario({"model": "scripted", "step": steps})
    assert [words_of(step) for step in scenario.steps] == ["a, b", "Subject: Late", "slack.*: page", "2 s", "worker"]
