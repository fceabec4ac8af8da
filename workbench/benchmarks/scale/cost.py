"""The CPU that each part of a running installation has used."""

from collections.abc import Iterable
from dataclasses import dataclass

import psutil

from workbench.benchmarks.cpu import cpu_of
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
    return sum(cpu_of(psutil.Process(pid)) for pid in pids)
