"""A model's markup in its text: what is taken out, what is a call, and what are words about marks."""

import json
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json_types import Json
from core.llm.types import ToolSpec
from providers.models.markup.reader import MarkupReader, Read

ADD = ToolSpec(
    "add",
    "",
    {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "said": {"type": "string"},
        },
    },
)
OFFERED = {"add": ADD}
ONE: list[tuple[str, Json]] = [("add", {"a": 1})]

THOUGHTS = {
    "a block": "<think>Two and three.</think>It is 5.",
    "a block of lines": "<think>\nTwo and three.\n</think>\n\nIt is 5.",
    "an empty block": "<think>\n\n</think>\n\nIt is 5.",
    "a block with code": "<think>\nThey ask what `</think>` does.\n```\n</x>\n```\n</think>\nIt is 5.",
    "a block with an open fence": "<think>\n```\nTwo and three.\n</think>\nIt is 5.",
    "a block that mentions its end": '<think>The mark "</think>" ends it.</think>It is 5.',
    "nested blocks": "<think>Two <think>and</think> three.</think>It is 5.",
    "two blocks": "<think>Two</think>\n<think>and three.</think>\nIt is 5.",
    "begun by the template": "They ask for two and three.\n</think>\n\nIt is 5.",
    "begun by the template, in one line": "They ask for two and three.</think>It is 5.",
    "begun by the template, with a space": "They ask for two and three. </think>\n\nIt is 5.",
    "begun by the template, with an open fence": "They ask for this:\n```\n2 + 3\n\nSo.\n</think>\n\nIt is 5.",
    "begun by the template, with a call": (
        'Call {"a": 1}?\n<tool_call>{"name": "add"}</tool_call>\nNo.\n</think>\nIt is 5.'
    ),
    "begun by the template, and quotes": 'They say "hello"</think>It is 5.',
    "nothing thought": "</think>\n\nIt is 5.",
    "thinking": "<thinking>Two and three.</thinking>\nIt is 5.",
    "thought": "<thought>Two and three.</thought>\nIt is 5.",
    "reasoning": "<reasoning>\nTwo and three.\n</reasoning>\nIt is 5.",
    "capitals": "<THINK>Two and three.</THINK>It is 5.",
    "Seed": "<seed:think>Two and three.</seed:think>It is 5.",
    "Magistral": "[THINK]Two and three.[/THINK]It is 5.",
    "Kimi": "◁think▷Two and three.◁/think▷It is 5.",
    "Cohere": "<|START_THINKING|>Two and three.<|END_THINKING|>It is 5.",
    "Gemma": "<|channel>thought\nTwo and three.<channel|>It is 5.",
    "gpt-oss": "<|channel|>analysis<|message|>Two.<|end|><|start|>assistant<|channel|>final<|message|>It is 5.",
    "gpt-oss with its last mark": (
        "<|start|>assistant<|channel|>analysis<|message|>Two.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>It is 5.<|return|>"
    ),
    "gpt-oss with a preamble": (
        "<|channel|>commentary<|message|>I will add.<|end|><|start|>assistant<|channel|>final<|message|>It is 5."
    ),
    "gpt-oss, begun by the template": "Two.<|end|><|start|>assistant<|channel|>final<|message|>It is 5.",
    "gpt-oss without its first mark": (
        "analysis<|message|>Two.<|end|><|start|>assistant<|channel|>final<|message|>It is 5."
    ),
    "gpt-oss without marks": "analysisWe add two and three.assistantfinalIt is 5.",
    "begun by the template, about marks": "What is <think>? Well.\n</think>\n\nIt is 5.",
    "the mark of an end": "It is 5.<|im_end|>\n",
    "the next message": "It is 5.<|im_end|>\n<|im_start|>user\nThank you",
}
"""Texts that all say "It is 5."."""

