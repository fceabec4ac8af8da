"""Periodic work: what is due is done, what has expired goes, and nothing else."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from abilities.events.retention import prune_events
from abilities.events.store import EventStore
from abilities.events.types import Event
from core.agents.pool import Pool
from core.approvals.store import ApprovalStore
from core.files.blobs import FolderStore
from core.files.store import FileStore
from core.notifications.types import Notification, NotificationPolicy, Urgency
from core.people.access_policy import Access, Policy
from jobs.supervision import PartSupervisor
from jobs.upkeep.catchup import CatchUp
from jobs.upkeep.clock_check import CheckedClock
from jobs.upkeep.retention import RetentionPeriods, prune_notifications
from jobs.upkeep.schedule import (
    IGNORED_KEPT,
    Maintenance,
    forget_expired,
    release_notifications,
)
from notify.store import NotificationStore
from onevalet.wiring.outbound import build_service
from tests.clocks import StandingClock
from tests.core.harness import Store
from tests.core.people.harness import CHAT, Harness
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


async def test_strangers_codes_and_old_notes_of_them_are_forgotten_in_time(store: Store) -> None:
    harness = Harness(store, access=Access(Policy.PAIRING))
    await harness.say("let me in", "+15550000001")
    await harness.settle()
    harness.access = Access(Policy.OPEN)
    code = await harness.code("7001", CHAT)
    await harness.settle()
    await store.db.ignored_messages.add(channel="sms", account="a", key="k", reason="bot")
    await forget_expired(store.database, harness.clock)
    assert await store.db.tenants.count() == 2
    harness.clock.move(timedelta(hours=1, minutes=1))
    await forget_expired(store.database, harness.clock)
    assert await store.db.tenants.count() == 1
    assert code not in str(await store.everything())
    assert await store.db.ignored_messages.count(reason="unknown") == 1
    await store.db.ignored_messages.change({"received_at": harness.clock.now()})
    harness.clock.move(IGNORED_KEPT - timedelta(minutes=1))
    await forget_expired(store.database, harness.clock)
    assert await store.db.ignored_messages.count() == 2
    await store.admin.execute(
        "insert into ignored_messages select channel, account, 'new', reason, $1"
        " from ignored_messages where reason = 'bot'",
        harness.clock.now(),
    )
    harness.clock.move(timedelta(minutes=2))
    await forget_expired(store.database, harness.clock)
    assert await store.db.ignored_messages.column("key") == ["new"]


async def test_every_work_of_the_table_runs_on_an_empty_installation(store: Store, tmp_path: Path) -> None:
    database, wakeups = store.database, store.wakeups
    clock, asked = CheckedClock(None, database), list[str]()
    maintenance = Maintenance(
        database=database,
        clock=clock,
        make_id=store.make_id,
        worker="host:7/run_1",
        supervisor=PartSupervisor(),
        pool=Pool(database, wakeups),
        approvals=ApprovalStore(database, wakeups),
        notifications=build_service(database, ["sms"], wakeups, clock, NotificationPolicy()),
        catch_up=CatchUp([], database, "host:7/run_1"),
        files=FileStore(database, FolderStore(tmp_path)),
        kept=RetentionPeriods(),
        ask_for_process=lambda: asked.append("asked"),
    )
    table = (*maintenance.table(), *maintenance.chores())
    assert len({work.name for work in table}) == len(table) == 15
    for work in table:
        await work.once()
    await maintenance._report_health()
    assert asked == [], "no turn is quarantined"
    assert await store.db.worker_health.count() == 1
