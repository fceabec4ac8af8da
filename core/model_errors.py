"""What to do when a model call fails: one handler a kind of error; `ModelCaller` only dispatches.

The onion: the same again after a pause, the next key, less reasoning effort, a fallback model; then the error is
the caller's, who tells the person. All of it fits into `llm_patience`.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import structlog

from core.context_manager import ContextManager, Messages
from core.errors import (
    ContextOverflow,
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from core.model_types import ModelAnswer, ModelClient, ModelLayer, ModelRequest
from core.react_config import ReactLoopConfig

type Sleep = Callable[[float], Awaitable[None]]
type Handler = Callable[["Effort", ModelError], Awaitable[None]]

_log = structlog.get_logger()


@dataclass(slots=True)
class Effort:
    """One model answer being sought: a handler changes it for the next try, or raises to give up."""

    request: ModelRequest
    layers: tuple[ModelLayer, ...]
    config: ReactLoopConfig
    smaller: Iterator[Messages]
    ends: float
    sleep: Sleep
    chance: Callable[[], float]
    tries: int = 0
    """Failed tries of this layer."""
    overflows: int = 0
    timeouts: int = 0
    layer: int = 0
    cut: bool = False

    @property
    def left(self) -> float:
        """Give the seconds that remain."""
        return self.ends - time.monotonic()

    def go_on(self, fits: Callable[[ModelLayer], bool], error: ModelError) -> None:
        """Take the next layer that fits; raise the error when there is none, or no time."""
        for index in range(self.layer + 1, len(self.layers)):
            if fits(self.layers[index]) and self.left > 0:
                self.layer, self.tries, self.timeouts = index, 0, 0
                self.request = replace(self.request, layer=index)
                return
        raise error

    async def pause(self, seconds: float, error: ModelError) -> None:
        """Wait and try this layer again, or take the next at once when that would be too often or too long."""
        if self.tries > self.config.llm_max_retries or seconds >= self.left:
            self.go_on(lambda layer: True, error)
        else:
            await self.sleep(seconds)

    def backoff(self) -> float:
        """Give the pause before the next try: doubling, with jitter of a quarter either way."""
        base = self.config.llm_retry_base_delay * 2.0 ** (self.tries - 1)
        return base * (0.75 + self.chance() / 2)


async def after_rate_limit(effort: Effort, error: ModelError) -> None:
    """Wait as long as the provider says, or by backoff."""
    told = error.retry_after if isinstance(error, ModelRateLimited) else None
    await effort.pause(effort.backoff() if told is None else told.total_seconds(), error)


async def after_timeout(effort: Effort, error: ModelError) -> None:
    """Try once more, on another model where there is one."""
    effort.timeouts += 1
    now = effort.layers[effort.layer].model
    if any(layer.model != now for layer in effort.layers[effort.layer + 1 :]) or effort.timeouts > 1:
        effort.go_on(lambda layer: layer.model != now, error)
    elif effort.left <= 0:
        raise error


async def after_auth_error(effort: Effort, error: ModelError) -> None:
    """Take the next key, else a model with a key of its own."""
    now = effort.layers[effort.layer]
    effort.go_on(lambda layer: (layer.model, layer.key) != (now.model, now.key), error)


async def after_overflow(effort: Effort, error: ModelError) -> None:
    """Send a smaller conversation: the one that the context manager cut, and not the same again."""
    effort.overflows += 1
    smaller = next(effort.smaller, None)
    if smaller is None or effort.overflows > effort.config.max_overflow_recovery_attempts:
        raise error
    effort.request = replace(effort.request, messages=smaller)
    effort.cut = True


async def after_unavailable(effort: Effort, error: ModelError) -> None:
    """Wait a little and try again."""
    await effort.pause(effort.backoff(), error)


async def after_rejected(effort: Effort, error: ModelError) -> None:
    """Ask another model, since this one never will."""
    now = effort.layers[effort.layer].model
    effort.go_on(lambda layer: layer.model != now, error)


HANDLERS: Mapping[type[ModelError], Handler] = {
    ModelRateLimited: after_rate_limit,
    ModelTimeout: after_timeout,
    ModelAuthError: after_auth_error,
    ContextOverflow: after_overflow,
    ModelUnavailable: after_unavailable,
    ModelRejected: after_rejected,
    ModelError: after_unavailable,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, and the messages that were really sent; `cut` when an overflow made them fewer."""

    answer: ModelAnswer
    messages: Messages
    cut: bool = False


@dataclass(frozen=True, slots=True)
class ModelCaller:
    """Ask a model until it answers or there is nothing left to try. `sleep` and `chance` are for tests."""

    client: ModelClient
    config: ReactLoopConfig
    context: ContextManager
    handlers: Mapping[type[ModelError], Handler] = field(default_factory=lambda: HANDLERS)
    sleep: Sleep = asyncio.sleep
    chance: Callable[[], float] = random.random

    async def ask(self, request: ModelRequest) -> Asked:
        """Get one answer. Raises the last `ModelError` when every way is closed."""
        effort = Effort(
            request=request,
            layers=tuple(self.client.layers),
            config=self.config,
            smaller=self.context.recoveries(request.messages),
            ends=time.monotonic() + self.config.llm_patience,
            sleep=self.sleep,
            chance=self.chance,
        )
        while True:
            timeout = max(min(self.config.llm_timeout, effort.left), 0.1)
            try:
                answer = await self._try(replace(effort.request, timeout=timeout))
                return Asked(answer, effort.request.messages, effort.cut)
            except ModelError as error:
                effort.tries += 1
                layer = effort.layers[effort.layer]
                _log.warning(
                    "model_failed", kind=type(error).__name__, cause=str(error), layer=layer.model, key=layer.key
                )
                await self._handler(error)(effort, error)

    async def _try(self, request: ModelRequest) -> ModelAnswer:
        try:
            async with asyncio.timeout(request.timeout):
                return await self.client.answer(request)
        except TimeoutError as error:
            raise ModelTimeout(f"no answer within {request.timeout:.1f} s") from error

    def _handler(self, error: ModelError) -> Handler:
        return next(self.handlers[kind] for kind in type(error).__mro__ if kind in self.handlers)