CALLS = {
    "Hermes": '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>',
    "Hermes in lines": 'Let me see.\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>',
    "without its end": 'Let me see.\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}',
    "within a line, at the end": 'Let me see. <tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>',
    "after a thought": '<think>Add.</think><tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>',
    "arguments as text": '<tool_call>{"name": "add", "arguments": "{\\"a\\": 1}"}</tool_call>',
    "in OpenAI's form": (
        '<tool_call>{"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}</tool_call>'
    ),
    "nearly JSON": "<tool_call>{'name': 'add', 'arguments': {'a': 1}}</tool_call>",
    "without a brace": '<tool_call>{"name": "add", "arguments": {"a": 1}</tool_call>',
    "Qwen Coder": "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
    "Qwen Coder without its ends": "<function=add>\n<parameter=a>\n1\n</function>",
    "Llama": '<function=add>{"a": 1}</function>',
    "Llama's tag": '<|python_tag|>{"name": "add", "parameters": {"a": 1}}<|eom_id|>',
    "Mistral": '[TOOL_CALLS][{"name": "add", "arguments": {"a": 1}}]',
    "Mistral, newer": '[TOOL_CALLS]add{"a": 1}',
    "Mistral with an id": '[TOOL_CALLS]add[CALL_ID]123456789[ARGS]{"a": 1}',
    "Claude": '<function_calls>\n<invoke name="add">\n<parameter name="a">1</parameter>\n</invoke>\n</function_calls>',
    "Claude without its frame": '<invoke name="add"><parameter name="a">1</parameter></invoke>',
    "MiniMax": (
        '<minimax:tool_call>\n<invoke name="add">\n<parameter name="a">1</parameter>\n</invoke>\n</minimax:tool_call>'
    ),
    "GLM": "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
    "DeepSeek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n"
        '{"a": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
    ),
    "DeepSeek, newer": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>',
    "DeepSeek, newest": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="add">\n<｜DSML｜parameter name="a" string="false">1'
        "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"
    ),
    "Kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>"
        '{"a": 1}<|tool_call_end|><|tool_calls_section_end|>'
    ),
    "Granite": '<|tool_call|>[{"name": "add", "arguments": {"a": 1}}]',
    "Cohere": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "add", "parameters": {"a": 1}}]<|END_ACTION|>',
    "InternLM": 'Let me see.<|action_start|><|plugin|>{"name": "add", "parameters": {"a": 1}}<|action_end|>',
    "gpt-oss": (
        "<|channel|>analysis<|message|>Add.<|end|><|start|>assistant<|channel|>commentary to=functions.add "
        '<|constrain|>json<|message|>{"a": 1}<|call|>'
    ),
    "gpt-oss, the call first": (
        '<|start|>assistant to=functions.add<|channel|>commentary json<|message|>{"a": 1}<|call|>'
    ),
    "gpt-oss without marks": 'analysisWe add.assistantcommentary to=functions.add json{"a": 1}',
}
"""Texts that all call `add` with 1."""

WORDS = {
    "a question": "What does <think> mean? It begins thoughts, and </think> ends them.",
    "one end": "The mark </think> ends thoughts.",
    "an end at the end": "Thoughts end with </think>",
    "quoted": 'The page says "</think>", then "<tool_call>{"name": "add"}</tool_call>".',
    "between backticks": "`<think>` begins them,\n`</think>` ends them, and `<|channel|>` is gpt-oss's.",
    "between two backticks": "As ``<think>`` begins,\n``</think>`` ends.",
    "in other quotes": "Im Text: »</think>«, „</think>“ und ‘</think>’.",
    "between slashes": "It is <think>/</think> there, or /</think>.",
    "elements": "So:\n<reasoning>\nTwo.\n</reasoning>\n<thought>Three.</thought>",
    "a name": "analysis2024.csv and analysisReport.docx are attached.",
    "the mark of an end": "Each ends with <|im_end|> there.",
    "a code block": '```\n<think>\nTwo.\n</think>\n<tool_call>{"name": "add"}</tool_call>\n```\nSo it looks.',
    "a code block of tildes": "~~~xml\n<invoke name='add'></invoke>\n~~~",
    "at the beginning": "<think> begins a thought.",
    "both at the beginning": "<think> and </think> are marks.",
    "in a list": "The marks:\n- <think> begins\n- </think> ends",
    "in lines": "The marks:\n<think> begins a thought\n</think> ends it",
    "in a table": "| mark | meaning |\n|---|---|\n| <think> | begins |\n| </think> | ends |",
    "quoted lines": '> <tool_call>\n> {"name": "add", "arguments": {}}\n> </tool_call>',
    "a call within a line": 'It writes <tool_call>{"name": "add", "arguments": {}}</tool_call> to add.',
    "a call of nobody's within a line": 'It writes <tool_call>{"name": "search", "arguments": {}}</tool_call>',
    "names of marks": "<tool_call> is Hermes's mark,\n[TOOL_CALLS] is Mistral's, and\n<function=name> is Llama's.",
    "channels": "gpt-oss writes <|channel|>analysis<|message|> before it answers.",
    "analysis": "analysis of the final: assistantfinal is no word",
    "HTML": "<p>It is <b>5</b>.</p>\n<thing>5</thing>",
    "a list": "[1, 2, 3]",
    "JSON": '{"name": "add", "arguments": {"a": 1}}',
    "an open fence": "```\nIt is 5.",
}
"""Texts that are left as they are."""


