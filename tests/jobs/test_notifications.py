"""Notifications and events over time, as a worker looks after them."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from core.events.store import EventStore
from core.events.types import Event
from core.notifications.store import NotificationStore
from core.notifications.types import Notification, Urgency
from jobs.maintenance import prune_events, prune_notifications, release_notifications
from tests.clocks import StandingClock
from tests.notify.harness import People, people


@pytest.fixture
async def harness(database_url: str) -> AsyncIterator[People]:
    async with people(database_url, StandingClock(datetime.now(UTC))) as harness:
        await harness.bring_in("ann", "sms", wrote="sms")
        yield harness


def moment(harness: People) -> StandingClock:
    assert isinstance(harness.clock, StandingClock)
    return harness.clock


async def test_a_worker_lets_out_what_is_due_and_deletes_what_is_old(harness: People) -> None:
    store = NotificationStore(harness.store.database, harness.store.make_id)
    events = EventStore(harness.store.database, harness.store.make_id)
    await harness.service.notify("ann", Notification("waits", urgency=Urgency.LOW))
    await events.keep(Event("door", "opened", id="1", tenant_id="ann"))
    assert await prune_events(events, harness.clock) == 0
    moment(harness).move(days=2)
    assert await release_notifications(harness.service, harness.clock) == 1
    await harness.deliver()
    assert harness.said("sms") == ["waits"]
    moment(harness).move(days=29)
    assert await prune_events(events, harness.clock) == 1
    assert await prune_notifications(store, harness.clock) == 0
    moment(harness).move(days=90)
    assert await prune_notifications(store, harness.clock) == 1
