"""Notifications and events over time, as a worker looks after them."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from core.events.store import EventStore
from core.events.types import Event
from core.notifications.store import NotificationStore
from core.notifications.types import Notification, Urgency
from jobs.events import EventUpkeep
from jobs.notifications import NotificationRounds
from tests.notify.harness import Moment, People, people


@pytest.fixture
async def house(database_url: str) -> AsyncIterator[People]:
    async with people(database_url, Moment(datetime.now(UTC))) as house:
        await house.bring_in("ann", "sms", wrote="sms")
        yield house


def moment(house: People) -> Moment:
    assert isinstance(house.clock, Moment)
    return house.clock


async def test_a_worker_lets_out_what_is_due_and_deletes_what_is_old(house: People) -> None:
    store = NotificationStore(house.store.database, house.store.make_id)
    events = EventStore(house.store.database, house.store.make_id)
    await house.service.notify("ann", Notification("waits", urgency=Urgency.LOW))
    await events.keep(Event("door", "opened", id="1", tenant_id="ann"))
    assert await EventUpkeep(events, house.clock).once() == 0
    moment(house).forward(days=2)
    rounds = NotificationRounds(house.service, store, house.clock)
    running = [asyncio.ensure_future(part.run()) for part in rounds.parts()]
    async with asyncio.timeout(10):
        while await house.store.one("select state from notifications") != "owed":  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.02)
    for part in running:
        part.cancel()
    await asyncio.wait(running)
    await house.deliver()
    assert house.said("sms") == ["waits"]
    moment(house).forward(days=29)
    assert await EventUpkeep(events, house.clock).once() == 1
    assert await store.prune(house.clock.now() - timedelta(days=90)) == 0
    moment(house).forward(days=90)
    assert await store.prune(house.clock.now() - timedelta(days=90)) == 1
