"""People with several addresses, the notification service, and channels that record or fail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.clock import Clock
from core.notifications.types import NotificationPolicy
from jobs.delivery.runner import DeliveryRunner
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.core.harness import ACCOUNT, Store, opened
from tests.jobs.harness import RecordingChannel

ADDRESSES = {"sms": "+15550000001", "telegram": "7001", "push": "anns-topic", "email": "ann@example.org"}


@dataclass(slots=True)
class People:
    """People in a database, and the parts of one worker."""

    store: Store
    clock: Clock
    manners: NotificationPolicy = field(default_factory=NotificationPolicy)
    channels: dict[str, RecordingChannel] = field(
        default_factory=lambda: {name: RecordingChannel(name) for name in ADDRESSES}
    )

    @property
    def service(self) -> NotificationService:
        """Return the service as a worker builds it."""
        notes = NotificationStore(self.store.database, self.store.make_id)
        return NotificationService(
            notes, self.channels, self.store.wakeups, self.clock, self.store.make_id, self.manners
        )

    async def bring_in(self, tenant: str, *channels: str, wrote: str = "", suffix: str = "") -> None:
        """Admit a person on these channels; on `wrote` they have written already."""
        await self.store.db.tenants.add(tenant_id=tenant)
        for channel in channels:
            await self.store.admin.execute(
                "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
                " values ($1, $2, $3, $4, $5, 'operator')",
                tenant,
                f"{tenant}-{channel}",
                channel,
                ACCOUNT,
                ADDRESSES[channel] + suffix,
            )
        if wrote:
            await self.write(tenant, wrote)

    async def write(self, tenant: str, channel: str) -> None:
        """Let a person write on a channel, which opens its conversation."""
        await self.store.admin.execute(
            "insert into conversations (tenant_id, id, identity_id, channel, account, peer, last_inbound_at)"
            " select tenant_id, id || '-talk', id, channel, account, user_key, clock_timestamp() from identities"
            " where tenant_id = $1 and channel = $2"
            " on conflict (tenant_id, channel, account, peer, thread, recipient_id)"
            " do update set last_inbound_at = clock_timestamp()",
            tenant,
            channel,
        )

    async def deliver(self) -> None:
        """Send all that is due."""
        runner = DeliveryRunner(self.store.outbox, self.channels, "w1")
        while claim := await runner.claim(None):
            await runner.run(claim)

    async def prefer(self, tenant: str, **values: object) -> None:
        """Set columns of a person."""
        for name, value in values.items():
            await self.store.admin.execute(f"update tenants set {name} = $2 where tenant_id = $1", tenant, value)  # noqa: S608

    def said(self, channel: str) -> list[str]:
        """Return the texts that a channel was asked to send."""
        return self.channels[channel].texts


@asynccontextmanager
async def people(database_url: str, clock: Clock, **more: object) -> AsyncIterator[People]:
    """Yield an empty harness."""
    async with opened(database_url) as store:
        yield People(store, clock, **more)  # type: ignore[arg-type]
