"""A call to a model as a span, by OpenTelemetry's conventions for generative AI."""

from enum import StrEnum
from typing import cast

from core import tracing
from core.json_types import Json, JsonObject, canonical_json, storable
from core.llm.types import ChatMessage, ModelAnswer, ModelRequest, Role, TokenUsage, ToolCall
from core.tracing import Span, SpanKind

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""What the conventions call a provider, where litellm's prefix is another word."""


class Operation(StrEnum):
    """What a model is asked for."""

    CHAT = "chat"
    EMBEDDINGS = "embeddings"
    TRANSCRIPTION = "transcription"


def begin_call(model: str, operation: Operation, request: ModelRequest | None) -> Span | None:
    """Begin the span of one call; None while nothing is recorded. `model` is the name in the settings."""
    if not tracing.is_on():
        return None
    provider, _, name = model.rpartition("/") if model.count("/") < 2 else model.partition("/")
    attributes: dict[str, str | int | float] = {
        "gen_ai.operation.name": operation.value,
        "gen_ai.request.model": name,
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider) or "_OTHER",
    }
    if request is not None and request.max_output_tokens is not None:
        attributes["gen_ai.request.max_tokens"] = request.max_output_tokens
    if request is not None and request.temperature is not None:
        attributes["gen_ai.request.temperature"] = request.temperature
    if request is not None and tracing.captures_content():
        attributes["gen_ai.input.messages"] = _as_text([_message(message) for message in request.messages])
    return tracing.begin(f"{operation.value} {name}", SpanKind.CLIENT, attributes)


def note_answer(span: Span, usage: TokenUsage, answer: ModelAnswer | None) -> None:
    """Set what an answer used and, where the operator wants texts, what it says."""
    attributes: dict[str, str | int | float | list[str]] = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
    }
    if usage.cost is not None:
        attributes["onevalet.cost"] = usage.cost
    if answer is not None and answer.finish_reason:
        attributes["gen_ai.response.finish_reasons"] = [answer.finish_reason]
    if answer is not None and tracing.captures_content():
        said = _message(answer.message()) | {"finish_reason": answer.finish_reason}
        attributes["gen_ai.output.messages"] = _as_text([said])
    span.set(attributes)


def _message(message: ChatMessage) -> JsonObject:
    if message.role is Role.TOOL:
        result: JsonObject = {"type": "tool_call_response", "id": message.tool_call_id, "response": message.text}
        return {"role": message.role.value, "parts": [result]}
    parts: list[Json] = [{"type": "text", "content": message.text}] if message.text else []
    parts += [_call(call) for call in message.tool_calls]
    return {"role": message.role.value, "parts": parts}


def _call(call: ToolCall) -> JsonObject:
    return {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}


def _as_text(messages: list[JsonObject]) -> str:
    return canonical_json(storable(cast(Json, messages)))
