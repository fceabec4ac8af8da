"""The time, usage and cost of a call to a model, for the metrics and the trace.

Its span follows OpenTelemetry's conventions for generative AI.
"""

import time
from enum import StrEnum
from types import TracebackType
from typing import Self, cast

from core import metrics, tracing
from core.errors import ModelError
from core.json_types import Json, JsonObject, canonical_json, storable
from core.llm.types import ChatMessage, ModelAnswer, ModelChunk, ModelRequest, Role, TokenUsage, ToolCall
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
"""The conventions' names of providers, if they differ from litellm's prefix."""


class Operation(StrEnum):
    """Requests to a model."""

    CHAT = "chat"
    EMBEDDINGS = "embeddings"
    TRANSCRIPTION = "transcription"
    SPEECH = "speech"


def begin_call(model: str, operation: Operation, request: ModelRequest | None) -> Span | None:
    """Begin the span of a call; None while nothing is recorded. `model` is the name in the settings."""
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
    """Set an answer's usage and, if the operator wants texts, its text."""
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


_OK = "ok"
_CUT_OFF = "cut_off"
"""The caller waited no longer, or the person stopped the turn."""


class CallMeter:
    """Measure the call that is made inside the block. `model` is the name in the settings."""

    def __init__(self, model: str, request: ModelRequest | None = None, operation: Operation = Operation.CHAT) -> None:
        self._model = model
        self._began = time.monotonic()
        self._is_answered = False
        self._span = begin_call(model, operation, request)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A reader who has the answer closes the stream, which is no failure.
        outcome = _OK if self._is_answered or kind is None else _name(kind)
        metrics.MODEL_CALL_SECONDS.labels(self._model, outcome).observe(time.monotonic() - self._began)
        if self._span is not None:
            if outcome != _OK:
                self._span.fail(outcome)
            self._span.end()

    def read(self, chunk: ModelChunk) -> ModelAnswer | None:
        """Return the answer of a stream's last piece; None for the pieces before it."""
        if chunk.answer is not None:
            self.answered(chunk.answer.usage, chunk.answer)
        return chunk.answer

    def answered(self, usage: TokenUsage, answer: ModelAnswer | None = None) -> None:
        """Count the answer's usage and cost."""
        self._is_answered = True
        used = {"input": usage.input_tokens, "cached": usage.cached_tokens, "output": usage.output_tokens}
        for kind, tokens in used.items():
            metrics.MODEL_TOKENS.labels(self._model, kind).inc(tokens)
        if usage.cost:
            metrics.MODEL_COST.labels(self._model).inc(usage.cost)
        if self._span is not None:
            note_answer(self._span, usage, answer)


def _name(kind: type[BaseException]) -> str:
    if issubclass(kind, ModelError):
        return kind.__name__
    return "failed" if issubclass(kind, Exception) else _CUT_OFF
