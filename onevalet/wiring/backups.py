"""Backups: the account that takes them, their folder, and the worker's part in them."""

from datetime import timedelta
from pathlib import Path

from core.clock import Clock
from core.db.database import Database
from core.files.blobs import BlobStore
from core.ids import make_id
from jobs.later.cron import Chore
from onevalet import __version__
from onevalet.settings import Settings
from onevalet.wiring.connections import database_url
from operations.backups.schedule import EVERY, BackupLog, BackupSchedule
from operations.backups.taking import BackupTaker


def owner_url(settings: Settings) -> str:
    """Return the address with which everything is read: that of backups, else DATABASE_URL."""
    url = settings.onevalet_backup_database_url
    return url.get_secret_value() if url else database_url(settings)


def backup_folder(settings: Settings) -> Path:
    """Return the folder of backups without a given name."""
    return settings.onevalet_backups or settings.onevalet_home / "backups"


def build_taker(settings: Settings, blobs: BlobStore, url: str = "") -> BackupTaker:
    """Create the taker of backups."""
    return BackupTaker(url or owner_url(settings), blobs, __version__)


def backup_work(
    settings: Settings, database: Database, blobs: BlobStore, clock: Clock, worker: str
) -> tuple[Chore, ...]:
    """Return the work that takes backups on a schedule; nothing without ONEVALET_BACKUPS."""
    if settings.onevalet_backups is None:
        return ()
    schedule = BackupSchedule(
        log=BackupLog(database, clock, make_id),
        make_taker=lambda: build_taker(settings, blobs),
        folder=settings.onevalet_backups,
        every=EVERY,
        kept=settings.onevalet_backups_kept,
        worker=worker,
    )
    return (Chore("backups", timedelta(minutes=1), schedule.once),)
