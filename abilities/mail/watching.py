"""The mailboxes that a worker watches for new mail, as work beside its turns."""

from collections.abc import Sequence
from contextlib import AsyncExitStack

from abilities.events.bus import EventBus
from abilities.mail.watcher import MailWatcher, WatchLimits
from abilities.mail.watches import DUE, MailWatches
from onevalet.ability import Work
from onevalet.foundations import WorkFoundation


def watch_mailboxes(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Work]:
    """Create the watcher; `stack` closes its connections."""
    http = foundation.tool_http()
    stack.push_async_callback(http.close)
    watcher = MailWatcher(
        MailWatches(foundation.database, foundation.worker, foundation.wakeups),
        foundation.opened.get(EventBus),
        foundation.accounts,
        http,
        WatchLimits(),
        foundation.notifier,
    )
    return [Work("new mail", watcher.run, DUE, watcher.look)]
