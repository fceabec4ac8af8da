"""The thread that owns every structured index: SQLite is bound to its thread, and this work must not block turns."""

import asyncio
import threading
from collections.abc import Coroutine
from dataclasses import dataclass


@dataclass(slots=True)
class _Waiter:
    """A caller that waits for a piece of work."""

    gone: bool = False


class OwnerThread:
    """A thread with its own loop, started at first use, that does a single piece of work at a time."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._busy = asyncio.Lock()

    async def run[T](self, work: Coroutine[object, object, T]) -> T:
        """Do a piece of work in the thread and wait for it.

        If the caller is cancelled, work that has not begun is skipped, and work that has begun is finished: typeagent
        must not be cancelled while it adds, or it waits forever for a reader that is gone (`_producer_task`, 0.5.0).
        """
        if self._loop is None:
            self._loop, self._busy = asyncio.new_event_loop(), asyncio.Lock()
            self._thread = threading.Thread(target=self._loop.run_forever, name="memory index", daemon=True)
            self._thread.start()
        waiter = _Waiter()
        done = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._alone(work, waiter), self._loop))
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            waiter.gone = True
            raise

    def close(self) -> None:
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
