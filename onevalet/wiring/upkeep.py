"""What a worker does from time to time beside its maintenance: deletions, renewals of grants, and backups."""

from jobs.periodic import Periodic
from onevalet.wiring.backups import backup_work
from onevalet.wiring.mail import build_renewals
from onevalet.wiring.tenants import deletion_chore
from onevalet.wiring.worker_parts import WorkerParts


def more_chores(parts: WorkerParts) -> tuple[Periodic, ...]:
    """Return the rare work that one worker does for all."""
    assistant = parts.assistant
    return (deletion_chore(parts.connections.database, assistant.files, parts.clock, assistant.accounts),)


def more_work(parts: WorkerParts) -> tuple[Periodic, ...]:
    """Return the work of each worker."""
    settings, database = parts.connections.settings, parts.connections.database
    backups = backup_work(settings, database, parts.assistant.files.blobs, parts.clock, parts.name)
    return (build_renewals(parts), *backups)