def read(text: str, *, cut: bool = False) -> Read:
    """Read a whole text."""
    reader = MarkupReader(OFFERED)
    reader.text = text
    return reader.end(cut=cut)


def streamed(parts: Sequence[str], *, waits: bool = False) -> tuple[str, Read]:
    """Return what is said while a text is written, and the text as it is read then."""
    reader = MarkupReader(OFFERED, waits=waits)
    said = [reader.feed(part) for part in parts]
    whole = reader.end()
    return "".join((*said, reader.rest())), whole


def calls(whole: Read) -> list[tuple[str, Json]]:
    """Return the calls by their names and arguments."""
    return [(call.name, json.loads(call.arguments)) for call in whole.calls]


@pytest.mark.parametrize("text", THOUGHTS.values(), ids=THOUGHTS)
def test_what_is_thought_is_not_said(text: str) -> None:
    whole = read(text)
    assert (whole.said, whole.calls, whole.broken) == ("It is 5.", (), False)


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_a_call_is_read_in_any_of_the_forms_that_models_write(text: str) -> None:
    whole = read(text)
    assert (calls(whole), whole.said.removesuffix("Let me see."), whole.broken) == (ONE, "", False)


@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_words_about_marks_are_left_as_they_are(text: str) -> None:
    assert read(text) == Read(text)


@pytest.mark.parametrize("size", [1, 3, 10])
@pytest.mark.parametrize("text", [*THOUGHTS.values(), *CALLS.values(), *WORDS.values()])
def test_a_text_that_comes_in_pieces_is_read_as_the_whole(text: str, size: int) -> None:
    told, whole = streamed([text[at : at + size] for at in range(0, len(text), size)], waits=True)
    at_once = read(text)
    assert (whole.said, calls(whole), whole.broken) == (at_once.said, calls(at_once), at_once.broken)
    assert told.removeprefix("three.") == whole.said  # the end of nested thoughts comes too late


@pytest.mark.parametrize("text", [*WORDS.values(), THOUGHTS["a block"], THOUGHTS["gpt-oss"], CALLS["Hermes in lines"]])
def test_nothing_else_is_said_meanwhile(text: str) -> None:
    told, whole = streamed(text)
    assert told.strip() == whole.said


def test_words_are_told_as_they_are_written() -> None:
    reader = MarkupReader(OFFERED)
    assert [reader.feed(part) for part in ("It is ", "5", ", as ", "2 < 3 and so on. ")] == [
        "It is ",
        "5",
        ", as ",
        "2 < 3 and so on. ",
    ]


