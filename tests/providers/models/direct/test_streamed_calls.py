"""Tool calls as OpenAI-compatible servers stream them, each form with the calls that its server means.

A form is named by who writes it, and where that was reported. The rest of a case is what the server sends, piece by
piece, and the calls that it means.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.json_types import Json
from core.llm.types import ToolCall
from providers.models.direct.openai_chat import OpenAIBody
from providers.models.direct.streamed_calls import MOST_CALLS, StreamedCalls
from providers.models.litellm_client import LiteLLMClient
from tests.providers.models.direct.replay import replaying
from tests.providers.models.direct.test_transport import END, HELLO
from tests.providers.models.direct.transcripts import openai_chunk, sse

type Calls = list[tuple[str, Json]]

ONE: Calls = [("add", {"a": 1})]
TWO: Calls = [("add", {"a": 1}), ("add", {"a": 2})]
OTHER: Calls = [("add", {"a": 1}), ("look", {"b": 2})]
A1, A2, B2 = '{"a": 1}', '{"a": 2}', '{"b": 2}'
_NO = object()


@dataclass(frozen=True, slots=True)
class Form:
    """Pieces of calls: each entry is an event, one piece or several at once. `why` they are the `right` calls."""

    why: str
    events: Sequence[Json]
    right: Calls


def piece(
    index: Any = _NO, id: Any = _NO, name: Any = _NO, arguments: Any = _NO, **more: Json
) -> dict[str, Json]:  # what is not given is left out
    """Return a piece of a call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not _NO}
    told = {key: value for key, value in (("index", index), ("id", id)) if value is not _NO}
    return {**told, "type": "function", "function": function, **more}


