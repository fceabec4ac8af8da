"""Past the bound of what may wait, over every channel: said once, in plain words, and nothing is lost (promise 6)."""

from collections.abc import AsyncIterator

import pytest

from core.inbox.inbox import Inbox
from core.queue.limits import Waiting
from jobs.delivery import DeliveryRunner
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HOUSES
from tests.contract.delivery_harness import Desk
from tests.contract.harness import open_house
from tests.core.harness import OPEN, opened


@pytest.fixture
async def narrow_desk(channel: str, database_url: str) -> AsyncIterator[Desk]:
    """Give the one channel over an inbox in which two messages of a person may wait."""
    async with opened(database_url) as store:
        inbox = Inbox(store.database, store.bell, store.make_id, OPEN, waiting=Waiting(of_person=2))
        async with open_house(HOUSES[channel], inbox) as house:
            yield Desk(store, house, DeliveryRunner(store.outbox, {house.name: house.sender}, "w1"))


async def test_promise_6_what_is_too_much_is_recorded_and_its_person_told_once(narrow_desk: Desk) -> None:
    store, house = narrow_desk.store, narrow_desk.house
    for number in range(5):
        await house.said(marked(f"text {number}"))
    await narrow_desk.deliver()
    assert [bubble.text for bubble in house.bubbles()] == [Waiting(of_person=2).full]
    states = await store.column("select state || ' ' || reason from inbound order by seq")
    assert states == ["waiting ", "waiting ", *["ignored overload"] * 3]
    await house.said(marked("somebody else"), "grace")
    assert await store.column("select text from inbound where state = 'waiting' order by received_at desc limit 1") == [
        marked("somebody else")
    ]
