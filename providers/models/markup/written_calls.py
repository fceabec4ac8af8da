"""Calls that a model wrote into its text, in the forms that models are trained on and servers fail to read.

A call is read by its structure, from its beginning on: text that looks like a call within the arguments of another,
such as a page's words to be sent on, is a part of these arguments.
"""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.json_types import Json, object_of
from core.llm.types import ToolCall, ToolSpec
from providers.models.markup.loose_json import Reading

BEGINS = (
    r"<(?:\w+:)?(?:tool_calls?|function_calls?|tool_use)>|<(?:\w+:)?(?:function=|(?:function|invoke)\s+name=)"
    r"|\[TOOL_CALLS?\]|<\|tool_calls?(?:_section_begin|_start|_begin)?\|?>|<\|tool_call_begin\|>|<\|python_tag\|>"
    r"|<\|START_ACTION\|>|<\|action_start\|>|<｜tool▁calls?▁begin｜>|<｜DSML｜(?:(?:function_calls|tool_calls)>|invoke\s+name=)"
)
"""Begins a call: Hermes, Qwen, Llama, Claude, MiniMax, Mistral, Granite, Kimi, Cohere, InternLM, DeepSeek."""
_AROUND = re.compile(
    r"(?:\s|,|;|</?(?:\w+:)?(?:tool_calls?|function_calls?|tool_use)>|</?｜DSML｜(?:function_calls|tool_calls)>"
    r"|\[/?TOOL_CALLS?\]|<\|/?tool_calls?(?:_section)?(?:_begin|_start|_end)?\|?>|<tool_calls?\|>|<\|python_tag\|>"
    r"|<\|(?:START|END)_ACTION\|>|<\|action_(?:start|end)\|>|<\|plugin\|>|<｜tool▁(?:calls?▁(?:begin|end)|sep)｜>"
    r"|<\|(?:eom_id|eot_id|im_end|END_OF_TURN_TOKEN)\|>|<｜end▁of▁sentence｜>|</s>|function(?=<｜tool▁sep｜>)"
    r"|```(?:json|xml)?(?=\s|<|$))+"
)
"""Text around calls and between them."""
_NAME = r"(?:functions?\.)?(?P<name>[A-Za-z_][\w.-]{0,99})(?::\d+)?"
_NAMED_OBJECT = re.compile(
    _NAME + r"\s*(?:\[CALL_ID\]\s*[\w-]{1,64}\s*)?(?:\[ARGS\]|<｜tool▁sep｜>|<\|tool_call_argument_begin\|>)?"
    r"\s*(?:```json\s*)?(?=\{)"
)
_NAMED_PAIRS = re.compile(_NAME + r"\s*(?=<arg_key>|</tool_call>)")
_PAIR = re.compile(r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|(?=</tool_call>))", re.DOTALL)
_ELEMENT = re.compile(
    r"<(?P<kind>(?:\w+:|｜DSML｜)?(?:function|invoke))(?:=|\s+name=)[\"']?(?P<name>[\w.:-]{1,100})[\"']?[^<>\n]{0,100}>"
)
_PARAMETER = re.compile(
    r"\s*<(?P<kind>(?:\w+:|｜DSML｜)?parameter)(?:=|\s+name=)[\"']?(?P<name>[^\"'<>\n]{1,100}?)[\"']?"
    r"(?:\s+string=[\"'](?P<string>true|false)[\"'])?\s*>(?P<value>.*?)"
    r"(?:</(?P=kind)>(?=\s*(?:<|\Z))|(?=</(?:\w+:|｜DSML｜)?(?:function|invoke)>))",
    re.DOTALL,
)
_PARAMETER_BEGINS = re.compile(r"\s*<(?:\w+:|｜DSML｜)?parameter\b")
_OBJECT_BEGINS = re.compile(r"\s*(?=\{)")
_ELEMENT_END = re.compile(r"\s*</(?:\w+:|｜DSML｜)?(?:function|invoke)>")
_OBJECT_END = re.compile(r"</(?:\w+:)?(?:tool_calls?|function_calls?|function|invoke|tool_use)>")
_BROKEN_NAME = re.compile(r"""["'](?:name|tool|tool_name)["']\s*:\s*["']([\w.:-]{1,100})["']""")
_LIKELY = re.compile(r"\s*(?:[{<]|\[\s*[\[{\]]|\Z)")
_NAMES, _ARGUMENTS = ("name", "tool_name", "tool", "function"), ("arguments", "parameters", "args", "input")


@dataclass(slots=True)
class WrittenCalls:
    """The calls from a beginning on. `end` is the position after them; the beginning itself if all are words."""

    calls: list[ToolCall] = field(default_factory=list)
    end: int = 0
    broken: bool = False
    """Whether something is a call but cannot be read."""


def may_begin(text: str, after: int) -> bool:
    """Return whether a call may follow a mark that ends at `after`; words that only mention the mark do not."""
    return bool(
        text[after - 1] == "=" or _LIKELY.match(text, after) or _named(text, after) or text.startswith("call:", after)
    )


