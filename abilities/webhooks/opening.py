"""The work of webhooks in a worker: calls, news of disabled endpoints, and the deletion of old messages."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any

from abilities.webhooks.endpoints import Endpoints
from abilities.webhooks.outbox import WebhookOutbox
from abilities.webhooks.sending import DUE, WebhookSender
from core.clock import Clock
from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from core.ids import make_id
from core.language.catalogue import gettext, speaking
from core.notifications.types import Notification, Notifier
from core.queue.batches import in_batches
from core.queue.claims import ClaimedWork
from onevalet.ability import Repeated
from onevalet.foundations import WorkFoundation

QUEUE = "onevalet:wake:webhooks"
SLOTS = 4
KEPT = timedelta(days=30)
"""The time for which the console shows sent messages."""
_MAX_ROWS = 2000


def open_work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated | ClaimedWork[Any]]:
    """Return the work; without secret keys, by which everything is signed, there is none."""
    settings, database, clock = foundation.settings, foundation.database, foundation.clock
    if not settings.onevalet_secret_keys:
        return []
    keys = SecretKeys.from_text(*(key.get_secret_value() for key in settings.onevalet_secret_keys))
    http = foundation.http(())
    stack.push_async_callback(http.close)
    outbox = WebhookOutbox(database, make_id)
    sender = WebhookSender(outbox, http, keys, foundation.worker, clock, foundation.wakeups)
    endpoints = Endpoints(database, make_id)
    kept = min(KEPT, timedelta(days=settings.onevalet_kept_days))
    return [
        ClaimedWork("webhook", QUEUE, DUE, sender.claim, sender.run, slots=SLOTS),
        Repeated(
            "disabled webhooks",
            timedelta(minutes=1),
            lambda: tell_of_disabled(endpoints, database, foundation.notifier),
            for_all=True,
        ),
        Repeated("old webhooks", timedelta(hours=1), lambda: prune(database, clock, kept), for_all=True),
    ]


async def tell_of_disabled(endpoints: Endpoints, database: Database, notifier: Notifier) -> None:
    """Notify the owner of endpoints that were disabled, once each; without an owner `doctor` and the console tell."""
    owner = await database.call("select tenant_id from console_owner()")
    if owner is None:
        return
    person = await database.tenant_row(owner["tenant_id"], "select language from tenants where tenant_id = $1")
    for endpoint in await endpoints.untold():
        with speaking(person["language"] if person else None):
            text = gettext(
                "I have stopped telling {host} of events: it does not accept them. "
                "To begin again: onevalet webhooks enable {id}",
                host=endpoint.host,
                id=endpoint.id,
            )
        await notifier.notify(owner["tenant_id"], Notification(text, "webhooks", dedupe_key=f"webhook {endpoint.id}"))
        await endpoints.note_told(endpoint)


async def prune(database: Database, clock: Clock, kept: timedelta = KEPT) -> int:
    """Delete messages older than `kept`; return their number."""

    async def once(now: datetime) -> int:
        return int((await database.one("select pruned from prune_webhooks($1,$2)", now - kept, _MAX_ROWS))["pruned"])

    return await in_batches(clock, once)
