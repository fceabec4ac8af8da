"""Scheduled backups: a single worker takes each, old backups are deleted, and the age of the last is readable."""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError, StoreUnavailable
from core.ids import IdMaker
from operations.archives.written import PARTIAL
from operations.backups.taking import BackupTaker
from operations.backups.types import Backup, BackupFailed

EVERY = timedelta(days=1)
"""From a backup to the next."""
_LEASE = timedelta(minutes=2)
_KEEP = 30.0
"""Seconds between two renewals of the lease."""
_RETRY = timedelta(minutes=15)
_NAME = re.compile(r"onevalet-\d{8}T\d{6}Z\.zip")
_ABANDONED = timedelta(days=1)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class LastBackup:
    """The last finished backup, and the failures since then. `taken_at` None: no backup has finished yet."""

    taken_at: datetime | None
    file: str
    size: int
    failed: int
    failure: str


async def last_backup(database: Database) -> LastBackup:
    """Return the time of the last backup."""
    row = await database.one("select * from last_backup()")
    return LastBackup(row["began_at"], row["file"] or "", row["bytes"] or 0, row["failed"], row["failure"] or "")


def backup_name(now: datetime) -> str:
    """Return the name of a backup that is taken now; names sort by time."""
    return f"onevalet-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}.zip"


@dataclass(frozen=True, slots=True)
class BackupLog:
    """The record of backups, which also keeps two from being taken at once."""

    database: Database
    clock: Clock
    make_id: IdMaker

    async def take(
        self, taker: BackupTaker, path: Path, *, worker: str = "", every: timedelta | None = None
    ) -> Backup | None:
        """Take a backup and record it; None if another is being taken, or `every` has not passed since the last.

        Raises the errors of `BackupTaker.take`.
        """
        now = await self.clock.sound_now()
        if now is None:
            return None
        backup_id = self.make_id("bak")
        begun = await self.database.one(
            "select begin_backup($1,$2,$3,$4,$5,$6) as begun", backup_id, worker, now, _LEASE, every, every and _RETRY
        )
        if not begun["begun"]:
            return None
        keeping = asyncio.create_task(self._keep(backup_id))
        file, size, failure = "", 0, "Interrupted"
        try:
            backup = await taker.take(path, now)
            file, size, failure = str(path), (await asyncio.to_thread(path.stat)).st_size, ""
            return backup
        except (BackupFailed, ConfigError, OSError) as error:
            failure = str(error) if isinstance(error, BackupFailed | ConfigError) else type(error).__name__
            raise
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping
            await self.database.rows(
                "select end_backup($1,$2,$3,$4,$5)", backup_id, self.clock.now(), file, size, failure
            )

    async def _keep(self, backup_id: str) -> None:
        while True:
            await asyncio.sleep(_KEEP)
            with suppress(StoreUnavailable):  # the lease is long enough for another try
                await self.database.rows(
                    "update backups set lease_until = clock_timestamp() + $2 where id = $1 and finished_at is null",
                    backup_id,
                    _LEASE,
                )


@dataclass(frozen=True, slots=True)
class BackupSchedule:
    """Take a backup each `every` into a folder, and keep its newest `kept` backups."""

    log: BackupLog
    make_taker: Callable[[], BackupTaker]
    folder: Path
    every: timedelta
    kept: int
    worker: str

    async def once(self) -> Backup | None:
        """Take a backup if it is due. A failure is logged and recorded, and the backup tried again later."""
        now = await self.log.clock.sound_now()
        if now is None:
            return None
        try:
            await asyncio.to_thread(self.folder.mkdir, mode=0o700, parents=True, exist_ok=True)
            path = self.folder / backup_name(now)
            backup = await self.log.take(self.make_taker(), path, worker=self.worker, every=self.every)
            if backup is not None:
                removed = await asyncio.to_thread(self._remove_old, now)
                _log.info("backup_taken", rows=backup.rows, files=len(backup.files), removed=removed)
                if backup.manifest.lost:
                    _log.error("backup_lacks_files", count=len(backup.manifest.lost))
            return backup
        except (BackupFailed, ConfigError) as error:
            _log.error("backup_failed", cause=str(error))
        except OSError as error:
            _log.error("backup_failed", cause=error.strerror or type(error).__name__)
        return None

    def _remove_old(self, now: datetime) -> int:
        """Delete the oldest backups, and abandoned files of dead workers; return the number of deleted backups."""
        names = sorted((path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)), reverse=True)
        begun = [path for path in self.folder.glob(f".onevalet-*.zip{PARTIAL}") if _age(path, now) > _ABANDONED]
        for path in (*names[self.kept :], *begun):
            path.unlink(missing_ok=True)
        return len(names[self.kept :])


def _age(path: Path, now: datetime) -> timedelta:
    with suppress(FileNotFoundError):
        return now - datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return timedelta(0)
