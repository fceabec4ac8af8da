"""The thread that owns every structured index: its SQLite is bound to it, and its work holds up no turn."""

import asyncio
import threading
from collections.abc import Coroutine


class OwnerThread:
    """One thread with a loop of its own, started at its first work."""

    def __init__(self, name: str = "memory index") -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    async def run[T](self, work: Coroutine[object, object, T]) -> T:
        """Do a piece of work there and wait for it; cancelling the wait cancels the work."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
            self._thread.start()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self) -> None:
        """End the thread; what it holds goes with it."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self._loop.close()
        self._loop = self._thread = None
