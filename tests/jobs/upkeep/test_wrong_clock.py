"""A machine whose clock differs from Postgres' destroys nothing: what time decides is held back until it is right."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from structlog.testing import capture_logs

from abilities.events.retention import prune_events
from abilities.events.store import EventStore
from abilities.memory.jobs import MemoryWork
from abilities.memory.runner import MemoryUpkeep
from abilities.tasks.codec import Trigger
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from core.agents.pool import Pool
from core.approvals.store import ApprovalStore
from core.clock import set_clock
from core.tools.context import TaskState
from jobs.supervision import PartSupervisor
from jobs.upkeep.clock_check import CheckedClock
from jobs.upkeep.retention import prune_notifications
from jobs.upkeep.schedule import (
    advance_approvals,
    expire_agents,
    forget_expired,
    release_notifications,
    report_health,
)
from notify.service import NotificationService
from notify.store import NotificationStore
from operations.doctor.work import check_workers
from tests.abilities.tasks.harness import Harness, make_harness
from tests.core.harness import Store, opened

TEN_YEARS = timedelta(days=3652).total_seconds()


class Machine:
    """A machine whose clock is `off` seconds off, and whose monotonic time may be moved on."""

    def __init__(self) -> None:
        self.off = 0.0
        self.later = 0.0

    def time(self) -> float:
        """Return its time."""
        return time.time() + self.off

    def steady(self) -> float:
        """Return its monotonic time, which no clock steps."""
        return time.monotonic() + self.later

    def clock(self, store: Store, path: Path | None = None) -> CheckedClock:
        """Make the clock of a worker on it."""
        return CheckedClock(path, store.database, self.time, self.steady)


async def on_machine(store: Store, machine: Machine, path: Path) -> tuple[Harness, CheckedClock]:
    """Make a harness whose worker runs on a machine, with people's time in a file."""
    harness, clock = await make_harness(store), machine.clock(store, path)
    harness.engine.clock = harness.runner.clock = clock
    harness.runner.looking._clock = clock
    return harness, clock


async def test_a_clock_ten_years_ahead_for_a_while_fires_and_ends_nothing(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url) as store:
        machine, path = Machine(), tmp_path / "clock"
        harness, clock = await on_machine(store, machine, path)
        wedding = datetime.now(UTC) + timedelta(days=200)
        triggers: list[Trigger] = [
            ScheduleTrigger(cron="0 8 * * *"),
            ScheduleTrigger(at=wedding),
            ConditionTrigger("value > 1", url="https://shop.example/x", until=wedding),
        ]
        for number, trigger in enumerate(triggers):
            await harness.engine.create_task(
                tenant_id=harness.tenant, trigger=trigger, executor="counting", title=f"Task {number}"
            )
        assert await harness.work() == 1, "the condition is looked at first at once"
        before = await harness.store.admin.fetch(
            "select id, state, due_at, next_at, watch::text from tasks order by id"
        )
        machine.off = TEN_YEARS
        with capture_logs() as logged:
            for _ in range(5):
                assert await harness.work() == 0
        assert await harness.runner._pause() > 0, "nor does it ask again and again"
        assert [event["event"] for event in logged if event["event"].startswith("clock")] == ["clock_wrong"], (
            "told once"
        )
        now = await harness.store.admin.fetch("select id, state, due_at, next_at, watch::text from tasks order by id")
        assert now == before
        with pytest.raises(TriggerError, match="clock"):
            await harness.engine.create_task(tenant_id=harness.tenant, trigger=triggers[0], executor="counting")
        await report_health(store.database, "host:7/run_1", clock, PartSupervisor())
        _, trouble = await check_workers(store.database)
        assert (trouble.ok, trouble.what) == (False, "clock of host:7")
        assert "ahead of Postgres'" in trouble.detail
        # It is right again, and the day comes.
        machine.off = 0.0
        with capture_logs() as logged:
            assert await harness.work() == 0
        assert [event["event"] for event in logged if event["event"].startswith("clock")] == ["clock_right_again"]
        set_clock(path, offset=timedelta(days=200, seconds=5).total_seconds())
        await harness.work()
        assert await store.db.tasks.one("state", number=2) == TaskState.COMPLETED
        ran = "select r.state from task_runs r join tasks t on t.id = r.task_id where t.number = 2"
        assert await store.column(ran) == ["COMPLETED"]


async def test_a_clock_behind_is_wrong_too_and_a_minute_is_not(database_url: str) -> None:
    async with opened(database_url) as store:
        machine = Machine()
        clock = machine.clock(store)
        for off, sound in ((30.0, True), (-30.0, True), (-90.0, False), (90.0, False), (0.0, True)):
            machine.off = off
            assert (await clock.sound_now() is not None) is sound, off


async def test_a_clock_moved_on_purpose_is_no_glitch(database_url: str, tmp_path: Path) -> None:
    path = tmp_path / "clock"
    set_clock(path, offset=TEN_YEARS)
    async with opened(database_url) as store:
        now = await Machine().clock(store, path).sound_now()
        assert now is not None
        assert now - datetime.now(UTC) > timedelta(days=3600)


async def test_a_wrong_clock_is_measured_again_soon_and_a_right_clock_rarely(database_url: str) -> None:
    async with opened(database_url) as store:
        machine = Machine()
        clock = machine.clock(store)
        asked = 0
        real = store.database.rows

        async def counted(statement: str, *args: object) -> object:
            nonlocal asked
            asked += 1
            return await real(statement, *args)

        store.database.rows = counted  # type: ignore[method-assign, assignment]
        for _ in range(50):
            await clock.sound_now()
        assert asked == 1, "what monotonic time agrees with needs no second question"
        machine.later += 31
        await clock.sound_now()
        assert asked == 2


class Untouched:
    """A store of which nothing may be called now."""

    def __getattr__(self, name: str) -> object:
        def refuse(*_: object) -> None:
            raise AssertionError(name)

        return refuse


async def test_expiry_and_pruning_are_paused_while_the_clock_is_wrong(database_url: str) -> None:
    async with opened(database_url) as store:
        machine = Machine()
        machine.off = TEN_YEARS
        clock, nothing = machine.clock(store), Untouched()
        await advance_approvals(cast(ApprovalStore, nothing), clock, store.make_id)
        await expire_agents(cast(Pool, nothing), clock)
        assert await prune_events(cast(EventStore, nothing), clock) == 0
        await MemoryUpkeep(cast(MemoryWork, nothing), clock).once()
        assert await prune_notifications(cast(NotificationStore, nothing), clock) == 0
        assert await release_notifications(cast(NotificationService, nothing), clock) == 0
        asked: list[str] = []
        real = store.database.rows

        async def noted(statement: str, *args: object) -> object:
            asked.append(statement)
            return await real(statement, *args)

        store.database.rows = noted  # type: ignore[method-assign, assignment]
        await forget_expired(store.database, clock)
        assert not [statement for statement in asked if "drop_" in statement]
