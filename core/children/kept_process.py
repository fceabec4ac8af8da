"""Processes that are kept, each for a script: it has imported the script's modules, and forks jobs.

They belong to this process, not to any of its event loops or threads: each takes its requests from a socket that nobody
reads from here, and answers on the job's own socket. When this process ends, for any reason, they end too.
"""

import atexit
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from core.children.child_environment import child_environment

IDLE_SECONDS = 300.0
"""Seconds without a job after which a kept process ends."""
_SERVER = Path(__file__).with_name("child_server.py")
_FULL = (errno.EAGAIN, errno.ENOBUFS, errno.ETOOMANYREFS)


class KeptProcess:
    """A kept process, and the socket on which it is asked for jobs."""

    def __init__(self, script: Path) -> None:
        self._asking, asked = socket.socketpair()
        self._asking.setblocking(False)
        # Linux sends this signal when the thread ends that started a process, so only the main thread may ask for it.
        is_main = threading.current_thread() is threading.main_thread()
        death_signal = int(signal.SIGKILL) if is_main else 0
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the command is ours
                [sys.executable, "-I", str(_SERVER), str(script), str(IDLE_SECONDS), str(death_signal)],
                stdin=asked.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=child_environment(PATH=os.defpath),
                start_new_session=True,  # a signal for the worker's group, such as Ctrl+C, is not for it
            )
        except BaseException:
            self._asking.close()
            raise
        finally:
            asked.close()

    def has_ended(self) -> bool:
        """Return whether another has to be started."""
        if self._process.poll() is None:
            return False
        self._asking.close()
        return True

    def ask(self, files: Sequence[int]) -> bool:
        """Ask for a job with its input, its output and its socket; false while too many are asked for.

        Raises `OSError` if the process has ended.
        """
        try:
            with _lock:  # if the socket were closed meanwhile, another file could get its number
                socket.send_fds(self._asking, [b"j"], files)
        except OSError as error:
            if error.errno in _FULL:
                return False
            raise
        return True

    def end(self) -> None:
        """Kill it; its jobs then end too."""
        with _lock:
            self._asking.close()
        self._process.kill()
        self._process.wait()

    def forget(self) -> None:
        """Leave the child to the parent of this forked process."""
        self._asking.close()
        self._process.returncode = 0  # only its parent can wait for it


_kept: dict[Path, KeptProcess] = {}
_lock = threading.Lock()


def kept_for(script: Path) -> KeptProcess:
    """Return the process that is kept for a script, started if need be."""
    with _lock:
        kept = _kept.get(script)
        if kept is None or kept.has_ended():
            kept = _kept[script] = KeptProcess(script)
        return kept


def end_kept() -> None:
    """End all kept processes and their jobs. The next call starts a new process."""
    with _lock:
        ended = [*_kept.values()]
        _kept.clear()
    for kept in ended:
        kept.end()


def _forget_kept() -> None:
    """Forget the parent's kept processes in a forked process, whose open sockets would keep them alive."""
    global _lock
    _lock = threading.Lock()  # another thread may have held it
    for kept in _kept.values():
        kept.forget()
    _kept.clear()


os.register_at_fork(after_in_child=_forget_kept)
atexit.register(end_kept)
