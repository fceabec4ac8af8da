"""The check of the last backup's age."""

from collections.abc import Sequence
from datetime import timedelta

from core.clock import Clock
from core.language.counted import counted
from core.messaging.channels import Check
from operations.backups.schedule import EVERY, last_backup
from operations.doctor.types import Installation

_NAME = "backups"
_LATE = 2
"""So many times the schedule's span without a backup are too long."""
_OLD = timedelta(days=7)
"""A backup of this age is reported if there is no schedule."""


async def check_backups(installation: Installation) -> Sequence[Check]:
    """Compare the age of the last backup with the schedule."""
    if installation.database is None:
        return []
    settings = installation.settings
    last = await last_backup(installation.database)
    failed = f"; {last.failed} failed since, the last one: {last.failure}" if last.failed else ""
    scheduled = settings.onevalet_backups is not None
    by_hand = "run `bin/onevalet backup`, or set ONEVALET_BACKUPS"
    fix = "see the worker's log for backup_failed" if scheduled else by_hand
    if last.taken_at is None:
        detail = f"there is none{failed}"
        return [Check(_NAME, not last.failed, detail, fix if last.failed or not scheduled else "")]
    age = Clock(settings.onevalet_clock).now() - last.taken_at
    detail = f"the last one was taken {_span(age)} ago ({last.size} bytes){failed}"
    if scheduled:
        is_late = age > _LATE * EVERY
        return [Check(_NAME, not is_late, detail, fix if is_late or last.failed else "")]
    return [Check(_NAME, True, detail, fix if age > _OLD or last.failed else "")]


def _span(age: timedelta) -> str:
    hours = int(age / timedelta(hours=1))
    if hours < 1:
        return counted(int(age / timedelta(minutes=1)), "minute")
    return counted(hours, "hour") if hours < 48 else counted(hours // 24, "day")
