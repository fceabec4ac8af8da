"""The heartbeat of a worker's event loop, in memory that the worker shares with its supervisor.

The loop beats each second. The observer counts its own checks without a new beat, not the seconds between them: after a
suspended machine or a stopped container both sides have missed the same time, and only a single check was missed.
"""

import mmap
import signal
import struct
import sys

BEAT_EVERY = 1.0
"""Seconds between two beats, and between two checks."""
BLOCKED_AFTER = 5
"""Checks without a beat after which the loop's stack is logged."""
HUNG_AFTER = 30
"""Checks without a beat after which a worker is replaced."""
PRIVATE_HUNG_AFTER = 10
"""The same for a private process: after that time its lease has ended, and its turn is tried in another process."""
START_WITHIN = 300
"""The same until the worker has started: plugins are imported at its start."""
CPU_AFTER = 60.0
"""Seconds of processor time without a beat after which the kernel ends a worker. No thread of the worker can do so
while the loop is inside a C call that holds the interpreter lock, such as a regular expression."""
_BEATS, _STARTED, _WORK = 0, 8, 16
_WORK_SIZE = 112


class Heartbeat:
    """Data that a worker shares with its supervisor: its beats, whether it has started, and its current work."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _WORK + _WORK_SIZE)  # anonymous and shared: a forked process has the same

    def beat(self) -> None:
        """Count another iteration of the loop."""
        struct.pack_into("<Q", self._memory, _BEATS, self.beats + 1)

    @property
    def beats(self) -> int:
        """Return the number of beats."""
        count: int = struct.unpack_from("<Q", self._memory, _BEATS)[0]
        return count

    @property
    def started(self) -> bool:
        """Return whether the worker has started all of its parts."""
        return bool(self._memory[_STARTED])

    def begin_work(self) -> None:
        """Record that the worker has started."""
        self._memory[_STARTED] = 1

    @property
    def work(self) -> str:
        """Return the lane or outbound message that blocks the loop; empty while it is not known."""
        return self._memory[_WORK : _WORK + _WORK_SIZE].rstrip(b"\0").decode(errors="replace")

    @work.setter
    def work(self, work_id: str) -> None:
        self._memory[_WORK : _WORK + _WORK_SIZE] = work_id.encode()[:_WORK_SIZE].ljust(_WORK_SIZE, b"\0")


class Observer:
    """Count the checks of a heartbeat without a new beat. `private`: it belongs to a private process."""

    def __init__(self, heartbeat: Heartbeat, *, private: bool = False) -> None:
        self._heartbeat = heartbeat
        self._longest = min(HUNG_AFTER, PRIVATE_HUNG_AFTER) if private else HUNG_AFTER
        self._known = heartbeat.beats
        self.silent = 0

    def check(self) -> int:
        """Check once, `BEAT_EVERY` after the last check; return the number of checks in a row without a beat."""
        beats = self._heartbeat.beats
        self.silent = 0 if beats != self._known else self.silent + 1
        self._known = beats
        return self.silent

    @property
    def hung(self) -> bool:
        """Return whether the loop has been silent for too long."""
        return self.silent >= (self._longest if self._heartbeat.started else START_WITHIN)


def end_without_beat() -> None:
    """Make the kernel end this process unless this is called again. A waiting process uses no processor time."""
    if sys.platform == "linux":
        signal.setitimer(signal.ITIMER_PROF, CPU_AFTER)


def never_end() -> None:
    """Cancel `end_without_beat`."""
    if sys.platform == "linux":
        signal.setitimer(signal.ITIMER_PROF, 0.0)
