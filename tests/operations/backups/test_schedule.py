"""Backups on a schedule: one worker takes each, the oldest go, and `doctor` tells the age of the last one."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.messaging.channels import Check
from onevalet.settings import load_settings
from operations.backups.schedule import BackupLog, BackupSchedule, last_backup
from operations.backups.taking import BackupTaker
from operations.backups.types import BackupFailed, open_backup
from operations.doctor.backups import check_backups
from operations.doctor.types import Installation
from tests.operations.backups.harness import Backups

type MakeSchedule = Callable[[str], BackupSchedule]


@pytest.fixture
def schedule(backups: Backups) -> BackupSchedule:
    """Return a daily schedule that keeps two."""
    store = backups.installation.store
    return BackupSchedule(
        log=BackupLog(store.database, backups.installation.clock, store.make_id),
        make_taker=lambda: backups.taker,
        folder=backups.installation.folder / "daily",
        every=timedelta(days=1),
        kept=2,
        worker="w1",
    )


def names(folder: Path) -> list[str]:
    """Return what lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


async def test_one_is_taken_each_day_and_the_oldest_go(backups: Backups, schedule: BackupSchedule) -> None:
    clock, taken = backups.installation.clock, []
    for _ in range(3):
        backup = await schedule.once()
        assert backup is not None
        taken.append(backup.path.name)
        clock.move(hours=12)
        assert await schedule.once() is None
        clock.move(hours=12)
    assert taken[0] == "onevalet-20260501T120000Z.zip"
    stranger = schedule.folder / "onevalet-mine.zip"
    stranger.write_bytes(b"what the operator put there")
    assert names(schedule.folder) == ["onevalet-20260502T120000Z.zip", "onevalet-20260503T120000Z.zip", stranger.name]
    assert open_backup(schedule.folder / taken[2]).rows > 100
    last = await last_backup(backups.installation.store.database)
    assert (last.taken_at, last.failed) == (clock.now() - timedelta(days=1), 0)
    assert last.size == (schedule.folder / taken[2]).stat().st_size


async def test_of_two_workers_one_takes_it(backups: Backups, schedule: BackupSchedule) -> None:
    other = replace(schedule, worker="w2", folder=schedule.folder / "other")
    results = await asyncio.gather(schedule.once(), other.once())
    assert sorted(result is None for result in results) == [False, True]
    assert await backups.installation.store.one("select count(*) from backups") == 1


async def test_what_a_dead_worker_began_is_taken_by_another(
    backups: Backups, schedule: BackupSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, clock = backups.installation.store, backups.installation.clock
    await store.admin.execute(
        "insert into backups (id, worker, began_at, lease_until) values ('dead', 'w0', $1, now() + interval '1 hour')",
        clock.now(),
    )
    clock.move(hours=1)
    assert await schedule.once() is None
    await store.admin.execute("update backups set lease_until = now()")
    assert await schedule.once() is not None


async def test_a_failed_one_is_tried_again_and_told(
    backups: Backups, schedule: BackupSchedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, database = backups.installation.clock, backups.installation.store.database

    async def fails(*_: object) -> None:
        raise BackupFailed("The database was not dumped: no space.")

    with monkeypatch.context() as patched:
        patched.setattr(BackupTaker, "_dump", fails)
        assert await schedule.once() is None
    clock.move(minutes=10)
    assert await schedule.once() is None
    assert names(schedule.folder) == []
    last = await last_backup(database)
    assert (last.taken_at, last.failed, last.failure) == (None, 1, "The database was not dumped: no space.")
    clock.move(minutes=6)
    assert await schedule.once() is not None
    assert (await last_backup(database)).failed == 0


async def test_a_command_waits_for_no_schedule_but_for_another_backup(
    backups: Backups, schedule: BackupSchedule
) -> None:
    assert await schedule.once() is not None
    path = backups.installation.folder / "by hand.zip"
    assert await schedule.log.take(backups.taker, path) is not None
    await backups.installation.store.admin.execute(
        "insert into backups (id, began_at, lease_until) values ('now', now(), now() + interval '1 hour')"
    )
    assert await schedule.log.take(backups.taker, path.with_name("second.zip")) is None


async def test_doctor_tells_the_age_and_what_is_too_old(
    backups: Backups, schedule: BackupSchedule, clock_path: Path
) -> None:
    database = backups.installation.store.database

    async def check(**settings: object) -> Check:
        given = load_settings(_env_file=None, onevalet_clock=clock_path, **settings)
        [found] = await check_backups(Installation(given, database))
        return found

    assert (await check()).detail == "there is none"
    assert (await check()).fix == "run `bin/onevalet backup`, or set ONEVALET_BACKUPS"
    assert (await check(onevalet_backups=schedule.folder)).fix == ""
    await backups.installation.store.admin.execute(
        "insert into backups (id, began_at, lease_until, finished_at, bytes)"
        " values ('b', now() - interval '49 hours', now(), now(), 7)"
    )
    late = await check(onevalet_backups=schedule.folder)
    assert (late.ok, late.detail) == (False, "the last one was taken 2 days ago (7 bytes)")
    await backups.installation.store.admin.execute("update backups set began_at = now() - interval '47 hours'")
    assert (await check(onevalet_backups=schedule.folder)).ok
    assert (await check()).fix == ""
    await backups.installation.store.admin.execute("update backups set began_at = now() - interval '8 days'")
    assert "run `bin/onevalet backup`" in (await check()).fix


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="ONEVALET_BACKUP_DATABASE_URL cannot be used"):
        load_settings(_env_file=None, onevalet_backup_database_url="mysql://a")
