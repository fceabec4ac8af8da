"""Periodic work of a worker beside its maintenance: deletions and backups."""

from datetime import timedelta

from jobs.later.cron import Chore
from jobs.upkeep.retention import RetentionPeriods
from onevalet.settings import Settings
from onevalet.wiring.backups import backup_work
from onevalet.wiring.tenants import build_deletion, deletion_chore
from onevalet.wiring.worker_parts import WorkerParts


def more_chores(parts: WorkerParts) -> tuple[Chore, ...]:
    """Return the periodic work of a worker beside its maintenance."""
    assistant, settings = parts.assistant, parts.connections.settings
    database, channels = parts.connections.database, parts.outbound.channels
    deletion = build_deletion(database, assistant.files, parts.clock, assistant.accounts, channels)
    backups = backup_work(settings, database, assistant.files.blobs, parts.clock, parts.name)
    return (*backups, deletion_chore(deletion))


def kept_for(settings: Settings) -> RetentionPeriods:
    """Return the lifetime of each kind of data."""
    return RetentionPeriods(
        messages=timedelta(days=settings.onevalet_messages_kept_days),
        journals=timedelta(days=settings.onevalet_kept_days),
        audit=timedelta(days=settings.onevalet_audit_kept_days),
        notifications=timedelta(days=settings.onevalet_kept_days),
    )
