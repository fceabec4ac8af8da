"""The thread that owns every structured index: its SQLite is bound to it, and its work holds up no turn."""

import asyncio
import threading
from collections.abc import Coroutine
from dataclasses import dataclass


@dataclass(slots=True)
class _Waiter:
    """Whoever waits for a piece of work."""

    gone: bool = False


class OwnerThread:
    """One thread with a loop of its own, started at its first work; does one thing at a time."""

    def __init__(self, name: str = "memory index") -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._busy = asyncio.Lock()

    async def run[T](self, work: Coroutine[object, object, T]) -> T:
        """Do a piece of work there and wait for it.

        Whoever is cancelled meanwhile has it left out, unless it has begun: then it comes to its end. Typeagent's
        adding must not be cancelled, or it waits for ever for a reader that has gone (its `_producer_task`, 0.5.0).
        """
        if self._loop is None:
            self._loop, self._busy = asyncio.new_event_loop(), asyncio.Lock()
            self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
            self._thread.start()
        waiter = _Waiter()
        done = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._alone(work, waiter), self._loop))
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            waiter.gone = True
            raise

    def close(self) -> None:
        """End the thread; what it holds goes with it."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self._loop.close()
        self._loop = self._thread = None

    async def _alone[T](self, work: Coroutine[object, object, T], waiter: _Waiter) -> T:
        async with self._busy:
            if waiter.gone:
                work.close()
                raise asyncio.CancelledError
            return await work
