"""What one call to a model took, used and cost, for the metrics and the trace."""

import time
from types import TracebackType
from typing import Self

from core import metrics
from core.errors import ModelError
from core.llm.call_span import Operation, begin_call, note_answer
from core.llm.types import ModelAnswer, ModelChunk, ModelRequest, TokenUsage

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
        """Count what the answer used and cost."""
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
