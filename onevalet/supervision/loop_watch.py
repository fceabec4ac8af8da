"""A worker's watch over itself: its loop beats, and if it stops, a thread logs the loop's stack."""

import asyncio
import os
import signal
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import structlog

from core.queue.quarantine import CURRENT_WORK, QuarantineMode
from onevalet.settings import Settings
from onevalet.supervision.health import HealthFile
from onevalet.supervision.heartbeat import BEAT_EVERY, BLOCKED_AFTER, Heartbeat, Observer, end_without_beat, never_end
from onevalet.supervision.systemd import notify
from onevalet.supervision.worker_start import WorkerStart

ORPHAN_GRACE = 30
"""Checks for which a worker without its supervisor may take to end by itself: longer than it waits for its turns."""
WRITE_EVERY = 5
"""Beats between two writes of the health file."""
_FRAMES = 12

_log = structlog.get_logger()


class LoopWatch:
    """The beats of a loop. Call `begin_work` when the worker has started all of its parts."""

    def __init__(self, heartbeat: Heartbeat, health: HealthFile | None, *, ends: bool, speaks: bool) -> None:
        self._heartbeat = heartbeat
        self._health = health
        self._ends = ends
        self._speaks = speaks

    def begin_work(self) -> None:
        """Record that the worker has started: from now on the shorter limit applies, and it counts as healthy."""
        self._heartbeat.begin_work()
        self._tell()
        if self._speaks:
            notify("READY=1")

    def note_stalls(self, stalls: Sequence[str]) -> None:
        """Write these stalls to the health file from now on."""
        if self._health is not None:
            self._health.stalls = tuple(stalls)

    async def beat(self) -> None:
        """Beat until cancelled."""
        while True:
            self._heartbeat.beat()
            if self._ends:
                end_without_beat()
            if self._heartbeat.started and self._heartbeat.beats % WRITE_EVERY == 0:
                self._tell()
            await asyncio.sleep(BEAT_EVERY)

    def _tell(self) -> None:
        if self._health is not None:
            self._health.write()
        if self._speaks:
            notify("WATCHDOG=1")


def worker_watch(settings: Settings, start: WorkerStart) -> AbstractAsyncContextManager[LoopWatch]:
    """Watch the loop of a worker process. Only the worker itself has a health file, not its private processes."""
    shown = start.quarantine is not QuarantineMode.ONLY
    return watched_loop(
        start.heartbeat,
        supervisor=start.supervisor,
        ends=True,
        speaks=not start.supervisor,
        health_file=settings.onevalet_health_file if shown else None,
    )


@asynccontextmanager
async def watched_loop(
    heartbeat: Heartbeat | None = None,
    *,
    supervisor: int = 0,
    ends: bool = False,
    speaks: bool = False,
    health_file: Path | None = None,
) -> AsyncIterator[LoopWatch]:
    """Watch the running loop during the block.

    `supervisor`: the pid of the parent process; this process ends with it. `ends`: a loop that hangs ends its process,
    to be started again; otherwise it is only logged. `speaks`: this process reports to systemd.
    """
    heartbeat = heartbeat or Heartbeat()
    health = HealthFile(health_file) if health_file else None
    watch = LoopWatch(heartbeat, health, ends=ends, speaks=speaks)
    beating = asyncio.create_task(watch.beat(), name="heartbeat")
    thread = _WatchThread(asyncio.get_running_loop(), heartbeat, supervisor, ends=ends and not supervisor)
    thread.start()
    try:
        yield watch
    finally:
        if speaks:
            notify("STOPPING=1")
        beating.cancel()
        await asyncio.wait([beating])
        never_end()
        thread.stop()
        if health is not None:
            health.remove()


class _WatchThread(threading.Thread):
    """Check the heartbeat each second from outside the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, heartbeat: Heartbeat, supervisor: int, *, ends: bool) -> None:
        super().__init__(name="loop watch", daemon=True)
        self._loop = loop
        self._loop_thread = threading.get_ident()
        self._heartbeat = heartbeat
        self._observer = Observer(heartbeat)
        self._supervisor = supervisor
        self._ends = ends
        self._alone = 0
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Stop checking, unless there is a supervisor: if it has gone, this process may not stay alive for long."""
        if not self._supervisor:
            self._stopped.set()

    def run(self) -> None:
        """Check until told to stop."""
        blocked = 0
        while not self._stopped.wait(BEAT_EVERY):
            silent = self._observer.check()
            if silent >= BLOCKED_AFTER and self._heartbeat.started:
                self._tell_where(silent)
            elif blocked >= BLOCKED_AFTER > silent:
                self._heartbeat.work = ""
                _log.warning("loop_unblocked", seconds=blocked)
            blocked = silent
            if self._ends and self._observer.hung:
                _end(f"the loop hung for {silent} s")
            self._alone = self._alone + 1 if self._supervisor and os.getppid() != self._supervisor else 0
            if self._alone > ORPHAN_GRACE or (self._alone and silent >= BLOCKED_AFTER):
                _end("the supervisor has gone")

    def _tell_where(self, silent: int) -> None:
        self._heartbeat.work = work = self._work()
        if silent == BLOCKED_AFTER:
            _log.error("loop_blocked", seconds=silent, work=work, at=self._places())

    def _work(self) -> str:
        """Return the work of the task that holds the loop."""
        task = asyncio.current_task(self._loop)
        return str(task.get_context().get(CURRENT_WORK, "")) if task is not None else ""

    def _places(self) -> list[str]:
        """Return the stack of the loop's thread, innermost first: places in the code, no values."""
        frame = sys._current_frames().get(self._loop_thread)
        if frame is None:
            return []
        places = traceback.StackSummary.extract(traceback.walk_stack(frame), limit=_FRAMES, lookup_lines=False)
        return [f"{place.filename}:{place.lineno} {place.name}" for place in places]


def _end(cause: str) -> None:
    """Kill this process: its loop handles no milder signal."""
    _log.error("worker_ends_itself", cause=cause)
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)
