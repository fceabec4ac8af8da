"""Answers without a model: what lets go of a question, in every language, is not taken for its value."""

from datetime import UTC, datetime

import pytest

from core.agents.field_collection import plain_answer
from core.agents.fields import InputField
from core.agents.pool_entry import PoolEntry
from core.agents.standard_agent import AgentStatus

TEXT = InputField("What shall I remind you of?")
TEXT.name = "text"
ENTRY = PoolEntry(
    "agt_1", "remind_me", None, "t", "", "c", AgentStatus.WAITING_FOR_INPUT, "1", datetime.now(UTC), asked=("text",)
)


@pytest.mark.parametrize(
    "said",
    [
        "never mind",
        "no thanks",
        "nein danke",
        "abbrechen",
        "no, gracias",
        "déjalo",
        "non merci",
        "annulez",
        "não, obrigada",
        "deixe",
        "算了",
        "取消",
    ],
)
def test_words_that_let_go_of_a_question_are_no_answer(said: str) -> None:
    assert plain_answer(ENTRY, {"text": TEXT}, said) is None
    assert plain_answer(ENTRY, {"text": TEXT}, f"{said} Bob") is not None
