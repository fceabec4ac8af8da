"""Calls, conversations, tools and answers in OpenAI's chat format, which litellm speaks for every provider; pure."""

import base64
import re
from collections.abc import Sequence
from typing import Any

from core.json_types import Json, JsonObject, read_json, storable
from core.llm.types import (
    ChatMessage,
    Marker,
    ModelAnswer,
    ModelLayer,
    ModelRequest,
    Role,
    TokenUsage,
    ToolCall,
    ToolSpec,
)
from providers.models.litellm_refusals import refusal_in

# Anthropic and Google refuse a conversation that the assistant begins, as it does in notifications.
_USER_FIRST = re.compile("claude|anthropic|gemini", re.IGNORECASE)
# Anthropic caches a prompt only up to its marks, at any provider of the model; others cache by themselves.
_MARKED = re.compile(r"anthropic/|(?:(?:vertex_ai|bedrock|openrouter)/.*)?claude")
_MARK: JsonObject = {"type": "ephemeral"}


NET = 2.0
"""Seconds after a call's own timeout before litellm gives up, too: the caller keeps the time."""


def call_arguments(
    request: ModelRequest, layer: ModelLayer, key: str | None, longest: object, *, sees: bool
) -> dict[str, Any]:
    """Return the arguments of litellm for a call; a model writes no more than `longest` tokens, if that is known.

    Providers refuse a request for more. `sees`: the model reads pictures.
    """
    arguments: dict[str, Any] = {
        "model": layer.model,
        "messages": format_messages(request.messages, layer.model, sees=sees),
        "timeout": request.timeout + NET,
        "max_retries": 0,
        "num_retries": 0,
    }
    if request.tools and request.use_tools:
        arguments["tools"] = format_tools(request.tools, layer.model)
        if not request.parallel_tools:
            arguments["parallel_tool_calls"] = False
    most = request.max_output_tokens
    optional = {
        "max_tokens": min(most, longest) if most is not None and isinstance(longest, int) else most,
        "temperature": request.temperature,
        "reasoning_effort": layer.reasoning_effort or None,
        "api_key": key,
    }
    return arguments | {name: value for name, value in optional.items() if value is not None}


def format_messages(messages: Sequence[ChatMessage], model: str, *, sees: bool = False) -> list[JsonObject]:
    """Return a conversation in the form for `model`: its own thinking goes back to it, another model's does not.

    `sees`: it reads pictures; any other model is told that it does not see them.
    """
    out = [_with_pictures(message, sees) if message.pictures else _message(message, model) for message in messages]
    for index in _stable_ends(messages, model):
        out[index]["cache_control"] = _MARK
    first = next((index for index, message in enumerate(messages) if message.role is not Role.SYSTEM), len(out))
    if _USER_FIRST.search(model) and out[first : first + 1] and messages[first].role is not Role.USER:
        out.insert(first, {"role": "user", "content": "[The assistant writes first.]"})
    return out


def _stable_ends(messages: Sequence[ChatMessage], model: str) -> list[int]:
    """Return the messages up to which a conversation's prompt should be cached; none of another request.

    These are the system prompt, the last message of the history, and once tools were called the newest result.
    """
    context = next((index for index, message in enumerate(messages) if message.marker is Marker.CONTEXT), 0)
    if not context or not _MARKED.match(model):
        return []
    ends = {index for index in (0, context - 1) if messages[index].text}
    if messages[-1].role is Role.TOOL:
        ends.add(len(messages) - 1)
    return sorted(ends)


def _with_pictures(message: ChatMessage, sees: bool) -> JsonObject:
    text = storable(message.text)
    if not sees:
        return {"role": message.role.value, "content": f"{text}\n[You cannot see this picture. Say so.]"}
    parts: list[Json] = [{"type": "text", "text": text}]
    for picture in message.pictures:
        url = f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return {"role": message.role.value, "content": parts}


def _message(message: ChatMessage, model: str) -> JsonObject:
    out: JsonObject = {"role": message.role.value, "content": storable(message.text)}
    if message.role is Role.TOOL:
        out["tool_call_id"] = message.tool_call_id
        return out
    if message.tool_calls:
        out["content"] = message.text or None
        out["tool_calls"] = [format_call(call, keep_extra=message.model == model) for call in message.tool_calls]
    if message.model == model:
        blocks = [block for block in message.thinking if block.get("type") != "reasoning_content"]
        plain = [block["text"] for block in message.thinking if block.get("type") == "reasoning_content"]
        if blocks:
            out["thinking_blocks"] = list(blocks)
        elif plain:
            out["reasoning_content"] = plain[0]
    return out


def format_call(call: ToolCall, *, keep_extra: bool) -> JsonObject:
    """Return a tool call. `keep_extra`: with the fields that only its own provider reads."""
    out: JsonObject = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": _object_text(call.arguments)},
    }
    if call.extra and keep_extra:
        out["provider_specific_fields"] = call.extra
    return out


def _object_text(arguments: str) -> str:
    """Return arguments as the text of a JSON object: providers refuse requests that repeat a model's bad JSON."""
    try:
        return arguments if isinstance(read_json(arguments), dict) else "{}"
    except ValueError:
        return "{}"


def parse_answer(response: Any, model: str) -> ModelAnswer:
    """Return litellm's response as our answer; calls without an id, or with another's, get an id."""
    choice = response.choices[0]
    message = choice.message
    calls: list[ToolCall] = []
    for index, call in enumerate(message.tool_calls or ()):
        fresh = call.id and all(call.id != other.id for other in calls)
        calls.append(
            ToolCall(
                id=str(call.id) if fresh else f"{response.id or 'call'}_{index}",
                name=storable(str(call.function.name or "")),
                arguments=storable(str(call.function.arguments or "")),
                extra=dict(getattr(call, "provider_specific_fields", None) or {}),
            )
        )
    return ModelAnswer(
        text=storable(str(message.content or "")),
        tool_calls=tuple(calls),
        thinking=_thinking(message),
        usage=_usage(response),
        model=model,
        finish_reason=str(choice.finish_reason or ""),
        refusal=refusal_in(message),
    )


def _thinking(message: Any) -> tuple[JsonObject, ...]:
    if blocks := getattr(message, "thinking_blocks", None):
        return tuple(dict(block) for block in blocks)
    if plain := getattr(message, "reasoning_content", None):
        return ({"type": "reasoning_content", "text": str(plain)},)
    return ()


def _usage(response: Any) -> TokenUsage:
    usage = getattr(response, "usage", None)
    if usage is None:
        return TokenUsage()
    details = getattr(usage, "prompt_tokens_details", None)
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    return TokenUsage(
        usage.prompt_tokens or 0,
        usage.completion_tokens or 0,
        getattr(details, "cached_tokens", 0) or 0,
        cost if isinstance(cost, float) and cost > 0 else None,
    )


def format_tools(tools: Sequence[ToolSpec], model: str) -> list[JsonObject]:
    out = [format_tool(tool) for tool in tools]
    if out and _MARKED.match(model):
        out[-1]["cache_control"] = _MARK
    return out


def format_tool(tool: ToolSpec) -> JsonObject:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }
