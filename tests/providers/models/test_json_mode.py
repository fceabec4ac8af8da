"""The JSON protocol: what is read, what is repaired, what is asked again, and what never reaches the person."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json_types import Json, JsonObject
from core.llm.types import ChatMessage, ModelAnswer, ModelRequest, Role, TokenUsage, ToolCall, ToolSpec
from providers.models.json_mode import MAX_CORRECTIONS, from_json_mode, read_answer
from providers.models.markup.loose_json import Reading
from tests.core.builders import SYSTEM, user

TOOLS = ("add", "look")
ASKED = ModelRequest((SYSTEM, user("Hello")), tuple(ToolSpec(name, "", {}) for name in TOOLS))
ONE = TokenUsage(10, 1)


def read(text: str, tools: tuple[str, ...] = TOOLS, *, spoken: bool = True) -> list[tuple[str, Json]] | str | None:
    """Return the calls, the answer, or None."""
    answer = read_answer(ModelAnswer(text), tools, spoken=spoken)
    if answer is None:
        return None
    return [(call.name, json.loads(call.arguments)) for call in answer.tool_calls] or answer.text


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "add", "arguments": {"a": 1}}',
        '{"tool": "add", "args": {"a": 1}}',
        '{"name": "add", "parameters": {"a": 1}}',
        '```json\n{"tool": "add", "arguments": {"a": 1,},}\n```',
        'I will add [them].\n{"tool": "add", "arguments": {"a": 1}} Then I go on.',
        "{'tool': 'add', 'arguments': {'a': 1}}",
        '{"tool": "add", "arguments": {"a": 1}',
        '[{"tool": "add", "arguments": {"a": 1}}]',
        '{"tool": "add", "arguments": "{\\"a\\": 1}"}',
    ],
)
def test_a_call_is_read_in_any_of_the_ways_that_models_write_it(text: str) -> None:
    assert read(text) == [("add", {"a": 1})]


CALL, FINAL = '{"tool": "add", "arguments": {"a": 1}}', '{"final": "Hi"}'


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Should I call {CALL}? No.</think>{FINAL}",
        f"<think>\nShould I call\n```json\n{CALL}\n```\nNo.\n</think>\n\n{FINAL}",
        f"Should I call {CALL}? No.\n</think>\n\n{FINAL}",
        f"<thinking>{CALL}</thinking>\n```json\n{FINAL}\n```",
        f"Well. <think> {CALL}? No. </think> {FINAL}",
        f"```\n<think>{CALL}</think>\n```\n{FINAL}",
        f"[THINK]{CALL}[/THINK]{FINAL}",
        f"<|channel|>analysis<|message|>{CALL}?<|end|><|start|>assistant<|channel|>final<|message|>{FINAL}",
        f"analysisShould I? {CALL}assistantfinal{FINAL}",
        f"<think>{FINAL[:-1]}, or {CALL}</think>{FINAL}",
        '{"final": "<think>Greet them.</think>Hi"}',
    ],
)
def test_what_is_only_thought_of_is_neither_called_nor_said(text: str) -> None:
    assert read(text) == "Hi"


@pytest.mark.parametrize("text", [f"<think>{CALL}", "<think>\nHm.\n</think>\n", f"Hm: <think>{CALL}"])
async def test_an_answer_that_only_thinks_is_asked_again_and_calls_nothing(text: str) -> None:
    answer, sent = await asked_again(text, FINAL)
    assert (answer.text, answer.tool_calls, len(sent)) == ("Hi", (), 1)
    cut = await from_json_mode(ASKED, ModelAnswer(text, finish_reason="length"), _nothing)
    assert (cut.text.removesuffix("Hm:"), cut.tool_calls) == ("", ())


def test_marks_within_json_are_its_words() -> None:
    words = "In <think>…</think> it thinks,\nand `</think>` ends it."
    assert read(json.dumps({"final": words})) == words
    assert read(json.dumps({"tool": "add", "arguments": {"said": words}})) == [("add", {"said": words})]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>',
        "<think>Add.</think>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>",
        '[TOOL_CALLS]add{"a": "1"}',
    ],
)
def test_a_call_in_the_models_own_form_is_made(text: str) -> None:
    calls = read(text)
    assert isinstance(calls, list)
    assert [(name, str(arguments)[:4]) for name, arguments in calls] == [("add", "{'a'")]


async def _nothing(_: ModelRequest) -> ModelAnswer:
    raise AssertionError("a cut answer is not requested again")


def test_several_calls_at_once_are_read_in_order() -> None:
    two = '{"tool": "add", "arguments": {"a": 1}}\n{"tool": "look"}'
    assert read(two) == [("add", {"a": 1}), ("look", {})]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"final": "Three."}', "Three."),
        ('{"final": "two\nlines"}', "two\nlines"),
        ('Done.\n{"final": "Three."}', "Three."),
        ('{"final": {"sum": 3}}', '{"sum": 3}'),
        ('{"final": "{\\"tool\\": \\"add\\"}"}', '{"tool": "add"}'),
        ("Plain words, {braces} and [1] too.", "Plain words, {braces} and [1] too."),
        ("", ""),
    ],
)
def test_an_answer_is_read_and_words_without_the_protocol_are_one(text: str, answer: str) -> None:
    assert read(text) == answer


@pytest.mark.parametrize(
    "text",
    ['{"answer": "3"}', '{"final": "say "hi" to her"}', '{"tool": "add", "arguments": {"a": ', '```\n{"x": 1}\n```'],
)
def test_what_neither_calls_nor_answers_is_not_taken_for_an_answer(text: str) -> None:
    assert read(text) is None


def test_a_call_where_no_tool_may_be_called_is_not_taken() -> None:
    assert read('{"tool": "add"}', ()) is None


def test_json_asked_for_by_a_person_is_left_alone_outside_the_protocol() -> None:
    for text in ('{"a": 1}', '{"tool": "hammer"}', '{"final": 1, "semi": 2}'):
        assert read(text, (), spoken=False) in (text, None if "tool" in text else text)
    assert read('{"final": "ok"}', (), spoken=False) == "ok"


async def asked_again(*texts: str, request: ModelRequest = ASKED) -> tuple[ModelAnswer, list[ModelRequest]]:
    answers = [ModelAnswer(text, usage=ONE) for text in texts]
    sent: list[ModelRequest] = []

    async def ask(again: ModelRequest) -> ModelAnswer:
        sent.append(again)
        return answers[len(sent)]

    return await from_json_mode(request, answers[0], ask), sent


async def test_malformed_json_goes_back_with_the_correct_form_and_is_charged() -> None:
    answer, sent = await asked_again('{"answer": 3}', '{"final": "3"}')
    assert (answer.text, answer.usage) == ("3", ONE + ONE)
    assert sent[0].messages[-2].text == '{"answer": 3}'
    assert "Your last answer cannot be read" in sent[0].messages[-1].text
    assert sent[0].messages[-1].internal


async def test_a_malformed_answer_is_retried_a_few_times_and_then_salvaged() -> None:
    bad = '{"final": "say "hi" to her"}'
    answer, sent = await asked_again(*[bad] * 9)
    assert len(sent) == MAX_CORRECTIONS
    assert answer.text == 'say "hi" to her'
    call, _ = await asked_again(*['{"tool": "add", "arguments": {'] * 9)
    assert call.tool_calls == (ToolCall("json_0", "add", '{"tool": "add", "arguments": {'),)
    nothing, _ = await asked_again(*['{"x": 1}'] * 9)
    assert (nothing.text, nothing.tool_calls) == ("", ())


async def test_a_call_in_a_forced_summary_is_told_that_no_tool_may_be_used() -> None:
    before = ChatMessage(Role.ASSISTANT, tool_calls=(ToolCall("c", "add", "{}"),))
    request = ModelRequest((SYSTEM, user("Hello"), before), ASKED.tools, use_tools=False)
    answer, sent = await asked_again('{"tool": "add"}', '{"final": "So far."}', request=request)
    assert answer.text == "So far."
    assert sent[0].messages[-1].text.startswith("Tools cannot be used any more.")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.text())
def test_any_answer_comes_through_unchanged(text: str) -> None:
    assert read(json.dumps({"final": text})) == text
    assert read(f"```json\n{json.dumps({'final': text}, ensure_ascii=False)}\n```") == text


@given(st.dictionaries(st.text(min_size=1), _JSON, max_size=4))
def test_any_arguments_come_through_unchanged(arguments: JsonObject) -> None:
    assert read(json.dumps({"tool": "add", "arguments": arguments})) == [("add", arguments)]


@given(st.text(), st.integers(0, 200))
async def test_a_cut_answer_never_shows_the_person_the_protocol(text: str, length: int) -> None:
    whole = json.dumps({"final": text})
    answer, _ = await asked_again(*[whole[:length]] * 9)
    assert "{" in text or not answer.text.startswith('{"final')


HOSTILE = [
    "{",
    "[",
    '{"tool": ',
    '{"',
    '{"a":',
    "{'",
    '{"a',
    "[1,",
    '{"a":{}',
    "{ ",
    '{"final": ',
    '{"final": "x"',
    ", ]",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_reading_takes_work_that_grows_as_the_text_does(unit: str) -> None:
    text = unit * 20_000
    reading = Reading(text)
    for _ in reading:
        assert reading.read <= 40 * len(text)
    assert reading.read <= 40 * len(text)


@pytest.mark.parametrize("text", [unit * 2_000 for unit in HOSTILE] + ['{"tool": ' * 300 + "1" + "}" * 300])
def test_an_answer_that_nests_without_end_is_asked_for_again_and_no_error(text: str) -> None:
    asked_again, at_last = (read_answer(ModelAnswer(text), TOOLS, spoken=spoken) for spoken in (True, False))
    assert asked_again is None if "{" in text else asked_again == ModelAnswer(text)
    assert at_last == ModelAnswer(text)


async def test_a_model_that_only_repeats_braces_ends_in_an_empty_answer() -> None:
    async def again(_: ModelRequest) -> ModelAnswer:
        return ModelAnswer('{"tool": ' * 2_000)

    answer = await from_json_mode(ASKED, await again(ASKED), again)
    assert (answer.text, answer.tool_calls) == ("", ())


@given(st.text(alphabet="{}[]\"':,\\ \n`aftoln1-", max_size=80))
def test_any_text_is_read_or_is_not(text: str) -> None:
    read_answer(ModelAnswer(text), TOOLS)