FORMS = {
    "OpenAI": Form(
        "one head with the number, id and name, then parts under the number",
        [piece(0, "c1", "add", ""), piece(0, arguments='{"a"'), piece(0, arguments=": 1}"), piece(1, "c2", "add", A2)],
        TWO,
    ),
    "an aggregator, interleaved (bigduu/Bamboo-agent 236)": Form(
        "parts go to the call of their number, not to the last",
        [
            [piece(0, "c1", "add", ""), piece(1, "c2", "look", "")],
            piece(0, arguments='{"a": '),
            piece(1, arguments='{"b": '),
            piece(0, arguments="1}"),
            piece(1, arguments="2}"),
        ],
        OTHER,
    ),
    "Ollama (ollama 15457)": Form(
        "all calls have number 0, and another id begins another one",
        [piece(0, "c1", "add", A1), piece(0, "c2", "add", A2)],
        TWO,
    ),
    "sglang, lmdeploy (lmdeploy 3412)": Form(
        "all have number 0; the second head comes after the first call's parts",
        [
            piece(0, "0", "add", ""),
            piece(0, "0", None, A1),
            piece(0, "1", "add", ""),
            piece(0, "1", None, A2),
        ],
        TWO,
    ),
    "a gateway to Gemini, number 0 and no ids (gcli2api 406)": Form(
        "another name after whole arguments begins another call",
        [piece(0, None, "add", A1), piece(0, None, "look", B2), piece(0, None, "add", A2)],
        [*OTHER, TWO[1]],
    ),
    "a gateway to Gemini, one id for all (omnigent 28)": Form(
        "whole arguments with a name again are another call, if they differ",
        [piece(0, "call_0", "add", A1), piece(0, "call_0", "add", A2)],
        TWO,
    ),
    "Ollama, older; mistral.rs (ollama 7881, mistral.rs 1507)": Form(
        "no numbers: another id is another call",
        [piece(id="c1", name="add", arguments=A1), piece(id="c2", name="add", arguments=A2)],
        TWO,
    ),
    "no number, in parts (term-llm 314)": Form(
        "without number and id a part continues the last call",
        [
            piece(id="c1", name="add", arguments=""),
            piece(arguments='{"a"'),
            piece(arguments=": 1}"),
            piece(id="c2", name="add", arguments='{"a": '),
            piece(arguments="2}"),
        ],
        TWO,
    ),
    "no number and no id (openai-python 2806)": Form(
        "another name is another call",
        [piece(name="add", arguments=A1), piece(name="add", arguments=A2)],
        TWO,
    ),
    "no numbers, two calls in one piece": Form(
        "both have a name",
        [[piece(name="add", arguments=A1), piece(name="look", arguments=B2)]],
        OTHER,
    ),
    "no numbers, two heads and their parts at once (term-llm 314)": Form(
        "as many parts at once as heads at once are in their order",
        [
            [piece(id="c1", name="add", arguments=""), piece(id="c2", name="look", arguments="")],
            [piece(arguments='{"a": '), piece(arguments='{"b": ')],
            [piece(arguments="1}"), piece(arguments="2}")],
        ],
        OTHER,
    ),
    "no numbers, the rest of one of two (opik 8361)": Form(
        "a part goes to the call that lacks an end",
        [
            [piece(id="c1", name="add", arguments='{"a": '), piece(id="c2", name="look", arguments=B2)],
            piece(arguments="1}"),
        ],
        OTHER,
    ),
    "no number, the id again in each piece (MiMo-Code 2421)": Form(
        "an id that is known continues its call",
        [
            piece(id="c1", name="add", arguments='{"a": '),
            piece(id="c2", name="look", arguments='{"b": '),
            piece(id="c1", arguments="1}"),
            piece(id="c2", arguments="2}"),
        ],
        OTHER,
    ),
    "TGI, the number of the token (TGI 1648, 2954)": Form(
        "a number that rises with each piece is no other call",
        [piece(n, "", "add" if n == 7 else None, part) for n, part in enumerate(["", '{"', 'a": ', "1}"], 7)],
        ONE,
    ),
    "TGI, an object in the place of the list, and the name in each piece (TGI 2461)": Form(
        "arguments that have no end go on, though the name comes again",
        [{"whole": piece(n, "", "add", part)} for n, part in enumerate(['{"a', '": ', "1}"], 3)],
        ONE,
    ),
    "rising numbers, two calls": Form(
        "a name after whole arguments begins another call",
        [
            *(piece(n, arguments=part) | ({"id": "c1"} if n == 0 else {}) for n, part in enumerate([""])),
            piece(1, name="add", arguments='{"a": '),
            piece(2, arguments="1}"),
            piece(3, "c2", "look", '{"b": '),
            piece(4, arguments="2}"),
        ],
        OTHER,
    ),
    "DeepSeek at Ollama, the head under another's number (agno 8879)": Form(
        "the rest under a new number belongs to the last head",
        [
            piece(0, "c1", "add", A1),
            piece(0, "c2", "look", '{"b"'),
            piece(1, None, None, ": 2"),
            piece(1, None, None, "}"),
        ],
        OTHER,
    ),
    "a gateway to Claude, numbers from 1 (CLIProxyAPI 5229, bedrock-access-gateway 134)": Form(
        "a number counts other blocks, too",
        [piece(1, "toolu_1", "add", ""), piece(1, arguments=A1), piece(3, "toolu_2", "look", B2)],
        OTHER,
    ),
    "Gemma at sglang, numbers of the offered tools (sglang 25073)": Form(
        "calls are in the order in which they begin",
        [piece(4, "c1", "add", ""), piece(4, arguments=A1), piece(2, "c2", "look", ""), piece(2, arguments=B2)],
        OTHER,
    ),
    "vLLM, the id and name in each piece (spring-ai 5974, koog 2002)": Form(
        "an id that is the same is the same call",
        [piece(0, "c1", "add", '{"a'), piece(0, "c1", "add", '": '), piece(0, "c1", "add", "1}")],
        ONE,
    ),
    "Poolside, another id after the head (poolsideai/pool 9)": Form(
        "without a name an id begins nothing",
        [piece(0, "c1", "add", ""), piece(0, "x", arguments='{"a": '), piece(0, "x", arguments="1}")],
        ONE,
    ),
    "gpt-oss at vLLM, a new id with the name in each piece (vLLM 23522)": Form(
        "arguments that have no end go on",
        [piece(0, f"c{n}", "add", part) for n, part in enumerate(["", '{"', 'a": ', "1}"])],
        ONE,
    ),
    "llama.cpp, one id for two calls (llama.cpp 27966)": Form(
        "other numbers with names are other calls",
        [
            piece(0, "c1", "add", '{"a": '),
            piece(0, arguments="1}"),
            piece(1, "c1", "add", '{"a": '),
            piece(1, arguments="2}"),
        ],
        TWO,
    ),
    "the id late (anything-llm 5552, agent-os 3171)": Form(
        "a number is enough",
        [piece(0, None), piece(0, "c1", "add"), piece(0, arguments=A1)],
        ONE,
    ),
    "the id late and no number": Form(
        "the only call without an id gets it",
        [piece(name="add", arguments='{"a": '), piece(id="c1", arguments="1}")],
        ONE,
    ),
    "the name late (vercel/ai 14722, goai 96)": Form(
        "arguments may come before the name",
        [piece(0, "c1", arguments='{"a": '), piece(0, name="add", arguments="1}")],
        ONE,
    ),
    "the name in parts (openclaw 127601)": Form(
        "a part of a name is joined to it before there are arguments",
        [piece(0, "c1", "a", ""), piece(0, name="dd"), piece(0, arguments=A1)],
        ONE,
    ),
    "the name growing": Form(
        "a name that begins as it was is the name by now",
        [piece(0, "c1", "ad", ""), piece(0, name="add"), piece(0, name="add", arguments=A1)],
        ONE,
    ),
    "an object (llama.cpp 20198, picoclaw 1292, litellm 37792)": Form(
        "arguments as an object are its JSON",
        [piece(0, "c1", "add", {"a": 1}), piece(0, "c2", "add", {"a": 2})],
        TWO,
    ),
    "an empty object in the head": Form(
        "the head's object is only the beginning of the arguments",
        [piece(0, "c1", "add", {}), piece(0, arguments='{"a": '), piece(0, arguments="1}")],
        ONE,
    ),
    "text in text": Form(
        "arguments that are JSON's text of JSON are that JSON", [piece(0, "c1", "add", json.dumps(A1))], ONE
    ),
    "DeepSeek at Qianfan, all so far in each piece (hermes-agent 35592)": Form(
        "a piece that begins as the one before replaces it",
        [piece(0, "c1", "add", '{"a'), piece(0, arguments='{"a": '), piece(0, arguments=A1)],
        ONE,
    ),
    "the whole again at the end (opencodex 361, opencode 12425)": Form(
        "a whole that repeats the parts is not added to them",
        [piece(0, "c1", "add", ""), piece(0, arguments='{"a": '), piece(0, arguments="1}"), piece(0, arguments=A1)],
        ONE,
    ),
    "the whole call again at the end (vLLM 44098)": Form(
        "the same arguments under the same id are the same call",
        [piece(0, "c1", "add", A1)] * 3,
        ONE,
    ),
    "the older function_call (oh-my-pi 1692)": Form(
        "there is one such call, without a number and an id",
        [{"function_call": {"name": "add", "arguments": ""}}, {"function_call": {"arguments": A1}}],
        ONE,
    ),
    "no arguments (cheshire-cat 1140)": Form(
        "nothing, null and an empty text are no arguments",
        [piece(0, "c1", "add"), piece(1, "c2", "add", None), piece(2, "c3", "add", ""), piece(3, "c4", "add", "null")],
        [("add", {})] * 4,
    ),
    "empty pieces": Form(
        "they say nothing",
        [
            piece(0, "c1", "add", None),
            {"index": 0, "function": None},
            None,
            piece(0, "", "", ""),
            piece(0, None, None, A1),
            piece(0, "", "", ""),
        ],
        ONE,
    ),
    "brackets in text": Form(
        "what is within quotes closes nothing",
        [piece(0, "c1", "add", '{"a": "}'), piece(0, "c2", "add", '\\"}{"'), piece(0, "c3", "add", "}")],
        [("add", {"a": '}"}{'})],
    ),
    "broken arguments": Form(
        "they are left to the model to mend, and do not take the next call along",
        [piece(0, "c1", "look", '{"a": '), piece(1, "c2", "add", A1)],
        [("look", None), *ONE],
    ),
}


