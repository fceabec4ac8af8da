"""The CPU of processes, and how to wait until they rest."""

import asyncio
import time

import psutil

_SHARE = 0.03
"""A process rests once it used less than this share of a core."""


def cpu_of(process: psutil.Process) -> float:
    """Return a process' own CPU and that of its children, in seconds; children that ended are in their parent's."""
    times = process.cpu_times()
    spent = times.children_user + times.children_system
    for one in (process, *process.children(recursive=True)):
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        spent += times.user + times.system
    return float(spent)


async def until_rest(*processes: psutil.Process, window: float = 0.5, longest: float = 20.0) -> None:
    """Wait until processes have done what follows the answers: until they rest for a window; both in seconds."""
    until = time.monotonic() + longest
    while time.monotonic() < until:
        before = sum(map(cpu_of, processes))
        await asyncio.sleep(window)
        if sum(map(cpu_of, processes)) - before < window * _SHARE * len(processes):
            return
