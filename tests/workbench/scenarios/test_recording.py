"""What the page's recorder makes of acts, messages and answers, and the file that it writes."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.llm.types import ModelAnswer, ToolCall
from onevalet.testing import ScenarioError
from workbench.scenarios.catalogue import Catalogue
from workbench.scenarios.recording.acts import note_act
from workbench.scenarios.recording.answers import step_of
from workbench.scenarios.recording.expected import coded, pieces_of
from workbench.scenarios.scenario import read_text
from workbench.scenarios.writing import to_toml

BUTTON = {"type": "button", "action_id": "approve", "text": {"type": "plain_text", "text": "Approve"}}
CARD = {"ts": "1.2", "text": "A card", "thread_ts": "", "blocks": [{"type": "actions", "elements": [BUTTON]}]}
SLACK = {"bubbles": [CARD], "modals": []}
FIELD = {"type": "input", "block_id": "b1", "element": {"action_id": "subject"}, "label": {"text": "Subject"}}
TELEGRAM = {"messages": [{"message_id": 7, "keyboard": [[{"text": "Approve", "callback_data": "x:1"}]]}]}


@pytest.mark.parametrize(
    ("provider", "action", "arguments", "state", "step"),
    [
        ("twilio", "say", {"text": "Hi"}, {}, {"send": "Hi", "channel": "sms"}),
        (
            "twilio",
            "say",
            {"text": "Look", "media": [{"name": "a.png", "content_type": "image/png", "data": "AAAA"}]},
            {},
            {"file": "a.png", "base64": "AAAA", "type": "image/png", "text": "Look", "channel": "sms"},
        ),
        (
            "slack",
            "say",
            {"text": "", "files": [{"name": "a.txt", "content": "base64:AAAA"}]},
            SLACK,
            {"file": "a.txt", "base64": "AAAA", "channel": "slack"},
        ),
        ("slack", "command", {"text": "/valet new"}, SLACK, {"send": "/valet new", "channel": "slack"}),
        ("slack", "press", {"ts": "1.2", "action_id": "approve"}, SLACK, {"press": "Approve", "channel": "slack"}),
        (
            "slack",
            "submit",
            {"view_id": "V1", "values": {"b1": "Late"}},
            {"modals": [{"id": "V1", "blocks": [FIELD]}]},
            {"fill": {"Subject": "Late"}, "channel": "slack"},
        ),
        ("telegram", "start", {}, TELEGRAM, {"send": "/start", "channel": "telegram"}),
        (
            "telegram",
            "press",
            {"message_id": 7, "data": "x:1"},
            TELEGRAM,
            {"press": "Approve", "channel": "telegram"},
        ),
        (
            "telegram",
            "document",
            {"data": "AAAA", "name": "a.pdf", "content_type": "application/pdf", "caption": "Read"},
            TELEGRAM,
            {"file": "a.pdf", "base64": "AAAA", "type": "application/pdf", "text": "Read", "channel": "telegram"},
        ),
    ],
)
def test_acts_are_noted_in_a_scenarios_words(
    provider: str, action: str, arguments: dict[str, Any], state: dict[str, Any], step: dict[str, Any]
) -> None:
    noted = note_act(provider, action, arguments, state)
    assert noted.left_out == ""
    assert noted.step == step


def test_codes_moments_and_links_are_not_expected() -> None:
    card = "7K: Send an email\n\nReply OK 7K to approve. It is open until 18:30: https://x.example/a?b"
    assert pieces_of(card) == ["Send an email\n\nReply OK", "to approve. It is open until"]
    assert pieces_of("Hello, Ada.") == "Hello, Ada"
    assert pieces_of("18:30") == []


def test_a_code_in_what_a_person_writes_becomes_its_place() -> None:
    assert coded("edit 7k subject: 7K9", "7K", "{code}") == "edit {code} subject: 7K9"
    assert coded("edit 7k", "", "{code}") == "edit 7k"


def test_answers_of_every_kind_become_steps() -> None:
    one = ToolCall("1", "get_weather", '{"city": "Rome", "date": null}')
    assert step_of(ModelAnswer("Sunny.")) == {"answer": "Sunny."}
    assert step_of(ModelAnswer(tool_calls=(one,))) == {"call": "get_weather", "with": {"city": "Rome"}}
    both = step_of(ModelAnswer("I look.", tool_calls=(one, ToolCall("2", "list_notes", ""))))
    assert both["beside"] == "I look."
    assert both["calls"] == [
        {"name": "get_weather", "with": {"city": "Rome"}},
        {"name": "list_notes", "with": {}},
    ]


def test_the_file_that_is_written_says_what_was_recorded() -> None:
    odd = 'He said "no\\n" \x7f\t\u00fc \u4f60'
    values = {
        "title": "A story",
        "start": datetime(2027, 1, 4, 9, tzinfo=UTC),
        "settings": {"ONEVALET_MEMORY": "on"},
        "step": [
            {"call": "add_note", "with": {"text": odd, "odd name": [1, 2.5, True, {}]}},
            {"send": odd, "pause": 1.5},
            {"expect": ["a" * 80, "b" * 80]},
        ],
    }
    scenario = read_text(to_toml(values), Path("a.scenario.toml"))
    assert (scenario.title, scenario.start) == (values["title"], values["start"])
    assert scenario.settings == values["settings"]
    call, send, expect = scenario.steps
    assert call.calls == [("add_note", {"text": odd, "odd name": [1, 2.5, True, {}]})]
    assert (send.value, send.pause) == (odd, 1.5)
    assert expect.texts == ("a" * 80, "b" * 80)


def test_a_catalogue_keeps_ones_own_and_never_what_ships(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path / "own")
    text = 'title = "Mine"\n[[step]]\nsend = "hi"\n'
    catalogue.save("mine", text)
    assert next((one.name, one.own) for one in catalogue.all()) == ("mine", True)
    with pytest.raises(ScenarioError, match="already"):
        catalogue.save("mine", text)
    with pytest.raises(ScenarioError, match="already"):
        catalogue.save("trip", text)
    with pytest.raises(ScenarioError, match="A name has small letters"):
        catalogue.save("../mine", text)
    with pytest.raises(ScenarioError, match="needs steps"):
        catalogue.save("empty", 'title = "x"')
    with pytest.raises(ScenarioError, match="What ships"):
        catalogue.delete("trip")
    catalogue.delete("mine")
    assert not [one for one in catalogue.all() if one.own]


def test_a_file_of_ones_own_that_cannot_be_read_is_listed_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "bad.scenario.toml").write_text("step =")
    [bad] = [one for one in Catalogue(tmp_path).all() if one.own]
    assert "cannot be read" in bad.error
