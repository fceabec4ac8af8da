"""A model's markup over the wire, streamed and whole: it is never said, and calls in it are made."""

import json
from collections.abc import Mapping

import pytest

from core import replies
from core.llm.types import ModelRequest
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import SYSTEM, user
from tests.providers.models.direct.asking import ask
from tests.providers.models.direct.replay import Transcript, replaying
from tests.providers.models.direct.transcripts import openai_call, openai_chunk, openai_usage, openai_whole, sse, whole
from tests.providers.models.markup.test_reader import CALLS, THOUGHTS, WORDS

pytestmark = [
    pytest.mark.xdist_group("model"),  # litellm takes seconds to load: once is enough
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 3, "b": 4}}\n</tool_call>'
ANSWERS: Mapping[str, str] = {
    name: THOUGHTS[name]
    for name in ("a block", "begun by the template", "thinking", "gpt-oss", "gpt-oss without marks")
}


def said(text: str, *, streamed: bool) -> Transcript:
    """Return an answer with a text, in pieces of a few letters where it is streamed."""
    if not streamed:
        return whole(openai_whole({"content": text}, "stop"))
    pieces = [openai_chunk({"content": text[at : at + 4]}) for at in range(0, len(text), 4)]
    return sse(*pieces, openai_chunk({}, "stop"), openai_usage())


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS)
async def test_what_a_model_thinks_in_its_text_reaches_nobody(
    monkeypatch: pytest.MonkeyPatch, text: str, streamed: bool
) -> None:
    told = await ask(monkeypatch, said(text, streamed=streamed), streamed=streamed, model="openai/qwen3-thinking")
    assert (told.reply.strip(), told.shown.strip(), len(told.sent)) == ("It is 5.", "It is 5.", 1)


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_call_in_a_text_is_made_and_not_said(
    monkeypatch: pytest.MonkeyPatch, streamed: bool, direct: bool
) -> None:
    answers = [said(text, streamed=streamed) for text in (f"<think>Add.</think>\nLet me see.\n{CALL}", "It is 7.")]
    told = await ask(monkeypatch, *answers, streamed=streamed, direct=direct)
    assert (told.reply, told.added, len(told.sent)) == ("It is 7.", [(3, 4)], 2)
    assert "<" not in told.shown
    back = json.dumps(told.sent[1].body["messages"])
    assert "<tool_call>" not in back
    assert "<think>" not in back


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('<tool_call>{"name": "subtract", "arguments": {}}</tool_call>', "There is no tool named 'subtract'"),
        ('<tool_call>{"name": "add", "arguments": {"a": }}</tool_call>', "JSON"),
        ("Let me see.\n<tool_call>{broken}</tool_call>", replies.SAY_SOMETHING),
        ("<think>\nHm.\n</think>\n", replies.SAY_SOMETHING),
    ],
)
async def test_a_call_that_cannot_be_made_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
) -> None:
    told = await ask(monkeypatch, *(said(part, streamed=True) for part in (text, "It is 7.")), streamed=True)
    assert (told.reply, told.added, len(told.sent)) == ("It is 7.", [], 2)
    messages = told.sent[1].body["messages"]
    assert isinstance(messages, list)
    assert complaint in json.dumps(messages[-1])


async def test_a_call_that_a_server_reads_and_leaves_in_the_text_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    both = sse(
        openai_chunk({"content": CALL}),
        openai_chunk(openai_call(0, '{"a": 3, "b": 4}', "add", "call_1")),
        openai_chunk({}, "tool_calls"),
    )
    told = await ask(monkeypatch, both, said("It is 7.", streamed=True), streamed=True)
    assert (told.reply, told.added, told.shown) == ("It is 7.", [(3, 4)], "It is 7.")


@pytest.mark.parametrize("text", [WORDS["a question"], WORDS["a code block"]])
async def test_words_about_marks_are_said(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    told = await ask(monkeypatch, said(text, streamed=True), streamed=True)
    assert (told.reply, told.shown) == (text, text)


@pytest.mark.parametrize("streamed", [True, False])
async def test_in_json_mode_a_call_that_was_thought_of_is_not_made(
    monkeypatch: pytest.MonkeyPatch, streamed: bool
) -> None:
    call = '{"tool": "add", "arguments": {"a": 3, "b": 4}}'
    text = f'Should I call {call}? No.\n</think>\n{{"final": "It is 7."}}'
    told = await ask(monkeypatch, said(text, streamed=streamed), streamed=streamed, json_mode=True)
    assert (told.reply, told.added, len(told.sent)) == ("It is 7.", [], 1)


async def test_a_request_without_tools_makes_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    client = LiteLLMClient("openai/mine")
    async with replaying(said(CALLS["Hermes in lines"], streamed=True)) as replay:
        monkeypatch.setenv("OPENAI_API_BASE", f"{replay.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        (answer,) = [chunk.answer async for chunk in client.stream(ModelRequest((SYSTEM, user("Hi")))) if chunk.answer]
        await client.close()
    assert (answer.text, answer.tool_calls) == ("Let me see.", ())


async def test_thoughts_that_a_template_began_are_not_shown_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, told = LiteLLMClient("openai/mine"), list[str]()
    async with replaying(said(THOUGHTS["begun by the template"], streamed=True)) as replay:
        monkeypatch.setenv("OPENAI_API_BASE", f"{replay.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        for _ in range(2):
            told.append("".join([chunk.text async for chunk in client.stream(ModelRequest((SYSTEM, user("Hi"))))]))
        await client.close()
    assert told[0].endswith("It is 5.")
    assert told[1] == "It is 5."
