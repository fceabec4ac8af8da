"""The kept process: a script by itself, which no other module imports. It forks a fresh process for each job.

Arguments: the script that jobs run; the seconds without a job after which this process ends; and the signal that its
parent's death sends it, or 0. Standard input is a socket. Each byte on it asks for a job and brings three files: the
job's input, its output, and a socket of its own. On the job's socket "+" says that the job has begun, or "-" that it
cannot begin, and digits are its exit code; once the other end is shut, the job is killed. A job's input and output
never pass through here.
"""

import ast
import ctypes
import gc
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def main(script: str, idle: str, death_signal: str) -> None:
    """Import the script's modules, then fork a process for each job."""
    _end_with_parent(int(death_signal))
    tree = ast.parse(Path(script).read_bytes(), script)
    _preload(tree)
    code = compile(tree, script, "exec")

    def run() -> None:
        module = sys.modules["__main__"] = ModuleType("__main__")
        module.__file__ = script
        sys.argv = [script]
        exec(code, module.__dict__)  # noqa: S102 - the script is ours

    server = _Server(run)
    gc.freeze()  # the loaded modules stay in pages that all jobs share
    server.serve(float(idle))


def _preload(tree: ast.Module) -> None:
    """Import the modules that the script imports at its top, and those in `PRELOADED`. Only jobs run the script."""
    root = str(Path(__file__).resolve().parents[2])
    sys.path.insert(0, root)
    for name in _needed(tree):
        with suppress(ImportError):  # it is not installed, and the script handles that
            import_module(name)
    sys.path.remove(root)


def _needed(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for node in tree.body:
        match node:
            case ast.Import(names=imported):
                names += [one.name for one in imported]
            case ast.ImportFrom(module=str(name)):
                names.append(name)
            case ast.Assign(targets=[ast.Name(id="PRELOADED")], value=value):
                names += ast.literal_eval(value)
    return names


class _Server:
    """The jobs that run, each by its pid with its socket."""

    def __init__(self, run: Callable[[], None]) -> None:
        self._run = run
        self._asked = socket.socket(fileno=0)
        self._ended, self._end = socket.socketpair()
        self._jobs: dict[int, socket.socket] = {}
        self._poll = select.poll()
        for one in (self._ended, self._end):
            one.setblocking(False)
        for one in (self._asked, self._ended):
            self._poll.register(one, select.POLLIN)
        # The end of a job is a byte in `_ended`, so that a single poll awaits all events.
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # the parent's thread may block signals that are needed here
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._end.fileno(), warn_on_full_buffer=False)

    def serve(self, idle: float) -> None:
        """Start, end and reap jobs until the worker is gone, or has not asked for a job in a while."""
        while happened := dict(self._poll.poll(None if self._jobs else idle * 1000)):
            # In this order, since a new job may get the file number of an ended job.
            for pid, told in self._jobs.items():
                if told.fileno() in happened:
                    self._poll.unregister(told)
                    _kill(pid)
            if self._ended.fileno() in happened:
                self._reap()
            if self._asked.fileno() in happened and not self._take():
                break
        for pid in self._jobs:
            _kill(pid)

    def _take(self) -> bool:
        """Begin a job; false if the worker has closed the socket."""
        said, files, _, _ = socket.recv_fds(self._asked, 1, 3)
        if len(files) == 3:
            told = socket.socket(fileno=files.pop())
            told.setblocking(False)
            self._begin(files[0], files[1], told)
        for file in files:
            os.close(file)
        return bool(said)

    def _begin(self, stdin: int, stdout: int, told: socket.socket) -> None:
        here = os.getpid()
        try:
            pid = os.fork()
        except OSError:  # there are too many processes, or too little memory
            with told, suppress(OSError):
                told.send(b"-")
            return
        if pid == 0:
            self._become(here, stdin, stdout, told)
        self._jobs[pid] = told
        self._poll.register(told, select.POLLIN)
        with suppress(OSError):  # the worker gave the job up: its socket says so next
            told.send(b"+")

    def _become(self, server: int, stdin: int, stdout: int, told: socket.socket) -> NoReturn:
        """Run the script in the process that was just forked, with nothing but its own input and output."""
        code = 1
        try:
            os.setsid()
            _end_with_parent(signal.SIGKILL)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            ours = [self._ended, self._end, told, *self._jobs.values()]
            last = max(stdin, stdout, *(one.fileno() for one in ours))
            os.dup2(stdin, 0)
            os.dup2(stdout, 1)
            os.closerange(3, last + 1)
            sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115 - until the end
            if os.getppid() == server:
                code = _code_of(self._run)
        finally:
            os._exit(code)  # whatever happens, no second server

    def _reap(self) -> None:
        """Send the exit codes of the jobs that have ended, and kill the processes left in their groups."""
        self._ended.recv(4096)
        while self._jobs:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            told = self._jobs.pop(pid)
            _kill_group(pid)
            with suppress(KeyError):
                self._poll.unregister(told)
            with told, suppress(OSError):
                told.send(str(os.waitstatus_to_exitcode(status)).encode())


def _code_of(run: Callable[[], None]) -> int:
    """Run a script and return the code with which an interpreter would end."""
    code = 0
    try:
        run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # nobody would read the error
        code = 1
    sys.stdout.flush()
    return code & 0xFF


def _kill(pid: int) -> None:
    """Kill a job that is not reaped yet, even before it has formed its process group."""
    os.kill(pid, signal.SIGKILL)
    _kill_group(pid)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # no process is left, or on macOS only an ended process
        os.killpg(pid, signal.SIGKILL)


def _end_with_parent(number: int) -> None:
    if number and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
