"""A model that refuses, or whose answer is withheld, over the wire: the person is told so, and it is paid once."""

from collections.abc import Mapping

import pytest

from core import replies
from core.llm.types import ModelAnswer, TokenUsage
from tests.providers.models.direct import transcripts
from tests.providers.models.direct.asking import ask
from tests.providers.models.direct.replay import Transcript
from tests.providers.models.direct.transcripts import openai_call, openai_chunk, openai_whole, sse

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

NO = "I cannot help with that."
WORDS: Mapping[str, tuple[bool, Transcript]] = {
    "streamed": (True, transcripts.OPENAI_STREAMED["refusal"]),
    "whole": (False, transcripts.whole(openai_whole({"content": None, "refusal": NO}, "stop"))),
}
WITHHELD: Mapping[str, tuple[str, bool, Transcript]] = {
    "OpenAI, streamed": ("openai/mine", True, transcripts.OPENAI_STREAMED["content filter"]),
    "OpenAI, whole": (
        "openai/mine",
        False,
        transcripts.whole(openai_whole({"content": ""}, "content_filter")),
    ),
    "OpenAI, in a call": (
        "openai/mine",
        True,
        sse(openai_chunk(openai_call(0, '{"a": 3, "b": 4}', "add", "call_1")), openai_chunk({}, "content_filter")),
    ),
    "Anthropic, streamed": ("anthropic/claude-sonnet-4-5", True, transcripts.CLAUDE_STREAMED["refusal"]),
    "Anthropic, whole": ("anthropic/claude-sonnet-4-5", False, transcripts.CLAUDE_WHOLE["refusal"]),
    "Gemini, streamed": ("gemini/gemini-2.5-flash", True, transcripts.GEMINI_STREAMED["safety"]),
    "Gemini, the prompt": ("gemini/gemini-2.5-flash", False, transcripts.GEMINI_WHOLE["blocked prompt"]),
}


@pytest.mark.parametrize("json_mode", [False, True])
@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("way", WORDS)
async def test_the_words_of_a_refusal_are_told_once(
    monkeypatch: pytest.MonkeyPatch, way: str, direct: bool, json_mode: bool
) -> None:
    streamed, said = WORDS[way]
    told = await ask(monkeypatch, said, streamed=streamed, direct=direct, json_mode=json_mode)
    assert told.reply == f"My language model refused to answer this: {NO}"
    assert (told.reason, len(told.sent), told.added) == ("refused", 1, [])


@pytest.mark.parametrize("way", WITHHELD)
async def test_an_answer_that_was_withheld_is_told_as_such(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    model, streamed, said = WITHHELD[way]
    told = await ask(monkeypatch, said, streamed=streamed, model=model)
    assert told.reply == replies.MODEL_WITHHELD
    assert (told.reason, len(told.sent), told.added) == ("refused", 1, [])


async def test_json_that_was_withheld_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    said = sse(openai_chunk({"content": '{"tool": "ad'}), openai_chunk({}, "content_filter"))
    told = await ask(monkeypatch, said, streamed=True, json_mode=True)
    assert (told.reply, len(told.sent)) == (replies.MODEL_WITHHELD, 1)


def test_a_refusal_is_journalled_with_its_words() -> None:
    refused = ModelAnswer(refusal=NO, finish_reason="stop")
    assert ModelAnswer.from_json(refused.to_json(), TokenUsage()) == refused
