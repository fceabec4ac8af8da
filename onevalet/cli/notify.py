"""`notify …`: people's addresses for notifications, and a test message."""

import asyncio
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import asdict

from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError
from core.ids import make_id
from core.notifications.types import Notification, NotificationStatus, Notified, Urgency
from core.queue.wakeups import RedisWakeups
from notify.addresses import AddressBook, AddressRefused
from notify.store import NotificationStore
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import one_tenant, open_database, reach
from onevalet.settings import Settings
from onevalet.wiring.channels import notification_channel_names
from onevalet.wiring.own_channels import only_sending

PATIENCE = 15.0
"""Seconds that `notify send` waits for the outcome."""
_LOOK_EVERY = 0.25


async def add_address(settings: Settings, tenant: str, channel: str, address: str) -> None:
    async with _opened(settings) as database:
        made = await _book(settings, database).add(await one_tenant(database, tenant), channel, address)
    say(f"Kept: {made.channel}, {made.account} {made.address}.")
    if channel == "email" and not settings.email_on:
        say("Nothing is sent there until SMTP_HOST and SMTP_FROM are set.")


async def print_addresses(settings: Settings, tenant: str, *, as_json: bool) -> None:
    async with _opened(settings) as database:
        addresses = await _book(settings, database).list(await one_tenant(database, tenant))
    if as_json:
        say_json([asdict(address) for address in addresses])
        return
    for address in addresses:
        say(f"{address.channel:<8} {address.account:<8} {address.address}  {address.state}")
    if not addresses:
        say("No addresses: people are told things where they write.")


async def delete_address(settings: Settings, tenant: str, channel: str, address: str) -> None:
    """Delete an address; raise `ConfigError` when the person has no such address."""
    async with _opened(settings) as database:
        if not await _book(settings, database).delete(await one_tenant(database, tenant), channel, address):
            raise ConfigError("This person has no such address.")
    say("Forgotten.")


async def send_notification(
    settings: Settings, tenant: str, text: str, urgency: Urgency, *, patience: float = PATIENCE
) -> bool:
    """Notify a person through the running system and print its outcome; return whether it reaches them.

    Wait for at most `patience` seconds until it is sent or refused.
    """
    from notify.service import NotificationService

    reached = reach(settings)
    wakeups = RedisWakeups(reached.redis_url)
    async with _opened(settings) as database:
        tenant = await one_tenant(database, tenant)
        await wakeups.start()
        try:
            names = notification_channel_names(settings)
            if reached.simulator_url:
                names |= {"sms", "slack", "telegram"}
            store = NotificationStore(database, make_id)
            service = NotificationService(
                store, names, wakeups, Clock(settings.onevalet_clock), make_id, settings.manners
            )
            result = await service.notify(
                tenant, Notification(text, "test", urgency, title="A message from your operator")
            )
            status, reason = await _outcome(store, tenant, result, patience)
        finally:
            await wakeups.stop()
    by = f" by {result.where}" if result.where else ""
    say(f"{_SAID[status].format(by=by, reason=f' ({reason})' if reason else '')}. Its id is {result.id}.")
    return result.reaches and status is not NotificationStatus.FAILED


async def _outcome(
    store: NotificationStore, tenant: str, result: Notified, patience: float
) -> tuple[NotificationStatus, str]:
    """Return the final status of a queued notification, within `patience` seconds, and the reason for a failure."""
    status, reason = result.fate, ""
    with suppress(TimeoutError):
        async with asyncio.timeout(patience):
            while status is NotificationStatus.QUEUED:
                await asyncio.sleep(_LOOK_EVERY)
                if (stored := await store.read(tenant, result.id)) is not None:
                    status, reason = stored.state, stored.reason
    return status, reason


_SAID = {
    NotificationStatus.QUEUED: "It waits to be sent{by}, and nothing has taken it yet",
    NotificationStatus.SENT: "It was sent{by}",
    NotificationStatus.DIGESTED: "It was sent as part of a digest",
    NotificationStatus.FAILED: "It could not be sent{by}{reason}; it goes to the person's next place, if there is one",
    NotificationStatus.HELD: "It is held for the next digest",
    NotificationStatus.MUTED: "This person has muted it",
    NotificationStatus.DUPLICATE: "The same was said already",
    NotificationStatus.NOWHERE: "There is no place where this person can be reached",
}


def _book(settings: Settings, database: Database) -> AddressBook:
    return AddressBook(database, make_id, only_sending(settings))


def _opened(settings: Settings) -> AbstractAsyncContextManager[Database]:
    return open_database(settings, "notify", refusals=(AddressRefused,), size=2)
