"""The faults of a worker by its own report, as `doctor` and the console say them."""

from collections.abc import Sequence

from core.messaging.channels import Check
from jobs.upkeep.clock_check import MAX_APART
from operations.worker_health import WorkerHealth

REPEATED = 2
"""Failures of a part in a row that are shown: a single failure may be chance."""


def worker_checks(worker: WorkerHealth) -> Sequence[Check]:
    """Return a failed check for its clock, and for each part that fails again and again."""
    name, checks = worker.worker.split("/")[0], []
    if worker.ahead is not None and abs(worker.ahead) > MAX_APART:
        direction = "ahead of" if worker.ahead > 0 else "behind"
        detail = f"{abs(worker.ahead):,.0f} s {direction} Postgres': nothing that time decides is done there"
        checks.append(Check(f"clock of {name}", False, detail, "set the time of that machine, by NTP for example"))
    for part in worker.failing:
        if int(str(part["failures"])) >= REPEATED:
            detail = f"{part['part']}: failed {part['failures']} times in a row, last with {part['cause']}"
            checks.append(Check(f"part of {name}", False, detail, "look for worker_part_failed in its log"))
    return checks
