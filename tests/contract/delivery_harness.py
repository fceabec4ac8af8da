"""The real outbox and delivery runner over one channel."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from core.messaging.messages import Action, OutboundKind, OutboundMessage
from core.turns.orchestrator import Orchestrator
from jobs.delivery.runner import DeliveryRunner
from jobs.turns.runner import TurnRunner
from tests.contract.canaries import marked
from tests.contract.harness import ChannelHarness, open_harness
from tests.core.harness import Store, opened


@dataclass(slots=True)
class DeliveryHarness:
    """One channel over the real inbox and outbox. `runner` delivers what is queued."""

    store: Store
    channel: ChannelHarness
    runner: DeliveryRunner

    async def meet(self, person: str = "ada") -> None:
        """Let a person write, so that there is a conversation to answer in."""
        await self.channel.said(marked("hello"), person)

    async def enqueue(self, text: str, *, actions: tuple[Action, ...] = ()) -> str:
        """Enqueue a message in the only conversation; return its id."""
        (row,) = await self.store.admin.fetch("select tenant_id, id from conversations")
        message = OutboundMessage(self.store.make_id("out"), OutboundKind.REPLY, text, actions)
        await self.store.enqueue_in(row["tenant_id"], row["id"], [message])
        return message.id

    async def deliver(self) -> None:
        """Send all that is due now."""
        while claim := await self.runner.claim(None):
            await self.runner.run(claim)

    async def deliver_hurried(self) -> None:
        """Send all that is due now, over a sender that soon takes an answer for lost."""
        patient = self.runner
        async with self.channel.hurried() as sender:
            self.runner = DeliveryRunner(self.store.outbox, {self.channel.name: sender}, "w1")
            await self.deliver()
        self.runner = patient

    async def deliver_later(self) -> None:
        """Make everything due and send it."""
        await self.store.make_due()
        await self.deliver()

    async def row(self, outbound_id: str) -> dict[str, Any]:
        """Return an outbound row."""
        return dict(await self.store.admin.fetchrow("select * from outbound where id = $1", outbound_id) or {})

    async def outcomes(self, outbound_id: str) -> list[object]:
        """Return the outcome of each call, in order."""
        return await self.store.db.deliveries.column("outcome", order="part, attempt", outbound_id=outbound_id)

    async def identity_state(self) -> object:
        """Return the state of the only identity."""
        return await self.store.db.identities.one("state")


@asynccontextmanager
async def open_delivery(kind: type[ChannelHarness], database_url: str) -> AsyncIterator[DeliveryHarness]:
    """Yield the harness on an empty database."""
    async with opened(database_url) as store, open_harness(kind, store.inbox) as harness:
        yield DeliveryHarness(store, harness, DeliveryRunner(store.outbox, {harness.name: harness.sender}, "w1"))


async def work(store: Store, delivery_runner: DeliveryRunner, orchestrator: Orchestrator) -> None:
    """Run what waits, then send what is owed."""
    turns = TurnRunner(store.turns, orchestrator, store.wakeups, {}, store.make_id, "w1")
    while lease := await turns.claim(None):
        await turns.run(lease)
    while claim := await delivery_runner.claim(None):
        await delivery_runner.run(claim)