def deltas(form: Form) -> list[Any]:
    """Return the deltas of a form."""
    out: list[Any] = []
    for event in form.events:
        if isinstance(event, dict) and "function_call" in event:
            out.append(event)
        elif isinstance(event, dict) and "whole" in event:
            out.append({"tool_calls": event["whole"]})
        else:
            out.append({"tool_calls": event if isinstance(event, list) else [event]})
    return out


def plain(calls: Sequence[ToolCall]) -> Calls:
    """Return the calls by their names and arguments; None for what is no JSON."""
    return [(call.name, _json(call.arguments)) for call in calls]


def _json(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError:
        return None
    return value


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_calls_are_what_their_server_means(form: Form) -> None:
    body = OpenAIBody()
    for delta in deltas(form):
        body.add(openai_chunk(delta))
    assert body._calls is not None
    calls = body._calls.calls("answer")
    assert plain(calls) == form.right, form.why
    assert len({call.id for call in calls}) == len(calls)
    assert all(call.id for call in calls)


@pytest.mark.xdist_group("model")  # litellm takes seconds to load: once is enough
async def test_they_are_over_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    client, wrong = LiteLLMClient("openai/mine"), dict[str, object]()
    async with replaying(sse()) as replay:
        monkeypatch.setenv("OPENAI_API_BASE", f"{replay.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        for name, form in FORMS.items():
            replay.transcript = sse(*(openai_chunk(delta) for delta in deltas(form)), *END)
            (answer,) = [chunk.answer async for chunk in client.stream(HELLO) if chunk.answer]
            if plain(answer.tool_calls) != form.right:
                wrong[name] = plain(answer.tool_calls)
        await client.close()
    assert wrong == {}


@pytest.mark.parametrize(
    "told", [7, "call", [7], [piece(-1)], [piece("0")], [piece(True)], [piece(10**9)], [piece(1.5)]]
)
def test_what_is_no_call_is_an_error(told: Any) -> None:
    with pytest.raises(ValueError, match="call"):
        StreamedCalls().add(told)


def test_neither_calls_nor_what_stands_beside_them_are_endless() -> None:
    calls = StreamedCalls()
    with pytest.raises(ValueError, match="more calls"):
        calls.add([piece(number, f"c{number}", "add") for number in range(MOST_CALLS + 1)])
    calls = StreamedCalls()
    names = [piece(0, "c1", f"{number}" * 100_000) for number in range(20)]
    with pytest.raises(ValueError, match="more fields"):
        calls.add(names)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["add", "look"]), st.dictionaries(st.text(max_size=4), st.text(max_size=9)))))
def test_any_calls_of_openai_come_through(wanted: list[tuple[str, dict[str, str]]]) -> None:
    calls = StreamedCalls()
    for number, (name, arguments) in enumerate(wanted):
        text = json.dumps(arguments)
        calls.add([piece(number, f"c{number}", name, "")])
        for at in range(0, len(text), 5):
            calls.add([piece(number, arguments=text[at : at + 5])])
    assert plain(calls.calls("x")) == wanted


@pytest.mark.parametrize("part", ["}", '"', "{", '{"a": 1}', "\\"])
def test_putting_together_takes_time_that_grows_as_the_pieces_do(part: str) -> None:
    def seconds(pieces: int) -> float:
        calls, began = StreamedCalls(), time.process_time()
        for number in range(pieces):
            calls.add([piece(number % 2, "c", "add" if number % 3 else None, part)])
        calls.calls("x")
        return time.process_time() - began

    assert seconds(4_000) < 16 * max(seconds(1_000), 0.02)
