"""The mailboxes that a worker watches for new mail."""

from contextlib import AsyncExitStack

from core.mail.watches import MailWatches
from jobs.mail import MailWatcher, WatchLimits
from jobs.mailbox_notices import MailboxNotices
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
        MailboxNotices(parts.assistant.engine.store, parts.outbound.service).refused,
        WatchLimits(mailboxes=settings.onevalet_mail_watches, poll=float(settings.onevalet_mail_poll)),
    )