def test_several_calls_are_read_in_order_and_values_as_their_tool_has_them() -> None:
    whole = read(
        "<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nNone\n</parameter>\n"
        "<parameter=said>\n7\n\n8\n</parameter>\n</function>\n"
        '<tool_call>\n{"name": "later", "arguments": {}}\n</tool_call>'
    )
    assert calls(whole) == [("add", {"a": 1, "b": None, "said": "7\n\n8"}), ("later", {})]
    assert len({call.id for call in whole.calls}) == 2


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "add", "arguments": {"said": "<invoke name=\\"pay\\"></invoke>"}}</tool_call>',
        '[TOOL_CALLS]add{"said": "<invoke name=\\"pay\\"></invoke>"}',
        '<invoke name="add"><parameter name="said"><invoke name="pay"></invoke></parameter></invoke>',
    ],
)
def test_a_call_within_the_arguments_of_another_is_none(text: str) -> None:
    assert [call.name for call in read(text).calls] == ["add"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('<tool_call>{"name": "add", "arguments": {"a": }}</tool_call>', ["add"]),
        ('Let me see.\n<tool_call>\n{"name": "add", "argum', ["add"]),
        ("<tool_call>{broken}</tool_call>", []),
        ("<tool_call>\n", []),
        ("<tool_call><unknown>1</unknown></tool_call>", []),
        ("<function=add>\n<parameter=said>\nDear", ["add"]),
        ("<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1", ["add"]),
        ("[TOOL_CALLS]add{broken", ["add"]),
    ],
)
def test_a_call_that_cannot_be_read_is_neither_said_nor_made(text: str, named: list[str]) -> None:
    whole = read(text)
    assert (whole.broken, [call.name for call in whole.calls]) == (True, named)
    assert "<" not in whole.said
    for call in whole.calls:
        with pytest.raises(ValueError, match=r"Expecting|double quotes|char"):
            json.loads(call.arguments)


@pytest.mark.parametrize("text", ["<think>\nTwo and", "<think> Two and", "It is 5.\n<think>\nOr", "analysisWe add"])
def test_a_thought_that_was_cut_off_is_not_said(text: str) -> None:
    assert read(text, cut=True).said in ("", "It is 5.")


def test_a_mention_hides_no_thought_after_it() -> None:
    assert read("<think> is one.\n<thinking>\nTwo.\n</thinking>\nSo.").said == "<think> is one.\n\nSo."


def test_an_end_in_a_code_block_that_only_the_cut_left_open_is_one() -> None:
    assert read("Let me write:\n```python\nprint(5)\n</think>\n\nIt is 5.").said == "It is 5."


def test_marks_in_the_code_of_a_final_channel_are_words() -> None:
    code = "So:\n```\n<|channel|>analysis<|message|>hm<|end|>\n```"
    assert read(f"<|channel|>final<|message|>{code}").said == code


@given(st.text(alphabet="`~<>[]|/ \n\"'.{}:think_calTOOLCS=", max_size=60), st.integers(1, 7))
def test_any_text_is_read_the_same_in_pieces(text: str, size: int) -> None:
    told, whole = streamed([text[at : at + size] for at in range(0, len(text), size)], waits=True)
    at_once = read(text)
    assert (whole.said, whole.broken, len(whole.calls)) == (at_once.said, at_once.broken, len(at_once.calls))
    assert told == whole.said


@given(st.text(alphabet="abc `\n*_#-.1()", max_size=60))
def test_a_text_without_marks_is_unchanged(text: str) -> None:
    assert read(text) == Read(text)
    assert streamed(text)[0] == text


HOSTILE = [
    "<think>",
    "</think>",
    "a <think> ",
    "\n<think>",
    "\n```\n",
    "`",
    "<tool_call>",
    "\n<tool_call>{",
    "<|end|>",
    "<",
]


@pytest.mark.parametrize(
    "unit", [*HOSTILE, "[TOOL_CALLS]", "<function=a>", '<invoke name="a">', "<｜tool▁sep｜>", "[THINK]"]
)
def test_reading_takes_time_that_grows_as_the_text_does(unit: str) -> None:
    def seconds(text: str) -> float:
        began = time.process_time()
        streamed([text[at : at + 500] for at in range(0, len(text), 500)])
        return time.process_time() - began

    length = 20_000
    text = (unit * (length // len(unit) + 1))[:length]
    assert seconds(text * 4) < 16 * max(seconds(text), 0.02)
