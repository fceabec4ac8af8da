"""The supervisor of a worker: if its worker is killed, the next starts at once.

A cold worker needs seconds for its imports, and the work of a dead worker is free only when its leases end. The
supervisor imports everything once, forks its worker, notices its death, and tells the next worker whose leases to end.
Asked by its worker, it forks private processes for quarantined turns, which have crashed workers: if such a process
crashes, the cause is certain, and no other turn crashes with it. The supervisor holds no connection and does no work
itself; the memory of the imports is shared. It watches the heartbeat of each process: a process whose event loop has
stood still for half a minute is killed, and counts as dead.
"""

import asyncio
import ctypes
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

from core.queue.quarantine import QuarantineMode
from onevalet.settings import Settings
from onevalet.supervision.garbage import keep_loaded
from onevalet.supervision.heartbeat import BEAT_EVERY, Heartbeat, Observer
from onevalet.supervision.systemd import notify
from onevalet.supervision.worker_start import ALONE, Dead, WorkerStart
from onevalet.wiring.preload import load_worker

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_LONG_LIFE = 10.0
"""Seconds that a worker has to run so that the next worker starts without a pause."""
_MAX_PAUSE = 2.0

_log = structlog.get_logger()

_REQUEST = signal.SIGUSR2
"""Sent by the worker to ask for a private process."""
_HANDLED = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, _REQUEST})
_MAX_PRIVATE = 4
"""Private processes at once: a slow turn holds up the other turns of its process."""
_PRIVATE_EVERY = 1.0
"""Seconds between two starts of private processes: the first may be quick enough for all quarantined turns."""
_PRIVATE_AGAIN = 0.3
"""Seconds before a killed private process is replaced: no less than it needs to begin to work."""

type Work = Callable[[WorkerStart], None]
"""Run a worker until it ends."""
type Signals = set[int | signal.Signals]


def supervise(work: Work, settings: Settings) -> None:
    """Run a worker, and a new worker after each that a signal kills, until a worker ends by itself or this process must
    stop.

    Exit with the worker's code. If forking is not safe, the worker runs in this process.
    """
    _load(settings)
    # Loaded modules may have started threads, which a fork would not take along.
    if sys.platform != "linux" or threading.active_count() > 1:
        _log.info("worker_without_supervisor")
        work(ALONE)
        return
    sys.exit(Supervisor(work).run())


def work_alone(work: Work, settings: Settings) -> None:
    """Run a worker in this process, without a supervisor."""
    _load(settings)
    work(ALONE)


def _load(settings: Settings) -> None:
    asyncio.run(load_worker(settings))
    keep_loaded()


def worker_name(pid: int) -> str:
    """Return the name of a worker of this machine, as its leases have it."""
    return f"{socket.gethostname()}:{pid}"


@dataclass(frozen=True, slots=True)
class _Process:
    """A forked process: its heartbeat, and the observer of it."""

    heartbeat: Heartbeat
    observer: Observer

    @property
    def hung_on(self) -> str | None:
        """Return the work that blocked its loop: "" if unknown, None if the loop did not hang."""
        return self.heartbeat.work or ("" if self.observer.hung else None)


