"""Tools for models without tool calling, over a small JSON protocol.

The model answers {"tool": name, "arguments": {…}} or {"final": text}. Nearly valid JSON is repaired; other JSON is sent
back to the model, a bounded number of times; text without any JSON is taken as the answer.
"""

import ast
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import replace

from core.json_types import Json, JsonObject, check_depth
from core.llm.types import ChatMessage, ModelAnswer, ModelRequest, Role, ToolCall, ToolSpec

MAX_CORRECTIONS = 2
"""How often a model is asked again for one answer."""

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
_OPENING = re.compile(r"""\{(?=\s*["'}])|\[(?=\s*[\[{\]"'\d\-A-Za-z])""")
_NAMED = re.compile(r"""["']tool["']\s*:\s*["']([^"']+)["']""")
_FINAL = re.compile(r"""\{\s*["']final["']\s*:\s*["']?""")
_TRAILING_COMMA = re.compile(r",\s*([}\]])")
_DECODER = json.JSONDecoder(strict=False)
_MAX_PASSES = 16
"""How often a text is scanned for values, in total."""
_SKIMMED = 64
"""Characters that are searched in the time in which one is parsed."""
_MAX_REPAIRS, _MAX_REPAIR = 8, 20_000
"""Repairs that are tried, and the characters of each at most."""
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
    """Parse the model's JSON, asking it again where it is invalid. The usage is that of all answers.

    An answer that reached its maximum length is not requested again, since the next would be as long and cost as much:
    its text so far counts.
    """
    names = [tool.name for tool in request.tools] if request.use_tools else []
    spoken = bool(names) or any(message.tool_calls for message in request.messages)
    sent = to_json_mode(request)
    usage = answer.usage
    for _ in range(MAX_CORRECTIONS):
        if read := read_answer(answer, names, spoken=spoken):
            return replace(read, usage=usage)
        if answer.cut:
            break
        wrong = ChatMessage(Role.ASSISTANT, answer.text)
        right = ChatMessage(Role.USER, _AGAIN if names else _ONLY_FINAL, internal=True)
        sent = replace(sent, messages=(*sent.messages, wrong, right))
        answer = await ask(sent)
        usage += answer.usage
    return replace(read_answer(answer, names, spoken=spoken) or _salvaged(answer, names), usage=usage)


def read_answer(answer: ModelAnswer, tools: Collection[str], *, spoken: bool = True) -> ModelAnswer | None:
    """Parse one answer; None for one that neither calls nor answers. Unless the protocol is `spoken`, JSON is text."""
    objects = [value for value in _objects(answer.text) if _is_protocol(value, tools)]
    calls = [_call(index, value, tools) for index, value in enumerate(objects) if "final" not in value]
    if calls:
        return replace(answer, text="", tool_calls=tuple(calls)) if tools else None
    if objects and (spoken or set(objects[0]) == {"final"}):
        final = objects[0]["final"]
        return replace(answer, text=final if isinstance(final, str) else json.dumps(final, ensure_ascii=False))
    if spoken and (_SPOKEN.search(answer.text) or _OBJECT.match(answer.text.lstrip())):
        return None
    return answer


def _objects(text: str) -> Iterator[JsonObject]:
    for value in Reading(text):
        items = value if isinstance(value, list) else [value]
        yield from (item for item in items if isinstance(item, dict))


class Reading:
    """Reads the JSON values of a text one after the other, in linear work.

    The work is counted in characters (`read`): when it reaches so many times the text's length, the rest of the text
    counts as words.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._repairs = _MAX_REPAIRS
        self.read = 0

    def __iter__(self) -> Iterator[Json]:
        """Yield the values, repaired if need be."""
        at = 0
        while self.read <= _MAX_PASSES * len(self._text) and (opening := _OPENING.search(self._text, at)):
            value, at = self._decode(opening.start())
            yield value

    def _decode(self, start: int) -> tuple[Json, int]:
        """Return the value at a position and the position after it; None and the next position where there is none."""
        try:
            value, end = _DECODER.raw_decode(self._text, start)
            self.read += end - start
            return _shallow(value), end
        except json.JSONDecodeError as error:
            # Creating the error counts the lines before its position.
            self.read += error.pos - start + 1 + error.pos // _SKIMMED
        except (ValueError, RecursionError):  # nested too deeply, or NaN
            self.read += len(self._text) - start
            return None, start + 1
        if not self._repairs or len(self._text) - start > _MAX_REPAIR:
            return None, start + 1
        self._repairs -= 1
        self.read += len(self._text) - start
        value = _repaired(self._text[start:].rstrip("` \n"))
        return (None, start + 1) if value is None else (value, len(self._text))


def _repaired(rest: str) -> Json:
    # The outermost brace only: with any other one missing, arguments may be missing too.
    for attempt in (_TRAILING_COMMA.sub(r"\1", rest), rest + "}"):
        try:
            return _shallow(_DECODER.raw_decode(attempt)[0])
        except (ValueError, RecursionError):
            continue
    try:  # the notation of a Python dictionary
        value = ast.literal_eval(rest)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and _is_json(value) else None


def _shallow(value: Json) -> Json:
    check_depth(value)
    return value


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_protocol(value: JsonObject, tools: Collection[str]) -> bool:
    return "final" in value or isinstance(value.get("tool"), str) or value.get("name") in tools


def _call(index: int, value: JsonObject, tools: Collection[str]) -> ToolCall:
    name = value["tool"] if isinstance(value.get("tool"), str) else value["name"]
    arguments = next((value[word] for word in _ARGUMENTS if value.get(word) is not None), {})
    return ToolCall(f"json_{index}", str(name), arguments if isinstance(arguments, str) else json.dumps(arguments))


def _salvaged(answer: ModelAnswer, tools: Collection[str]) -> ModelAnswer:
    """Return what can be salvaged of an invalid answer: the loop tells the model what is wrong with a call."""
    if tools and (named := _NAMED.search(answer.text)):
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