def read_calls(text: str, start: int, offered: Mapping[str, ToolSpec]) -> WrittenCalls:
    """Read the calls that begin at `start`. A call of a tool that is not offered counts too: the loop reports it."""
    found, reading, at = WrittenCalls(end=start), Reading(text), start
    while not found.broken:
        around = _AROUND.match(text, at)
        at = around.end() if around else at
        if element := _ELEMENT.match(text, at):
            if (after := _element(text, element, offered, found)) is None:
                return found
            at = after
        elif text[at : at + 1] in ("{", "["):
            at = _objects(text, reading, at, found)
        elif named := _NAMED_OBJECT.match(text, at):
            at = _arguments(text, reading, named, found)
        elif pairs := _NAMED_PAIRS.match(text, at):
            at = _pairs(text, pairs, offered, found)
        else:
            found.broken = found.end == start
            break
        found.end = at
    found.end = len(text) if found.broken else at
    return found


def written_call(name: str, arguments: Json) -> ToolCall:
    """Return a call by a name and arguments that are an object or a text; providers refuse other letters in a name."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", name.removeprefix("functions.").removeprefix("function."))[:64]
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    # Nine letters and digits: the only ids that Mistral takes back.
    return ToolCall(uuid.uuid4().hex[:9], name, written)


def _named(text: str, after: int) -> bool:
    at = next((index for index in range(after, min(after + 9, len(text))) if not text[index].isspace()), after)
    return bool(_NAMED_OBJECT.match(text, at) or _NAMED_PAIRS.match(text, at))


def _element(text: str, element: re.Match[str], offered: Mapping[str, ToolSpec], found: WrittenCalls) -> int | None:
    """Read an element; return the position after it, or None if its beginning is only mentioned."""
    name, at = element["name"], element.end()
    if opening := _OBJECT_BEGINS.match(text, at):
        end = _OBJECT_END.search(text, at)
        value, at = Reading(text[: end.start()] if end else text).decode(opening.end())
        if not isinstance(value, dict):
            return _break(text, found, name, text[element.end() :])
        found.calls.append(written_call(name, value))
        closing = _ELEMENT_END.match(text, at)
        return closing.end() if closing else at
    values, schema = dict[str, Json](), _schema(offered, name)
    while parameter := _PARAMETER.match(text, at):
        at = parameter.end()
        values[parameter["name"]] = _value(parameter["value"], schema.get(parameter["name"]), parameter["string"])
    closing = _ELEMENT_END.match(text, at)
    if _PARAMETER_BEGINS.match(text, at) or (not values and not closing and not text[at:].strip()):
        return _break(text, found, name, text[element.end() :])
    if not values and not closing:
        return None
    found.calls.append(written_call(name, values))
    return closing.end() if closing else at


def _objects(text: str, reading: Reading, at: int, found: WrittenCalls) -> int:
    value, end = reading.decode(at)
    if value is None and (closing := _OBJECT_END.search(text, at)):
        value, _ = Reading(text[: closing.start()]).decode(at)
        end = closing.start()
    calls = [_from_object(item) for item in (value if isinstance(value, list) else [value])]
    if not all(calls):
        name = _BROKEN_NAME.search(text, at)
        return _break(text, found, name[1] if name else "", text[at:])
    found.calls += [call for call in calls if call]
    return end


def _arguments(text: str, reading: Reading, named: re.Match[str], found: WrittenCalls) -> int:
    value, end = reading.decode(named.end())
    if not isinstance(value, dict):
        return _break(text, found, named["name"], text[named.end() :])
    found.calls.append(written_call(named["name"], value))
    return end


def _pairs(text: str, named: re.Match[str], offered: Mapping[str, ToolSpec], found: WrittenCalls) -> int:
    at, values, schema = named.end(), dict[str, Json](), _schema(offered, named["name"])
    while pair := _PAIR.match(text, at):
        name, at = pair[1].strip(), pair.end()
        values[name] = _value(pair[2], schema.get(name), None)
    if text[at:].lstrip().startswith("<arg_"):
        return _break(text, found, named["name"], text[named.end() :])
    found.calls.append(written_call(named["name"], values))
    return at


def _from_object(value: Json) -> ToolCall | None:
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    if not name:
        return None
    return written_call(str(name), next((value[key] for key in _ARGUMENTS if value.get(key) is not None), {}))


def _break(text: str, found: WrittenCalls, name: str, written: str) -> int:
    """Keep a call whose arguments cannot be read, with its name if it has any: the loop tells the model."""
    if name:
        found.calls.append(written_call(name, written))
    found.broken = True
    return len(text)


def _schema(offered: Mapping[str, ToolSpec], name: str) -> Mapping[str, Any]:
    return object_of(offered[name].parameters.get("properties")) if name in offered else {}


def _value(written: str, schema: Any, as_text: str | None) -> Json:
    """Return the value of an argument that is written without JSON's quotes, by the schema of its tool."""
    text = re.sub(r"\A[ \t]*\n|\n[ \t]*\Z", "", written)
    if as_text == "true" or (as_text is None and "string" in _types(schema)):
        return text
    word = text.strip().lower()
    for attempt in (text, "null" if word == "none" else word):
        try:
            return json.loads(attempt)  # type: ignore[no-any-return]
        except (ValueError, RecursionError):
            continue
    return text


def _types(schema: Any) -> set[str]:
    """Return the JSON types that a schema allows; text if it names none."""
    if not isinstance(schema, dict):
        return {"string"}
    told = schema.get("type")
    types = {told} if isinstance(told, str) else set(told or ())
    for kind in ("anyOf", "oneOf"):
        for option in schema.get(kind) or ():
            types |= _types(option)
    return types or {"string"}
