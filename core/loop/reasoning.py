"""The model's next answer: make room for it, pay for it, ask, and journal it; or replay it from the journal.

A model is asked until it answers or `core.loop.model_failures` gives up, streamed if it can be.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import structlog

from core import metrics, replies
from core.budgets.types import NoBudget, OutOfMoney
from core.errors import ModelError, ModelTimeout, ModelUnavailable
from core.hooks.hooks import Hook
from core.journal.prompts import SentPrompt
from core.journal.types import StepKey, StepKind, StepRecord, StepState
from core.llm.types import (
    ChatMessage,
    ModelAnswer,
    ModelChunk,
    ModelClient,
    ModelRequest,
    Role,
    StreamingModelClient,
    TextSoFar,
    TokenUsage,
)
from core.loop.budget_extension import pay_with_more
from core.loop.config import ReactLoopConfig
from core.loop.context_window import ContextManager, repair
from core.loop.control import CutOff
from core.loop.model_failures import HANDLERS, Effort, Handler, Sleep, handler_of
from core.loop.run import LoopRun
from core.loop.summarising import in_short

type Tell = Callable[[TextSoFar], Awaitable[None]]

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, and the prompt that was really sent; `cut` if an overflow shortened it."""

    answer: ModelAnswer
    prompt: SentPrompt
    cut: bool = False


@dataclass(frozen=True, slots=True)
class ModelCaller:
    """Ask a model until it answers or nothing is left to try. `sleep` and `chance` are for tests."""

    client: ModelClient
    config: ReactLoopConfig
    context: ContextManager = field(init=False)
    handlers: Mapping[type[ModelError], Handler] = field(default_factory=lambda: HANDLERS)
    sleep: Sleep = asyncio.sleep
    chance: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", ContextManager(self.config))

    async def ask(self, request: ModelRequest, tell: Tell | None = None) -> Asked:
        """Return an answer. `tell` gets the text as it is written; the model is read no faster than `tell` returns.

        Raises the last `ModelError` if nothing is left to try.
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


def _within(answer: ModelAnswer, most: int) -> ModelAnswer:
    """Limit the calls of an answer: keep those that run, and one more, whose refusal stands for all the others.

    Each call is journalled, sent to the model again and kept in history: hundreds in an answer delay everybody.
    """
    return replace(answer, tool_calls=answer.tool_calls[: most + 1])


class Reasoning:
    """Ask a model for the answers of runs. An instance serves many turns at once."""

    def __init__(self, caller: ModelCaller) -> None:
        self._caller = caller
        self._config = caller.config
        self._answer_tokens = caller.config.answer_tokens

    async def think(self, run: LoopRun, *, use_tools: bool = True) -> ModelAnswer:
        """Return the next answer of a run, and move the run to the step after it."""
        known = run.scope.recorded.get(run.key)
        if known is None:
            answer = await self._ask(run, use_tools=use_tools)
        else:
            answer = ModelAnswer.from_json(known.result, known.usage)
            run.tools_changed |= known.arguments_hash != run.tools.offered.hash
        await run.scope.budget.settle(run.key, answer.usage)
        run.step += 1
        run.usage += answer.usage
        run.empties = 0 if answer.text.strip() or answer.tool_calls else run.empties + 1
        if answer.usage.total:
            run.window_tokens = answer.usage.total
        return answer

    async def _ask(self, run: LoopRun, *, use_tools: bool) -> ModelAnswer:
        if run.tools_changed:
            run.say(ChatMessage(Role.USER, replies.TOOLS_CHANGED, internal=True), keep=False)
            run.tools_changed = False
        where, hooks = run.scope.where.at(run.step), run.scope.hooks
        run.step_began = time.monotonic()
        run.see(await hooks.pipe(Hook.prepare_step, run.window, where))
        await self._make_room(run)
        messages = await hooks.pipe(Hook.pre_reasoning, run.window, where)
        request = ModelRequest(
            messages=messages if messages is run.window else repair(messages),
            tools=run.tools.offered.specs,
            use_tools=use_tools,
            parallel_tools=self._config.parallel_tools,
            max_output_tokens=self._answer_tokens,
            temperature=self._config.temperature,
        )
        heard = hooks.hears(Hook.reasoning_chunk)
        tell = (lambda so_far: hooks.tell(Hook.reasoning_chunk, where, so_far)) if heard else None
        asked = await self._pay_and_ask(run, run.key, request, tell)
        if asked.cut:
            run.see(asked.prompt.request.messages)
        answer = _within(await hooks.pipe(Hook.post_reasoning, asked.answer, where), self._config.max_calls_per_answer)
        await run.scope.journal.write(
            StepRecord(
                run.key,
                StepKind.MODEL,
                answer.model,
                StepState.DONE,
                arguments_hash=run.tools.offered.hash,
                result=answer.to_json(),
                usage=answer.usage,
                duration_ms=int((time.monotonic() - run.step_began) * 1000),
                prompt=asked.prompt,
                # The turn's last answer is written with its end, and asked for again if it is lost before that. One
                # that is paid is written at once, and so is an agent's, which may act on it.
                may_wait=not (answer.tool_calls or where.agent_path) and isinstance(run.scope.budget, NoBudget),
            )
        )
        return answer

    async def _make_room(self, run: LoopRun) -> None:
        """Drop the oldest messages when the context is nearly full, and summarise them first if configured."""
        trimmed = self._caller.context.fitting(run.window, run.window_tokens)
        if trimmed is run.window:
            return
        if self._config.summarise_dropped:

            async def ask(key: StepKey, request: ModelRequest) -> ModelAnswer:
                return (await self._pay_and_ask(run, key, request, may_ask=False)).answer

            trimmed = await in_short(run, trimmed, self._config.context_token_limit, ask)
        run.see(trimmed)

    async def _pay_and_ask(
        self, run: LoopRun, key: StepKey, request: ModelRequest, tell: Tell | None = None, *, may_ask: bool = True
    ) -> Asked:
        """Pay for a request and make it; `may_ask`: whether the person may be asked for more money."""
        scope = run.scope
        try:
            await scope.budget.reserve(key, request)
        except OutOfMoney as spent:
            if scope.where.agent_path or not may_ask:
                raise  # only the turn's own loop may ask the person for more
            await pay_with_more(scope, key, request, spent)
        try:
            async with run.steering.cuts_off():
                return await self._caller.ask(request, tell)
        except ModelError:
            await scope.budget.release(key)
            raise
        except CutOff:
            # Providers bill calls that they have begun: whoever stops call after call may not get past their budget.
            await scope.budget.settle(key, TokenUsage())
            raise
