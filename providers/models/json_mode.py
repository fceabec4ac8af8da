"""Tools for models without tool calling, over a small JSON protocol.

The model answers {"tool": name, "arguments": {…}} or {"final": text}. Nearly valid JSON is repaired; other JSON is sent
back to the model, a bounded number of times; text without any JSON is taken as the answer.
"""

import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from core.json_types import JsonObject
from core.llm.types import ChatMessage, ModelAnswer, ModelRequest, Role, ToolCall, ToolSpec
from providers.models.markup.loose_json import Reading
from providers.models.markup.own_words import in_own_words, offered_by
from providers.models.markup.reader import THOUGHTS

MAX_CORRECTIONS = 2
"""The number of times that a model is asked again for an answer."""

_PROTOCOL = """You can use tools. Answer with one JSON object and nothing else:
to use a tool, {"tool": "its name", "arguments": {...}}; to answer the person, {"final": "your answer"}.
After a tool you are given its result, and go on. The tools:
"""
_AGAIN = (
    'Your last answer cannot be read. Answer with one JSON object and nothing else: {"tool": "its name", '
    '"arguments": {...}} or {"final": "your answer"}. Quotes and line breaks inside a text are written \\" and \\n.'
)
_ONLY_FINAL = 'Tools cannot be used any more. Answer with {"final": "your answer"} and nothing else.'
_SPOKEN = re.compile(r"""["'](?:tool|final)["']\s*:""")
_OBJECT = re.compile(r"(?:```\w*)?\s*\{")
_NAMED = re.compile(r"""["']tool["']\s*:\s*["']([^"']+)["']""")
_FINAL = re.compile(r"""\{\s*["']final["']\s*:\s*["']?""")
_ARGUMENTS = ("arguments", "args", "parameters", "input")


def to_json_mode(request: ModelRequest) -> ModelRequest:
    """Return the request with tools, calls and results as text in its messages."""
    messages = [_as_text(message) for message in request.messages]
    if request.use_tools and request.tools:
        messages = _with_protocol(messages, request.tools)
    return replace(request, messages=tuple(messages), tools=())


async def from_json_mode(
    request: ModelRequest, answer: ModelAnswer, ask: Callable[[ModelRequest], Awaitable[ModelAnswer]]
) -> ModelAnswer:
    """Parse the model's JSON, calling the model again if it is invalid. The usage is that of all answers.

    An answer that reached its maximum length is not requested again, since the next would be as long and cost as much:
    its text so far counts. Neither is a refused answer.
    """
    names = offered_by(request)
    spoken = bool(names) or any(message.tool_calls for message in request.messages)
    sent = to_json_mode(request)
    usage = answer.usage
    for _ in range(MAX_CORRECTIONS):
        if read := read_answer(answer, names, spoken=spoken):
            return replace(read, usage=usage)
        if answer.cut or answer.refused:
            break
        wrong = ChatMessage(Role.ASSISTANT, answer.text)
        right = ChatMessage(Role.USER, _AGAIN if names else _ONLY_FINAL, internal=True)
        sent = replace(sent, messages=(*sent.messages, wrong, right))
        answer = await ask(sent)
        usage += answer.usage
    return replace(read_answer(answer, names, spoken=spoken) or _salvaged(answer, names), usage=usage)


def read_answer(answer: ModelAnswer, tools: Collection[str], *, spoken: bool = True) -> ModelAnswer | None:
    """Parse an answer; None if it neither calls nor answers. Unless the protocol is `spoken`, JSON is text.

    Thoughts are taken out first: a call that was only thought of is not made. Outside of JSON, any mark of a thought
    counts.
    """
    offered = tools if isinstance(tools, Mapping) else {name: ToolSpec(name, "", {}) for name in tools}
    written, answer = answer, in_own_words(answer, offered)
    if answer.tool_calls:
        return answer
    if spoken and written.text.strip() and not answer.text.strip():
        return None
    objects = [value for value in _objects(answer.text) if _is_protocol(value, tools)]
    calls = [_call(index, value, tools) for index, value in enumerate(objects) if "final" not in value]
    if calls:
        return replace(answer, text="", tool_calls=tuple(calls)) if tools else None
    if objects and (spoken or set(objects[0]) == {"final"}):
        final = objects[0]["final"]
        said = replace(answer, text=final if isinstance(final, str) else json.dumps(final, ensure_ascii=False))
        return in_own_words(said, {})
    if spoken and (_SPOKEN.search(answer.text) or _OBJECT.match(answer.text.lstrip())):
        return None
    return answer


def _objects(text: str) -> Iterator[JsonObject]:
    for value in Reading(text, skipped=THOUGHTS):
        items = value if isinstance(value, list) else [value]
        yield from (item for item in items if isinstance(item, dict))


def _is_protocol(value: JsonObject, tools: Collection[str]) -> bool:
    return "final" in value or isinstance(value.get("tool"), str) or value.get("name") in tools


def _call(index: int, value: JsonObject, tools: Collection[str]) -> ToolCall:
    name = value["tool"] if isinstance(value.get("tool"), str) else value["name"]
    arguments = next((value[word] for word in _ARGUMENTS if value.get(word) is not None), {})
    return ToolCall(f"json_{index}", str(name), arguments if isinstance(arguments, str) else json.dumps(arguments))


def _salvaged(answer: ModelAnswer, tools: Collection[str]) -> ModelAnswer:
    """Return the usable parts of an invalid answer: the loop reports the errors in a call to the model."""
    answer = in_own_words(answer, {})
    if tools and (named := _NAMED.search(THOUGHTS.sub("", answer.text))):
        return replace(answer, text="", tool_calls=(ToolCall("json_0", named[1], answer.text),))
    if match := _FINAL.search(answer.text):
        words = answer.text[match.end() :].rstrip().removesuffix("```").rstrip().removesuffix("}").rstrip()
        words = words[:-1] if words.endswith(("'", '"')) else words
        return replace(answer, text=words.replace("\\n", "\n").replace('\\"', '"'))
    return replace(answer, text="")


def _as_text(message: ChatMessage) -> ChatMessage:
    if message.role is Role.TOOL:
        result: JsonObject = {"result_of": message.name, "result": message.text}
        return ChatMessage(Role.USER, json.dumps(result, ensure_ascii=False), internal=True)
    if message.tool_calls:
        calls: list[JsonObject] = [
            {"tool": call.name, "arguments": next(_objects(call.arguments), {})} for call in message.tool_calls
        ]
        return ChatMessage(Role.ASSISTANT, json.dumps(calls[0] if len(calls) == 1 else calls))
    return message


def _with_protocol(messages: list[ChatMessage], tools: Sequence[ToolSpec]) -> list[ChatMessage]:
    listed = "\n".join(f"- {tool.name}: {tool.description} {json.dumps(tool.parameters)}" for tool in tools)
    protocol = _PROTOCOL + listed
    if messages and messages[0].role is Role.SYSTEM:
        return [replace(messages[0], text=f"{messages[0].text}\n\n{protocol}"), *messages[1:]]
    return [ChatMessage(Role.SYSTEM, protocol), *messages]
