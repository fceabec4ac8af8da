"""Tools for models that have no tool calling: the same request over a small JSON protocol.

The model answers {"tool": name, "arguments": {…}} or {"final": text}. What is neither comes back as a call that
the loop answers with what is right, or as plain text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from core.json_types import Json, JsonObject
from core.model_types import ChatMessage, ModelAnswer, ModelRequest, Role, ToolCall, ToolSpec

_PROTOCOL = """You can use tools. Answer with one JSON object and nothing else:
to use a tool, {"tool": "its name", "arguments": {...}}; to answer the person, {"final": "your answer"}.
After a tool you are given its result, and go on. The tools:
"""
_FENCE = re.compile(r"^\s*```(?:json)?\s*|\s*```\s*$")
_NAME = re.compile(r'"tool"\s*:\s*"([^"]+)"')
_TRAILING_COMMA = re.compile(r",\s*([}\]])")


def to_json_mode(request: ModelRequest) -> ModelRequest:
    """Write tools, calls and results into the messages as text."""
    messages = [_as_text(message) for message in request.messages]
    if request.use_tools and request.tools:
        messages = _with_protocol(messages, request.tools)
    return replace(request, messages=tuple(messages), tools=())


def from_json_mode(answer: ModelAnswer) -> ModelAnswer:
    """Read the model's JSON; repair what is nearly JSON."""
    told = _read(_FENCE.sub("", answer.text))
    items = told if isinstance(told, list) else [told]
    calls = [
        ToolCall(f"json_{index}", str(item["tool"]), json.dumps(item.get("arguments") or {}))
        for index, item in enumerate(items)
        if isinstance(item, dict) and "tool" in item
    ]
    if calls:
        return replace(answer, text="", tool_calls=tuple(calls))
    if isinstance(told, dict) and "final" in told:
        final = told["final"]
        return replace(answer, text=final if isinstance(final, str) else json.dumps(final))
    if told is None and (named := _NAME.search(answer.text)):
        return replace(answer, text="", tool_calls=(ToolCall("json_0", named[1], answer.text),))
    return answer


def _as_text(message: ChatMessage) -> ChatMessage:
    if message.role is Role.TOOL:
        told: JsonObject = {"result_of": message.name, "result": message.text}
        return ChatMessage(Role.USER, json.dumps(told, ensure_ascii=False), internal=True)
    if message.tool_calls:
        calls: list[JsonObject] = [
            {"tool": call.name, "arguments": _read(call.arguments) or {}} for call in message.tool_calls
        ]
        return ChatMessage(Role.ASSISTANT, json.dumps(calls[0] if len(calls) == 1 else calls))
    return message


def _with_protocol(messages: list[ChatMessage], tools: Sequence[ToolSpec]) -> list[ChatMessage]:
    listed = "\n".join(f"- {tool.name}: {tool.description} {json.dumps(tool.parameters)}" for tool in tools)
    protocol = _PROTOCOL + listed
    if messages and messages[0].role is Role.SYSTEM:
        return [replace(messages[0], text=f"{messages[0].text}\n\n{protocol}"), *messages[1:]]
    return [ChatMessage(Role.SYSTEM, protocol), *messages]


def _read(text: str) -> Json:
    """Read the first JSON value in a text; None when there is none."""
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0:
        return None
    for attempt in (text[start:], _TRAILING_COMMA.sub(r"\1", text[start:])):
        try:
            value: Json = json.JSONDecoder(strict=False).raw_decode(attempt)[0]
            return value
        except ValueError:
            continue
    return None
