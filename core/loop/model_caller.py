"""Ask a model, streamed where it can be, until it answers or `core.loop.model_failures` gives up."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

import structlog

from core import metrics
from core.errors import ModelError, ModelTimeout, ModelUnavailable
from core.journal.prompts import SentPrompt
from core.llm.types import ModelAnswer, ModelChunk, ModelClient, ModelRequest, StreamingModelClient, TextSoFar
from core.loop.config import ReactLoopConfig
from core.loop.context_window import ContextManager, Messages
from core.loop.model_failures import HANDLERS, Effort, Handler, Sleep, handler_of

type Tell = Callable[[TextSoFar], Awaitable[None]]

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, and the prompt that was really sent; `cut` if an overflow shortened it."""

    answer: ModelAnswer
    prompt: SentPrompt
    cut: bool = False

    @property
    def messages(self) -> Messages:
        return self.prompt.request.messages


@dataclass(frozen=True, slots=True)
class ModelCaller:
    """Ask a model until it answers or nothing is left to try. `sleep` and `chance` are for tests."""

    client: ModelClient
    config: ReactLoopConfig
    context: ContextManager
    handlers: Mapping[type[ModelError], Handler] = field(default_factory=lambda: HANDLERS)
    sleep: Sleep = asyncio.sleep
    chance: Callable[[], float] = random.random

    async def ask(self, request: ModelRequest, tell: Tell | None = None) -> Asked:
        """Return one answer. `tell` gets the text as it is written; the model is read no faster than `tell` returns.

        Raises the last `ModelError` when nothing is left to try.
        """
        now = time.monotonic()
        effort = Effort(
            request=request,
            layers=tuple(self.client.layers),
            config=self.config,
            smaller=self.context.recoveries(request.messages),
            ends=now + self.config.llm_patience,
            latest=now + self.config.llm_longest_answer,
            sleep=self.sleep,
            chance=self.chance,
        )
        while True:
            try:
                answer = await self._try(effort.request.within(effort.wait(begun=False)), effort, tell)
                return Asked(answer, SentPrompt(effort.request, effort.layers[effort.layer]), effort.cut)
            except ModelError as error:
                effort.tries += 1
                layer = effort.layers[effort.layer]
                metrics.MODEL_FAILURES.labels(layer.model, type(error).__name__).inc()
                _log.warning(
                    "model_failed", kind=type(error).__name__, cause=str(error), layer=layer.model, key=layer.key
                )
                await handler_of(error, self.handlers)(effort, error)

    async def _try(self, request: ModelRequest, effort: Effort, tell: Tell | None) -> ModelAnswer:
        if self.config.llm_streaming and isinstance(self.client, StreamingModelClient):
            async with aclosing(self.client.stream(request)) as chunks:
                return await _read(chunks, effort, tell)
        try:
            async with asyncio.timeout(request.timeout):
                answer = await self.client.answer(request)
        except TimeoutError as error:
            raise ModelTimeout(f"no answer within {request.timeout:.1f} s") from error
        if tell and answer.text:
            await tell(TextSoFar(answer.text, answer.text))
        return answer


async def _read(chunks: AsyncGenerator[ModelChunk], effort: Effort, tell: Tell | None) -> ModelAnswer:
    """Read an answer to its end. Each piece must come in time; the time that `tell` takes does not count."""
    whole, begun = "", False
    while True:
        wait = effort.wait(begun=begun)
        try:
            async with asyncio.timeout(wait):
                chunk = await anext(chunks)
        except TimeoutError as error:
            raise ModelTimeout(f"nothing for {wait:.1f} s") from error
        except StopAsyncIteration as error:
            raise ModelUnavailable("a stream without an answer") from error
        if chunk.text:
            whole += chunk.text
            if tell:
                await tell(TextSoFar(chunk.text, whole))
        begun |= chunk.begun
        effort.progress()
        if chunk.answer is not None:
            if tell and not whole and chunk.answer.text:
                await tell(TextSoFar(chunk.answer.text, chunk.answer.text))
            return chunk.answer
        if effort.left <= 0:
            raise ModelTimeout("an answer without end")
