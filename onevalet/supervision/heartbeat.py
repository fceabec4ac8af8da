"""The heartbeat of a worker's event loop, in memory that the worker shares with its supervisor.

The loop beats each second. Whoever watches counts its own looks without a new beat, not the seconds between them: after
a suspended machine or a stopped container both sides have missed the same time, and only one look was missed.
"""

import mmap
import signal
import struct
import sys

BEAT_EVERY = 1.0
"""Seconds between two beats, and between two looks."""
BLOCKED_AFTER = 5
"""Looks without a beat after which the log says where the loop stands."""
HUNG_AFTER = 30
"""Looks without a beat after which a worker is replaced."""
APART_HUNG_AFTER = 10
"""The same for a process for suspects: after that time its lease has ended, and its turn is tried in another one."""
START_WITHIN = 300
"""The same, until it is at work for the first time: plugins are imported at its start."""
CPU_AFTER = 60.0
"""Seconds of processor time without a beat after which the kernel ends a worker. No thread of its own can do so while
the loop is inside a C call that never lets go of the interpreter, such as a regular expression."""
_BEATS, _AT_WORK, _WORK = 0, 8, 16
_WORK_SIZE = 112


class Heartbeat:
    """What a worker leaves for its supervisor: its beats, whether it is at work, and the work that blocks its loop."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _WORK + _WORK_SIZE)  # anonymous and shared: a forked process has the same

    def beat(self) -> None:
        """Count one more turn of the loop."""
        struct.pack_into("<Q", self._memory, _BEATS, self.beats + 1)

    @property
    def beats(self) -> int:
        """Return how often the loop has beaten."""
        count: int = struct.unpack_from("<Q", self._memory, _BEATS)[0]
        return count

    @property
    def show_progress(self) -> bool:
        """Return whether the worker has started all of its parts."""
        return bool(self._memory[_AT_WORK])

    def begin_work(self) -> None:
        """Note that the worker has started."""
        self._memory[_AT_WORK] = 1

    @property
    def work(self) -> str:
        """Return the lane or outbound message that blocks the loop, empty while that is not known."""
        return self._memory[_WORK : _WORK + _WORK_SIZE].rstrip(b"\0").decode(errors="replace")

    @work.setter
    def work(self, work_id: str) -> None:
        self._memory[_WORK : _WORK + _WORK_SIZE] = work_id.encode()[:_WORK_SIZE].ljust(_WORK_SIZE, b"\0")


class Observer:
    """Count the looks at a heartbeat that found no new beat. `apart`: it is that of a process for suspects."""

    def __init__(self, heartbeat: Heartbeat, *, apart: bool = False) -> None:
        self._heartbeat = heartbeat
        self._longest = min(HUNG_AFTER, APART_HUNG_AFTER) if apart else HUNG_AFTER
        self._known = heartbeat.beats
        self.silent = 0

    def look(self) -> int:
        """Look once, `BEAT_EVERY` after the last time; returns for how many looks there has been no beat."""
        beats = self._heartbeat.beats
        self.silent = 0 if beats != self._known else self.silent + 1
        self._known = beats
        return self.silent

    @property
    def hung(self) -> bool:
        """Return whether the loop has been silent for too long."""
        return self.silent >= (self._longest if self._heartbeat.show_progress else START_WITHIN)


def end_without_beat() -> None:
    """Let the kernel end this process unless it is called again; what waits or is suspended uses no processor time."""
    if sys.platform == "linux":
        signal.setitimer(signal.ITIMER_PROF, CPU_AFTER)


def never_end() -> None:
    """Take back what `end_without_beat` has set."""
    if sys.platform == "linux":
        signal.setitimer(signal.ITIMER_PROF, 0.0)
