"""Past the bound of what may wait, over every channel: said once, in plain words, and nothing is lost (promise 6)."""

from collections.abc import AsyncIterator

import pytest

from core.inbox.inbox import Inbox
from core.queue.limits import BacklogLimits
from jobs.delivery.runner import DeliveryRunner
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.email_harness import also_by_mail
from tests.contract.harness import open_harness
from tests.core.harness import OPEN, opened


@pytest.fixture
async def narrow_delivery(channel: str, database_url: str) -> AsyncIterator[DeliveryHarness]:
    """Yield the one channel over an inbox in which two messages of a person may wait."""
    async with opened(database_url) as store:
        inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_person=2))
        async with open_harness(HARNESSES[channel], inbox) as harness:
            yield DeliveryHarness(store, harness, DeliveryRunner(store.outbox, {harness.name: harness.sender}, "w1"))


@also_by_mail
async def test_promise_6_what_is_too_much_is_recorded_and_its_person_told_once(
    narrow_delivery: DeliveryHarness,
) -> None:
    store, harness = narrow_delivery.store, narrow_delivery.channel
    for number in range(5):
        await harness.said(marked(f"text {number}"))
    await narrow_delivery.deliver()
    assert [bubble.text for bubble in harness.bubbles()] == [BacklogLimits(of_person=2).refusal(full=True)]
    states = await store.column("select state || ' ' || reason from inbound order by seq")
    assert states == ["waiting ", "waiting ", *["ignored overload"] * 3]
    await harness.said(marked("somebody else"), "grace")
    assert await store.column("select text from inbound where state = 'waiting' order by received_at desc limit 1") == [
        marked("somebody else")
    ]
