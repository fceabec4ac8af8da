"""The page's counts of the messages that people wrote: none that needs no turn is "under way" for ever."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.inbox.inbox import Inbox
from core.json_types import JsonObject
from core.people.access_policy import Access
from jobs.delivery.runner import DeliveryRunner
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.harness import exempt, open_harness
from tests.core.harness import OPEN, opened
from workbench.dev.bench.tally import tally


@asynccontextmanager
async def opened_for(channel: str, database_url: str, access: Access) -> AsyncIterator[DeliveryHarness]:
    """Open one channel over an inbox with an access policy."""
    async with opened(database_url) as store:
        inbox = Inbox(store.database, store.wakeups, store.make_id, access)
        async with open_harness(HARNESSES[channel], inbox) as harness:
            yield DeliveryHarness(store, harness, DeliveryRunner(store.outbox, {harness.name: harness.sender}, "w1"))


async def counted(delivery: DeliveryHarness) -> JsonObject:
    """Return the counts of the page."""
    providers = delivery.channel.simulator.providers
    return await tally(delivery.store.database, {name: provider.state() for name, provider in providers.items()})


async def test_a_strangers_messages_are_under_way_for_nobody(channel: str, database_url: str) -> None:
    async with opened_for(channel, database_url, Access()) as delivery:
        for text in ("hello", "anybody?"):
            await delivery.channel.said(text)
        counts = await counted(delivery)
        assert (counts["waiting"], counts["ignored"]) == (0, 2)


@exempt(slack="nobody says STOP to an app in Slack", telegram="a person blocks the bot instead of saying STOP")
async def test_a_stop_is_not_under_way_and_a_text_is(channel: str, database_url: str) -> None:
    async with opened_for(channel, database_url, OPEN) as delivery:
        await delivery.channel.said("STOP")
        await delivery.channel.said("START")
        await delivery.channel.said("hello")
        counts = await counted(delivery)
        assert (counts["waiting"], counts["ignored"]) == (1, 2)
