"""Scenario files: what they may hold, and that they are played on a whole installation, on any channel."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onevalet.testing import Scenario, ScenarioError, read_scenario
from tests.documents.blocks import write_files
from tests.shipping.harness import ROOT
from workbench.scenarios.playing import play
from workbench.scenarios.scenario import parse_scenario, read_span

HERE = Path(__file__).parent / "scenarios"
NOTE = {"call": "add_note", "with": {"text": "The boiler"}}


@pytest.fixture
def servers(database_url: str, redis_url: str) -> dict[str, object]:
    return {"database_url": database_url, "redis_url": redis_url}


def page_file(folder: Path) -> Path:
    """Write the files of docs/testing.md; return that of its scenario."""
    [path] = [path for path in write_files("docs/testing.md", folder) if path.suffix == ".toml"]
    return path


def page_scenario(folder: Path) -> Scenario:
    """Return the scenario of docs/testing.md."""
    return read_scenario(page_file(folder))


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({}, "needs steps"),
        ({"step": [{"say": "hi"}]}, r"Step 1 must have exactly one of send, file"),
        ({"step": [{"send": "hi", "expect": "hi"}]}, "Step 1 must have exactly one"),
        ({"step": [{"send": "hi"}, {"press": "OK", "within": 3}]}, "Step 2: press has no 'within'"),
        ({"step": [{"advance": "soon"}]}, "Step 1: 'soon' is no span"),
        ({"step": [{"send": 7}]}, "Step 1: `send` is a text"),
        ({"step": [{"wait": 7}]}, "Step 1: `wait` is a text"),
        ({"step": [{"wait": "memory", "channel": "sms"}]}, "Step 1: wait has no 'channel'"),
        ({"step": [{"send": "hi", "channel": "fax"}]}, "Step 1: `channel` must be one of sms, slack, telegram"),
        ({"step": [{"answer": "hi"}], "model": "demo"}, "`model` is demo, or scripted"),
        ({"step": [{"break": "the bank"}]}, "Step 1: `break` must be one of worker, web"),
        ({"step": [{"file": "a.txt"}]}, "Step 1: a file has either `content`"),
        ({"step": [{"file": "a.txt", "base64": "?"}]}, "Step 1: `base64` cannot be decoded"),
        ({"step": [{"edit": "x", "channel": "sms"}]}, "Step 1: `edit` is for slack and telegram only"),
        ({"step": [{"delete": 7}]}, "Step 1: `delete` is a list of texts"),
        ({"step": [{"send": "x", "reply_to": 7}]}, "Step 1: `reply_to` is a list of texts"),
        ({"step": [{"open": "door"}]}, "Step 1: `open` must be one of home, messages"),
        ({"step": [{"close": "door"}]}, "Step 1: `close` must be one of form"),
        ({"step": [{"press": "OK", "on": "roof"}]}, "Step 1: `on` must be one of home, form"),
        ({"step": [{"send": "x", "on": "home"}]}, "Step 1: `on` must be one of group"),
        ({"step": [{"press": "OK", "on": "group"}]}, "Step 1: `on` must be one of home, form"),
        ({"step": [{"send": "x", "mention": True}]}, "Step 1: `mention` is for a group"),
        ({"step": [{"send": "x", "on": "group", "mention": "ada"}]}, "Step 1: `mention` is true or false"),
        ({"step": [{"send": "x", "on": "group", "reply_to": "y"}]}, "Step 1: `reply_to` is not for a group"),
        ({"step": [{"choose": "Now", "menu": 7}]}, "Step 1: `menu` is a text"),
        ({"step": [{"location": {"latitude": 91, "longitude": 0}}]}, "Step 1: `latitude` of a location is a number"),
        ({"step": [{"location": {"latitude": 1, "longitude": 0, "title": "x"}}]}, "Step 1: a location has both"),
        ({"step": [{"location": {"lat": 1}}]}, "Step 1: a location has no 'lat'"),
        ({"step": [{"contact": {"first_name": "Sam"}}]}, "Step 1: a contact needs `first_name` and `phone_number`"),
        ({"step": [{"sticker": ""}]}, "Step 1: `sticker` is a text"),
        ({"step": [{"block": "yes"}]}, "Step 1: `block` is true or false"),
        ({"step": [{"phone": "lost"}]}, "Step 1: `phone` must be one of on, off"),
        ({"step": [{"callbacks": "late"}]}, "Step 1: `callbacks` must be one of in_order"),
        ({"step": [{"redeliver": 0}]}, "Step 1: `redeliver` is a number from 1 to 20"),
        ({"step": [{"file": "a.oga", "content": "x", "voice": 0}]}, "Step 1: `voice` is a number of seconds"),
        ({"step": [{"join": 7}]}, "Step 1: `join` is a text"),
        ({"step": [{"calls": [{"with": {}}]}]}, "Step 1: `calls` is a list of tables"),
        ({"step": [{"send": "hi", "channel": "mail"}]}, "Step 1: `channel` must be one of"),
        ({"step": [{"send": "hi"}], "web": {"search": {}}}, "`web` is a table of answers by path"),
        ({"step": [{"send": "hi"}], "channels": ["fax"]}, "`channels` must be one of"),
        ({"step": [{"send": "hi"}], "begin": 1}, "A scenario has no 'begin'"),
        ({"step": [{"send": "hi"}], "start": "soon"}, "`start` is a moment"),
    ],
)
def test_what_is_wrong_with_a_scenario_is_said(values: dict[str, Any], error: str) -> None:
    with pytest.raises(ScenarioError, match=error):
        parse_scenario(values)


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.scenario.toml"
    path.write_text("step =")
    with pytest.raises(ScenarioError, match=r"bad\.scenario\.toml cannot be read"):
        read_scenario(path)


def test_json_says_the_same_as_toml(tmp_path: Path) -> None:
    path = tmp_path / "one.scenario.json"
    path.write_text('{"channel": "telegram", "step": [{"send": "hi"}, {"expect": ["h", "i"]}]}')
    scenario = read_scenario(path)
    assert (scenario.title, scenario.channel, scenario.model) == ("one", "telegram", "demo")
    assert scenario.steps[1].texts == ("h", "i")


def test_spans_add_up() -> None:
    assert read_span("1d 2h 30m 5s").total_seconds() == 86_400 + 2 * 3_600 + 30 * 60 + 5


async def test_the_scenario_of_the_page_is_played(tmp_path: Path, servers: dict[str, object]) -> None:
    played = await play(page_scenario(tmp_path), servers)
    assert played.lines == ["> Note that the boiler is serviced in May", "< I wrote that down."]


async def test_a_step_that_goes_otherwise_is_named_with_the_talk(tmp_path: Path, servers: dict[str, object]) -> None:
    scenario = page_scenario(tmp_path)
    *first, last = scenario.steps
    wrong = replace(scenario, steps=(*first, replace(last, value="Never", options={"within": 3})))
    with pytest.raises(ScenarioError) as failed:
        await play(wrong, servers)
    said = str(failed.value)
    assert said.startswith("notes.scenario.toml, step 4 (expect = \"Never\"): 'Never' is in no new message.")
    assert said.endswith("  > Note that the boiler is serviced in May")


@pytest.mark.slow
@pytest.mark.parametrize("channel", ["sms", "slack", "telegram"])
async def test_one_file_is_played_on_every_channel(channel: str, servers: dict[str, object]) -> None:
    scenario = replace(read_scenario(HERE / "consent.scenario.toml"), channel=channel)
    played = await play(scenario, servers)
    assert played.lines[-1] == "< Sam has got it."


@pytest.mark.slow
async def test_an_answer_too_few_of_the_model_is_told(servers: dict[str, object]) -> None:
    steps = [
        {"answer": "Hello."},
        {"send": "hi"},
        {"expect": "Hello."},
        {"send": "again"},
        {"expect": "x", "within": 3},
    ]
    with pytest.raises(ScenarioError, match="the model was asked, and the scenario says nothing more"):
        await play(parse_scenario({"step": steps}), servers)


@pytest.mark.slow
def test_pytest_says_what_is_wrong_with_a_scenario_file(tmp_path: Path) -> None:
    # That one passes is seen where the page's is typed: tests/documents/test_typed.py.
    wrong = tmp_path / "wrong.scenario.toml"
    wrong.write_text('[[step]]\nsend = "hi"\n\n[[step]]\nadvance = "soon"\n')
    command = [sys.executable, "-m", "pytest", "-p", "onevalet.testing.plugin", "-c", os.devnull, "--rootdir", "."]
    done = subprocess.run(
        [*command, str(wrong)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert "1 failed" in done.stdout
    assert "Step 2: 'soon' is no span" in done.stdout
