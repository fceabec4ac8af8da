"""The scripted model of the faults: each word that a text ends in means one thing."""

import pytest

from core.json_types import JsonObject
from tests.faults import script
from tests.scripted_model import ModelCall

WORDS = {
    script.ACT: "act_once",
    script.CONSENT: "act_approved",
    script.AGREED: "act_agreed",
    script.POISON: "act_poison",
    script.HANG: "act_hanging",
    script.UPLOAD: "act_upload",
}


@pytest.mark.parametrize(("word", "tool"), WORDS.items())
def test_a_word_calls_its_own_tool(word: str, tool: str) -> None:
    said: JsonObject = {"role": "user", "content": f"m00001-p000 {word}"}
    reply = script.answer(ModelCall(1, 0.0, {"messages": [{"role": "system", "content": ""}, said]}, ""))
    assert tool in str(reply)
