"""The measure of models: its requests, how it judges, and a model over the wire that is right or wrong."""

import json
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text
from workbench.benchmarks.assistant.__main__ import ModelKeepsFailing, measure
from workbench.benchmarks.assistant.matching import Call, Judged, judge
from workbench.benchmarks.assistant.report import as_json, misses, table
from workbench.benchmarks.assistant.scenarios import NOTHING, Scenario, scenarios

ALL = {scenario.name: scenario for scenario in scenarios()}
RIGHT, WRONG, WRONG_ARGUMENTS = Judged(True, True), Judged(False, False), Judged(True, False)


def test_there_are_150_requests_in_six_languages() -> None:
    assert len(ALL) == 150
    assert Counter(one.language for one in ALL.values()) == dict.fromkeys(("en", "es", "de", "fr", "pt", "zh"), 25)
    assert {one.kind for one in ALL.values()} >= {"plain", "planning", "agent", "follow-up", "nothing", "question"}
    assert not [
        one.name for one in ALL.values() if re.search(r"{\w+}", json.dumps([one.text, one.earlier, one.example]))
    ]


@pytest.mark.parametrize("scenario", ALL.values(), ids=lambda one: one.name)
async def test_the_example_of_a_request_is_right_and_nothing_else_is(scenario: Scenario) -> None:
    example = [Call(name, arguments) for name, arguments in scenario.example]
    assert await judge(scenario, example) == RIGHT
    assert await judge(scenario, [Call("no_such_tool", {}), *example]) == Judged(False, False)
    if scenario.example:
        assert await judge(scenario, []) == (RIGHT if NOTHING in scenario.expected else WRONG)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("share-of.en", Call("calculate", {"expression": "17.5% of 250"})),
        ("remind-tomorrow.en", Call("remind_me", {"text": "call mum", "at": "2027-03-02T21:00"})),
        ("weather-now.en", Call("get_weather", {"city": "Cork"})),
        ("remind-when.en", Call("remind_me", {"text": "renew my passport", "at": "tomorrow"})),
        ("note.en", Call("add_note", {})),
    ],
)
async def test_wrong_arguments_of_the_right_tool_are_told_apart(name: str, call: Call) -> None:
    assert await judge(ALL[name], [call]) == WRONG_ARGUMENTS


@pytest.mark.parametrize(
    "at", ["2027-03-02T09:00", "2027-03-02T08:00:00Z", "2027-03-02T09:00:00+01:00", "tomorrow 9:00", "morgen um 9 Uhr"]
)
async def test_one_moment_is_right_however_it_is_written(at: str) -> None:
    assert await judge(ALL["remind-tomorrow.de"], [Call("remind_me", {"text": "Mama anrufen", "at": at})]) == RIGHT


async def test_two_wishes_are_met_by_both_calls_in_any_step() -> None:
    scenario = ALL["weather-and-reminder.en"]
    first, second = (Call(name, arguments) for name, arguments in scenario.example)
    assert await judge(scenario, [first]) == WRONG_ARGUMENTS
    assert await judge(scenario, [first], [second]) == RIGHT


_SOME = ["share-of.en", "weather-now.de", "remind-tomorrow.es", "drop-second.fr", "hello.zh", "email.pt"]


@pytest.mark.slow
async def test_a_model_over_the_wire_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [ALL[name] for name in _SOME]
    by_text = {one.text: one for one in chosen}

    def right(call: ModelCall) -> Reply:
        scenario = next((by_text[said] for said in call.new_user_texts if said in by_text), None)
        return calls(*scenario.example) if scenario and scenario.example else text("Done.")

    async with ScriptedModel(right) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        runs = await measure("openai/scripted", chosen, 2, onevalet_memory="off")
    assert [(run.scenario.name, run.judged, run.failure) for run in runs] == [(name, RIGHT, "") for name in _SOME]
    assert [run.model_calls for run in runs if run.scenario.id in ("hello", "weather-now")] == [2, 1]
    assert all(run.usage.input_tokens for run in runs)
    assert "| all | 6 | 100 % | 100 % |" in table(runs)
    assert misses(runs) == ""


@pytest.mark.slow
async def test_a_model_that_is_wrong_or_fails_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [ALL["note.en"], ALL["notes.en"]]

    def wrong(call: ModelCall) -> Reply:
        if "Show me" in call.last_user:
            return Reply(status=401)
        return text("Noted.")

    async with ScriptedModel(wrong) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        runs = await measure("openai/scripted", chosen, 1, onevalet_memory="off")
    assert [run.judged for run in runs] == [WRONG, WRONG]
    assert _lines(misses(runs)) == ["- note.en", "- notes.en"]
    assert "no call: Noted." in misses(runs)
    assert as_json("m", "2027-01-01", runs)["model"] == "m"


@pytest.mark.slow
async def test_a_model_that_does_not_answer_ends_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedModel(lambda _: Reply(status=401)) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        with pytest.raises(ModelKeepsFailing, match="failed 3 times in a row"):
            await measure("openai/scripted", list(ALL.values()), 1, onevalet_memory="off")
        assert len(model.calls) < 20


def _lines(text: str) -> Sequence[str]:
    return [line.partition(" “")[0] for line in text.splitlines()]
