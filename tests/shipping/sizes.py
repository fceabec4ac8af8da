"""The sizes of processes that docs/deploy.md tells, and those that running ones have."""

import re
from collections.abc import Sequence

import psutil

from tests.shipping.harness import read

_MEGABYTES = 2**20
_WITHIN = 1.5
"""Other machines and libraries differ by less; a size that is wrong by more misleads who plans with it."""


type Span = tuple[int, int]


def stated(process: str) -> tuple[Span, Span]:
    """Return the megabytes that the page tells of a process, the least and the most: at its start, and after work."""
    (row,) = re.findall(rf"^\| `{re.escape(process)}`[^|]*\|([^|]*\|[^|]*)\|", read("docs/deploy.md"), re.MULTILINE)
    start, after = ([int(number) for number in re.findall(r"\d+", cell)] for cell in row.split("|"))
    return (min(start), max(start)), (min(after), max(after))


def resident(pids: Sequence[int]) -> float:
    """Return the megabytes that processes have in memory together; what they share counts once."""
    first, *more = [psutil.Process(pid) for pid in pids]
    return float(first.memory_info().rss + sum(other.memory_full_info().uss for other in more)) / _MEGABYTES


def is_about(megabytes: float, told: Span) -> bool:
    """Return whether a process has about the size that the page tells."""
    return told[0] / _WITHIN <= megabytes <= told[1] * _WITHIN
