"""The handling of failed model calls: a handler for each kind of error.

The layers: again after a pause, the next key, less reasoning effort, a fallback model; then the error is raised, and
the caller tells the person. Calls that fail are repeated for `llm_patience`. A silent call is waited for
longer, since a model that has not begun is not down; each piece of an answer restarts the time, up to
`llm_longest_answer`.
"""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from core.errors import (
    ContextOverflow,
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from core.llm.types import ModelLayer, ModelRequest
from core.loop.config import ReactLoopConfig
from core.loop.context_window import Messages

type Sleep = Callable[[float], Awaitable[None]]
type Handler = Callable[["Effort", ModelError], Awaitable[None]]


@dataclass(slots=True)
class Effort:
    """The attempts at a model answer: a handler changes this for the next attempt, or raises to give up."""

    request: ModelRequest
    layers: tuple[ModelLayer, ...]
    config: ReactLoopConfig
    smaller: Iterator[Messages]
    ends: float
    """When patience runs out, in monotonic seconds; `progress` postpones it."""
    latest: float
    sleep: Sleep
    chance: Callable[[], float]
    tries: int = 0
    """Failed attempts at this layer."""
    overflows: int = 0
    timeouts: int = 0
    layer: int = 0
    cut: bool = False

    @property
    def left(self) -> float:
        return self.ends - time.monotonic()

    def wait(self, *, begun: bool) -> float:
        """Return the time limit for the next piece of an answer that has `begun`, or for its first."""
        silence = self.config.llm_timeout if begun else self.config.llm_first_token_timeout
        return max(min(silence, self.latest - time.monotonic()), 0.1)

    def progress(self) -> None:
        """Restart patience, since a piece came."""
        self.ends = min(time.monotonic() + self.config.llm_patience, self.latest)

    def go_on(self, fits: Callable[[ModelLayer], bool], error: ModelError) -> None:
        """Move to the next layer that fits; raise the error when there is none, or no time."""
        for index in range(self.layer + 1, len(self.layers)):
            if fits(self.layers[index]) and self.left > 0:
                self.layer, self.tries, self.timeouts = index, 0, 0
                self.request = replace(self.request, layer=index)
                return
        raise error

    async def pause(self, seconds: float, error: ModelError) -> None:
        """Wait and try this layer again; move to the next at once when that would be too often or too long."""
        if self.tries > self.config.llm_max_retries or seconds >= self.left:
            self.go_on(lambda layer: True, error)
        else:
            await self.sleep(seconds)

    def backoff(self) -> float:
        """Return the pause before the next attempt: doubling, with jitter of a quarter either way."""
        base = self.config.llm_retry_base_delay * 2.0 ** (self.tries - 1)
        return base * (0.75 + self.chance() / 2)


async def after_rate_limit(effort: Effort, error: ModelError) -> None:
    """Wait as long as the provider asks, or by backoff."""
    delay = error.retry_after if isinstance(error, ModelRateLimited) else None
    await effort.pause(effort.backoff() if delay is None else delay.total_seconds(), error)


async def after_timeout(effort: Effort, error: ModelError) -> None:
    """Try once more, on another model if there is any, which gets the time that the silent model took."""
    effort.timeouts += 1
    now = effort.layers[effort.layer].model
    if any(layer.model != now for layer in effort.layers[effort.layer + 1 :]):
        effort.progress()
    if any(layer.model != now for layer in effort.layers[effort.layer + 1 :]) or effort.timeouts > 1:
        effort.go_on(lambda layer: layer.model != now, error)
    elif effort.left <= 0:
        raise error


async def after_auth_error(effort: Effort, error: ModelError) -> None:
    """Move to the next key, or to a model with a key of its own."""
    now = effort.layers[effort.layer]
    effort.go_on(lambda layer: (layer.model, layer.key) != (now.model, now.key), error)


async def after_overflow(effort: Effort, error: ModelError) -> None:
    """Send a smaller conversation next."""
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
    """Ask another model, since this model will never take the request."""
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


def handler_of(error: ModelError, handlers: Mapping[type[ModelError], Handler]) -> Handler:
    """Return the handler of the error's nearest kind with a handler."""
    return next(handlers[kind] for kind in type(error).__mro__ if kind in handlers)
