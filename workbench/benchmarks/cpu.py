"""The CPU of processes, and how to wait until they rest."""

import asyncio
import time

import psutil

_WINDOW, _SHARE, _LONGEST = 0.5, 0.03, 20.0
"""A process rests once it used less than this share of so many seconds; so long at most is waited for that."""


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


async def until_rest(*processes: psutil.Process) -> None:
    """Wait until processes have done what follows the answers."""
    until = time.monotonic() + _LONGEST
    while time.monotonic() < until:
        before = sum(map(cpu_of, processes))
        await asyncio.sleep(_WINDOW)
        if sum(map(cpu_of, processes)) - before < _WINDOW * _SHARE * len(processes):
            return
