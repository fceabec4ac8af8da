"""Who may come in, over every channel: strangers get a code once, and the code lets them in (promises 8 and 12)."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from core.inbox.inbox import Inbox
from core.people.access_policy import Access, PersonRole
from core.people.pairing import Pairings, PairOutcome
from jobs.delivery.runner import DeliveryRunner
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.email_harness import also_by_mail
from tests.contract.harness import open_harness
from tests.core.harness import opened


@pytest.fixture
async def private_delivery(channel: str, database_url: str) -> AsyncIterator[DeliveryHarness]:
    """Yield the one channel over an inbox that lets nobody in by itself."""
    async with opened(database_url) as store:
        inbox = Inbox(store.database, store.wakeups, store.make_id, Access())
        async with open_harness(HARNESSES[channel], inbox) as harness:
            yield DeliveryHarness(store, harness, DeliveryRunner(store.outbox, {harness.name: harness.sender}, "w1"))


@also_by_mail
async def test_promise_12_a_stranger_is_sent_one_code_and_the_code_admits_them(
    private_delivery: DeliveryHarness,
) -> None:
    store, harness = private_delivery.store, private_delivery.channel
    for text in ("hello", "anybody?", "my secret"):
        await harness.said(marked(text))
    await private_delivery.deliver()
    [reply] = [bubble.text for bubble in harness.bubbles()]
    assert await store.db.inbound.count() == 0
    assert await store.column("select distinct reason from ignored_messages") == ["unknown"]
    [code] = re.findall(r"[2-9A-Z]{4}-[2-9A-Z]{4}", reply)
    pairing = await Pairings(store.database, store.make_id).redeem(code, PersonRole.GUEST, datetime.now(UTC))
    assert pairing.outcome is PairOutcome.PAIRED
    await harness.said(marked("hello again"))
    assert await store.db.inbound.column("text") == [marked("hello again")]
    assert await store.db.tenants.column("role") == ["guest"]
    assert "my secret" not in str(await store.everything())
