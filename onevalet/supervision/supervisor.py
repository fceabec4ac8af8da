"""The keeper of a worker: it has imported everything and waits; when its worker is killed, the next is there at once.

A cold worker needs seconds for its imports, and what a dead one held is free only when its leases end. The keeper
forks its worker from a process that has imported everything, knows when it is dead, and tells the next one whose
leases to end. Asked by its worker, it forks another one for turns that may have killed theirs: what such a one dies of
is plain, and nobody else dies with it. The keeper holds no connection and does no work itself; the memory of what is
imported is shared. It looks at each one's heartbeat: one whose event loop has stood still for half a minute is killed,
and counts as dead.
"""

import asyncio
import ctypes
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import structlog

from core.queue.quarantine import Suspects
from onevalet.supervision.heartbeat import BEAT_EVERY, Heartbeat, Observer
from onevalet.supervision.systemd import notify
from onevalet.supervision.worker_start import ALONE, Dead, WorkerStart
from onevalet.wiring.preload import load_worker

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_LIVED = 10.0
"""Seconds after which a worker counts as having lived: the next one need not wait."""
_MAX_PAUSE = 2.0

_log = structlog.get_logger()

_ASKED = signal.SIGUSR2
_HEARD = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, _ASKED})
_MAX_APART = 4
"""Processes for suspects at once: a slow one holds up the others of its process."""
_APART_EVERY = 1.0
"""Seconds between two of them: the first may be quick enough for all."""
_APART_AGAIN = 0.3
"""Seconds between two of them where one that was killed is replaced: no faster than they can begin to work."""

type Work = Callable[[WorkerStart], None]
"""Be a worker, told so much about it."""


def keep(work: Work) -> None:
    """Run a worker, and another whenever a signal killed it, until it ends by itself or we are told to stop.

    Exits with the worker's code. Where a process cannot be forked safely, the worker runs right here.
    """
    asyncio.run(load_worker())
    if sys.platform != "linux" or threading.active_count() > 1:
        _log.info("worker_without_keeper")
        work(ALONE)
        return
    gc.collect()
    gc.freeze()  # what is imported stays in pages that keeper and worker share
    sys.exit(_Keeper(work).run())


def worker_name(pid: int) -> str:
    """Name a worker of this machine, as its leases do."""
    return f"{socket.gethostname()}:{pid}"


@dataclass(frozen=True, slots=True)
class _Watched:
    """A process that the keeper has begun, and what it knows of its loop."""

    heartbeat: Heartbeat
    observer: Observer

    @property
    def hung_on(self) -> str | None:
        """Return what blocked its loop, "" where it hung and that is not known, None where it did not hang."""
        return self.heartbeat.work or ("" if self.observer.hung else None)


