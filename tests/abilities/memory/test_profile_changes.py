"""The facts of a profile that a model names: which are stored, and which count as told."""

import json

import pytest

from abilities.memory.extraction.profile_changes import read_changes
from core.people.profile import FactSource


@pytest.mark.parametrize(
    "answer",
    ["", "{", "[]", '{"changes": 3}', '{"changes": [1, {"key": "Bad Key", "value": "x"}, {"key": "a", "value": ""}]}'],
)
def test_an_answer_that_cannot_be_read_changes_nothing(answer: str) -> None:
    assert read_changes(answer, ["I live in Lisbon"]) == []


def test_what_nobody_wrote_is_not_told_and_secrets_are_left_out() -> None:
    told = {"home_town": "Lisbon", "mood": "cheerful", "password": "hunter2", "work": "4111 1111 1111 1111"}
    listed = [{"key": key, "value": value, "source": "told"} for key, value in told.items()]
    changes = read_changes(
        f"Here: {json.dumps({'changes': listed})}",
        ["I moved to Lisbon! My password is hunter2"],
    )
    assert [(change.key, change.source) for change in changes] == [
        ("home_town", FactSource.TOLD),
        ("mood", FactSource.INFERRED),
    ]
