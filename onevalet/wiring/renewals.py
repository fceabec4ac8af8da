"""The accounts of people that a worker keeps open."""

from abilities.accounts.idle_grants import Renewals
from core.queue.due import DueWork
from jobs.upkeep.periodic import Periodic
from jobs.upkeep.schedule import DUE_ANYWAY
from onevalet.wiring.worker_parts import WorkerParts


def build_renewals(parts: WorkerParts) -> Periodic:
    """Create the work that keeps people's grants fresh, and tells of those that ended."""
    accounts, notifier = parts.assistant.accounts, parts.outbound.service
    renewals = Renewals(parts.connections.database, accounts, notifier, parts.clock)
    return Periodic("accounts", DUE_ANYWAY, renewals.once, DueWork.ACCOUNTS)