class _Keeper:
    """Fork, wait, and fork again. Signals are read one by one: none interrupts what another one began."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._worker = 0
        self._apart: set[int] = set()
        self._dead: list[Dead] = []
        self._watched: dict[int, _Watched] = {}
        self._looked = time.monotonic()
        self._ready = False
        self._began = self._apart_began = -_LIVED
        self._due: float | None = None
        self._pause = 0.0
        self._stopping = False
        self._code = 0

    def run(self) -> int:
        """Keep until the end; return the exit code."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, who ends leaves no trace
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
        self._begin_worker(blocked)
        while self._worker or self._apart or self._due is not None:
            next_look = self._looked + BEAT_EVERY
            wait = next_look if self._due is None else min(self._due, next_look)
            heard = signal.sigtimedwait(_HEARD, max(wait - time.monotonic(), 0))
            if heard is not None and heard.si_signo in (signal.SIGTERM, signal.SIGINT):
                self._stop()
            if heard is not None and heard.si_signo == _ASKED:
                self._begin_apart(blocked)
            self._look()
            self._bury(blocked)
            if self._due is not None and time.monotonic() >= self._due:
                self._begin_worker(blocked)
        return self._code

    def _look(self) -> None:
        """Look at each heartbeat, once a second, and kill what hangs; a process that was stopped looks only once."""
        if time.monotonic() < self._looked + BEAT_EVERY:
            return
        self._looked = time.monotonic()
        notify("WATCHDOG=1")
        for pid, watched in self._watched.items():
            watched.observer.look()
            if watched.observer.hung:
                _log.error("worker_hangs", worker=worker_name(pid), work=watched.heartbeat.work)
                os.kill(pid, signal.SIGKILL)
        worker = self._watched.get(self._worker)
        if worker is not None and worker.heartbeat.show_progress and not self._ready:
            self._ready = True
            notify("READY=1")

    def _bury(self, blocked: set[int | signal.Signals]) -> None:
        """Look who has ended, and see to what follows."""
        for pid in [self._worker, *self._apart]:
            ended, status = os.waitpid(pid, os.WNOHANG) if pid else (0, 0)
            if not ended:
                continue
            code = os.waitstatus_to_exitcode(status)
            watched = self._watched.pop(pid)
            if code < 0 and not self._stopping:
                self._dead.append(Dead(worker_name(pid), watched.hung_on))
                _log.error("worker_killed", worker=worker_name(pid), signal=signal.Signals(-code).name)
            if pid == self._worker:
                self._worker = 0
                self._after_worker(code)
            else:
                self._apart.discard(pid)
                if code < 0:
                    # Always, and soon: it ends the dead one's leases, whose number another process may get later.
                    time.sleep(max(self._apart_began + _APART_AGAIN - time.monotonic(), 0.0))
                    self._begin_apart(blocked, _APART_AGAIN)

    def _after_worker(self, code: int) -> None:
        if self._stopping or code >= 0:
            self._code = max(code, 0)
            self._stop()
            return
        lived = time.monotonic() - self._began > _LIVED
        self._pause = 0.0 if lived else min(max(self._pause * 2, 0.1), _MAX_PAUSE)
        self._due = time.monotonic() + self._pause

    def _begin_worker(self, blocked: set[int | signal.Signals]) -> None:
        self._due, self._began = None, time.monotonic()
        self._worker = self._fork(blocked, dead=self._told(), suspects=Suspects.APART, ask=partial(_ask, os.getpid()))

    def _begin_apart(self, blocked: set[int | signal.Signals], every: float = _APART_EVERY) -> None:
        now = time.monotonic()
        if self._stopping or len(self._apart) >= _MAX_APART or now - self._apart_began < every:
            return
        self._apart_began = now
        self._apart.add(self._fork(blocked, dead=self._told(), suspects=Suspects.ONLY))

    def _told(self) -> tuple[Dead, ...]:
        dead, self._dead = tuple(self._dead), []
        return dead

    def _fork(
        self,
        blocked: set[int | signal.Signals],
        *,
        dead: tuple[Dead, ...],
        suspects: Suspects,
        ask: Callable[[], None] | None = None,
    ) -> int:
        keeper, heartbeat = os.getpid(), Heartbeat()
        pid = os.fork()
        if pid == 0:
            life = WorkerStart(dead, suspects, ask, keeper, heartbeat)
            _become(keeper, blocked, lambda: self._work(life))
        self._watched[pid] = _Watched(heartbeat, Observer(heartbeat, apart=suspects is Suspects.ONLY))
        return pid

    def _stop(self) -> None:
        self._stopping, self._due = True, None
        notify("STOPPING=1")
        for pid in [self._worker, *self._apart]:
            if pid:
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(pid, signal.SIGTERM)


def _ask(keeper: int) -> None:
    """In its worker: ask for a process for suspects, unless the keeper has gone."""
    if os.getppid() == keeper:
        os.kill(keeper, _ASKED)


def _become(keeper: int, blocked: set[int | signal.Signals], work: Callable[[], None]) -> None:
    """Be the worker, in the process that was just forked; never returns."""
    code = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        # When the keeper is killed, the worker ends as when it is told to.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if os.getppid() == keeper:
            work()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
