"""The keeper of a worker: it has imported everything and waits; when its worker is killed, the next is there at once.

A cold worker needs seconds for its imports, and what a dead one held is free only when its leases end. The keeper
forks its worker from a process that has imported everything, knows when it is dead, and tells the next one whose
leases to end. It holds no connection and does no work itself; the memory of what is imported is shared.
"""

import asyncio
import ctypes
import gc
import importlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

import structlog

_LOADED = (
    *("jobs.worker", "jobs.turns", "jobs.delivery", "jobs.catchup", "jobs.upkeep"),
    *("onevalet.app", "onevalet.assistant", "twilio.rest", "channels.slack.receive", "channels.telegram.receive"),
    *("notify.slack.send", "notify.telegram.send"),
)
"""What takes long to import, and what a worker needs whatever its settings."""
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_LIVED = 10.0
"""Seconds after which a worker counts as having lived: the next one need not wait."""
_LONGEST_PAUSE = 2.0

_log = structlog.get_logger()

type Work = Callable[[str], None]
"""Be a worker; is handed the name of the one that died before it, or ""."""


def keep(work: Work) -> None:
    """Run a worker, and another whenever a signal killed it, until it ends by itself or we are told to stop.

    Exits with the worker's code. Where a process cannot be forked safely, the worker runs right here.
    """
    _import_all()
    if sys.platform != "linux" or threading.active_count() > 1:
        _log.info("worker_without_keeper")
        work("")
        return
    gc.collect()
    gc.freeze()  # what is imported stays in pages that keeper and worker share
    sys.exit(_Keeper(work).run())


def worker_name(pid: int) -> str:
    """Name a worker of this machine, as its leases do."""
    return f"{socket.gethostname()}:{pid}"


class _Keeper:
    """Fork, wait, and fork again."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._pid = 0
        self._stopping = False

    def run(self) -> int:
        """Keep until the end; gives the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        dead, pause = "", 0.0
        while True:
            began = time.monotonic()
            self._begin(dead)
            code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
            if self._stopping or code >= 0:
                return max(code, 0) if self._stopping else code
            dead = worker_name(self._pid)
            _log.error("worker_killed", worker=dead, signal=signal.Signals(-code).name)
            pause = 0.0 if time.monotonic() - began > _LIVED else min(max(pause * 2, 0.1), _LONGEST_PAUSE)
            time.sleep(pause)
            if self._stopping:
                return 0

    def _begin(self, dead: str) -> None:
        # Between the fork and the note of its number no stop may be missed.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
        keeper = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            _become(keeper, blocked, lambda: self._work(dead))
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True
        try:
            os.kill(self._pid, signal.SIGTERM)
        except ProcessLookupError:
            return  # it has just ended


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


def _import_all() -> None:
    from core.model import LiteLLMClient

    for name in _LOADED:
        importlib.import_module(name)
    asyncio.run(LiteLLMClient("demo/valet").warm_up())
