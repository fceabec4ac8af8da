"""The mailboxes that a worker watches for new mail, and the accounts that it keeps open."""

from contextlib import AsyncExitStack

from core.accounts.renewals import Renewals
from core.mail.watches import MailWatches
from core.queue.due import DueWork
from jobs.mail import MailWatcher, WatchLimits
from jobs.maintenance import DUE_ANYWAY
from jobs.periodic import Periodic
from onevalet.wiring.http import build_http
from onevalet.wiring.worker_parts import WorkerParts


def build_mail_watcher(stack: AsyncExitStack, parts: WorkerParts) -> MailWatcher:
    """Create the watcher; `stack` closes what it connects by."""
    settings = parts.connections.settings
    http = build_http(settings)
    stack.push_async_callback(http.close)
    return MailWatcher(
        MailWatches(parts.connections.database, parts.name),
        parts.assistant.engine.event_bus,
        parts.assistant.accounts.for_tenant,
        http,
        WatchLimits(mailboxes=settings.onevalet_mail_watches, poll=float(settings.onevalet_mail_poll)),
        parts.outbound.service,
    )


def build_renewals(parts: WorkerParts) -> Periodic:
    """Create the work that keeps people's grants fresh, and tells of those that ended."""
    accounts, notifier = parts.assistant.accounts, parts.outbound.service
    renewals = Renewals(parts.connections.database, accounts, notifier, parts.clock)
    return Periodic("accounts", DUE_ANYWAY, renewals.once, DueWork.ACCOUNTS)