class Supervisor:
    """Fork, wait, and fork again. Signals are read singly, so that no handler interrupts another."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._worker = 0
        self._private: set[int] = set()
        self._dead: list[Dead] = []
        self._processes: dict[int, _Process] = {}
        self._checked = time.monotonic()
        self._ready = False
        self._worker_started = self._private_started = -_LONG_LIFE
        self._due: float | None = None
        self._pause = 0.0
        self._stopping = False
        self._code = 0

    def run(self) -> int:
        """Supervise until the worker ends by itself or this process must stop; return the exit code."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it is ignored, children leave no exit status
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)
        self._start_worker(blocked)
        while self._worker or self._private or self._due is not None:
            next_check = self._checked + BEAT_EVERY
            wait = next_check if self._due is None else min(self._due, next_check)
            received = signal.sigtimedwait(_HANDLED, max(wait - time.monotonic(), 0))
            if received is not None and received.si_signo in (signal.SIGTERM, signal.SIGINT):
                self._stop()
            if received is not None and received.si_signo == _REQUEST:
                self._start_private(blocked)
            self._check()
            self._reap(blocked)
            if self._due is not None and time.monotonic() >= self._due:
                self._start_worker(blocked)
        return self._code

    def _check(self) -> None:
        """Check each heartbeat once a second and kill hanging processes; after a suspension, check only once."""
        if time.monotonic() < self._checked + BEAT_EVERY:
            return
        self._checked = time.monotonic()
        notify("WATCHDOG=1")
        for pid, process in self._processes.items():
            process.observer.check()
            if process.observer.hung:
                _log.error("worker_hangs", worker=worker_name(pid), work=process.heartbeat.work)
                os.kill(pid, signal.SIGKILL)
        worker = self._processes.get(self._worker)
        if worker is not None and worker.heartbeat.started and not self._ready:
            self._ready = True
            notify("READY=1")

    def _reap(self, blocked: Signals) -> None:
        """Reap exited children and restart those that are still needed."""
        for pid in [self._worker, *self._private]:
            ended, status = os.waitpid(pid, os.WNOHANG) if pid else (0, 0)
            if not ended:
                continue
            code = os.waitstatus_to_exitcode(status)
            process = self._processes.pop(pid)
            if code < 0 and not self._stopping:
                self._dead.append(Dead(worker_name(pid), process.hung_on))
                _log.error("worker_killed", worker=worker_name(pid), signal=signal.Signals(-code).name)
            if pid == self._worker:
                self._worker = 0
                self._after_worker(code)
            else:
                self._private.discard(pid)
                if code < 0:
                    # Always, and soon: the new process ends the leases of the dead process before its pid is reused.
                    time.sleep(max(self._private_started + _PRIVATE_AGAIN - time.monotonic(), 0.0))
                    self._start_private(blocked, _PRIVATE_AGAIN)

    def _after_worker(self, code: int) -> None:
        if self._stopping or code >= 0:
            self._code = max(code, 0)
            self._stop()
            return
        lived_long = time.monotonic() - self._worker_started > _LONG_LIFE
        self._pause = 0.0 if lived_long else min(max(self._pause * 2, 0.1), _MAX_PAUSE)
        self._due = time.monotonic() + self._pause

    def _start_worker(self, blocked: Signals) -> None:
        self._due, self._worker_started = None, time.monotonic()
        self._worker = self._fork(
            blocked, dead=self._take_dead(), quarantine=QuarantineMode.LEAVE, ask=partial(_ask_for_process, os.getpid())
        )

    def _start_private(self, blocked: Signals, every: float = _PRIVATE_EVERY) -> None:
        now = time.monotonic()
        if self._stopping or len(self._private) >= _MAX_PRIVATE or now - self._private_started < every:
            return
        self._private_started = now
        self._private.add(self._fork(blocked, dead=self._take_dead(), quarantine=QuarantineMode.ONLY))

    def _take_dead(self) -> tuple[Dead, ...]:
        dead, self._dead = tuple(self._dead), []
        return dead

    def _fork(
        self,
        blocked: Signals,
        *,
        dead: tuple[Dead, ...],
        quarantine: QuarantineMode,
        ask: Callable[[], None] | None = None,
    ) -> int:
        supervisor, heartbeat = os.getpid(), Heartbeat()
        pid = os.fork()
        if pid == 0:
            start = WorkerStart(dead, quarantine, ask, supervisor, heartbeat)
            _run_child(supervisor, blocked, lambda: self._work(start))
        self._processes[pid] = _Process(heartbeat, Observer(heartbeat, private=quarantine is QuarantineMode.ONLY))
        return pid

    def _stop(self) -> None:
        self._stopping, self._due = True, None
        notify("STOPPING=1")
        for pid in [self._worker, *self._private]:
            if pid:
                with suppress(ProcessLookupError):  # it has ended since
                    os.kill(pid, signal.SIGTERM)


def _ask_for_process(supervisor: int) -> None:
    """In the worker: ask for a private process, unless the supervisor has gone."""
    if os.getppid() == supervisor:
        os.kill(supervisor, _REQUEST)


def _run_child(supervisor: int, blocked: Signals, work: Callable[[], None]) -> None:
    """Run the worker in the process that was just forked; never return."""
    code = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        # If the supervisor is killed, the worker ends as after SIGTERM.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if os.getppid() == supervisor:
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
