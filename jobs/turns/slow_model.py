"""Tell a person in words that a slow model is still at work, on channels without any other sign of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

import structlog

from core.errors import LeaseLost, StoreUnavailable
from core.hooks.hooks import Hook, HookContext, Messages
from core.llm.types import ModelAnswer
from core.messaging.capabilities import Unseen
from core.messaging.channels import NotificationChannel
from core.messaging.messages import Address
from core.turns.outage import ModelOutage

_log = structlog.get_logger()


@asynccontextmanager
async def told_in_words(
    channel: NotificationChannel, address: Address, outage: ModelOutage | None, said: Callable[[], None]
) -> AsyncIterator[tuple[Hook, ...]]:
    """Yield the hooks that tell the person of a silent model during the block; `said` is called after that message."""
    if not isinstance(channel, Unseen) or outage is None:
        yield ()
        return

    async def tell() -> None:
        try:
            if await outage.tell():
                said()
        except (LeaseLost, StoreUnavailable) as error:
            _log.warning("delay_not_told", turn=outage.turn_id, cause=type(error).__name__)
        except Exception:  # a hint must not cost the answer
            _log.exception("delay_not_told", turn=outage.turn_id)

    watch = _SilenceWatch(channel.told_after, lambda: channel.unseen(address), tell)
    try:
        yield (watch,)
    finally:
        await watch.close()


class _SilenceWatch(Hook):
    """Call `tell` if a model does not answer within some seconds, and nothing shows that it is at work."""

    def __init__(
        self, seconds: float, unseen: Callable[[], bool], tell: Callable[[], Coroutine[None, None, None]]
    ) -> None:
        self._seconds = seconds
        self._unseen = unseen
        self._tell = tell
        self._timers: dict[str, asyncio.TimerHandle] = {}
        """By the agent that asks: several may at once."""
        self._telling: asyncio.Task[None] | None = None

    async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
        self._stop(context.agent_path)
        if self._telling is None:
            self._timers[context.agent_path] = asyncio.get_running_loop().call_later(self._seconds, self._silent)
        return messages

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        self._stop(context.agent_path)
        return answer

    async def close(self) -> None:
        """Stop watching, after a sentence that is being sent."""
        for path in list(self._timers):
            self._stop(path)
        if self._telling is not None:
            await asyncio.wait([self._telling])

    def _silent(self) -> None:
        if self._telling is None and self._unseen():
            self._telling = asyncio.create_task(self._tell(), name="tell of a delay")

    def _stop(self, path: str) -> None:
        if timer := self._timers.pop(path, None):
            timer.cancel()
