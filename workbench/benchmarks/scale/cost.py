"""The CPU that each part of a running installation has used."""

from collections.abc import Iterable
from dataclasses import dataclass

import psutil

from workbench.benchmarks.scale.installation import Installation

PARTS = ("Postgres", "PgBouncer", "workers", "web", "Valkey")


@dataclass(frozen=True, slots=True)
class Used:
    """Seconds of CPU since each part began."""

    seconds: dict[str, float]

    def since(self, earlier: "Used") -> dict[str, float]:
        """Return the CPU that each part has used since then."""
        return {part: self.seconds[part] - earlier.seconds[part] for part in PARTS}


def used(installation: Installation) -> Used:
    """Measure now."""
    system = installation.system
    assert system.postgres.pid is not None  # noqa: S101 - a measurement
    assert system.valkey.pid is not None  # noqa: S101
    return Used(
        {
            "Postgres": _of([system.postgres.pid]),
            "PgBouncer": _of([installation.pooler.pid]),
            "workers": _of(member.pid for member in system.workers if member.process is not None),
            "web": _of(member.pid for member in system.webs),
            "Valkey": _of([system.valkey.pid]),
        }
    )


def _of(pids: Iterable[int]) -> float:
    return sum(tree(psutil.Process(pid)) for pid in pids)


def tree(process: psutil.Process) -> float:
    """Return the seconds of CPU of a process, of its living children, and of those that it has outlived."""
    times = process.cpu_times()
    total = float(times.user + times.system + times.children_user + times.children_system)
    for child in process.children(recursive=True):
        try:
            own = child.cpu_times()
        except psutil.NoSuchProcess:
            continue  # a backend that ended: from now on its parent tells of it
        total += own.user + own.system
    return total
