"""Periodic work goes on while the database is away, and ends by itself only when it meets something unforeseen."""

import asyncio
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from core.errors import StoreUnavailable
from jobs.upkeep.periodic import Periodic
from tests.patience import PATIENCE


async def test_work_is_repeated_and_skips_a_time_when_the_database_is_away() -> None:
    calls, enough = 0, asyncio.Event()

    async def once() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise StoreUnavailable("away")
        if calls == 3:
            enough.set()

    with capture_logs() as logged:
        running = asyncio.create_task(Periodic("sweep", timedelta(milliseconds=1), once).run())
        await asyncio.wait_for(enough.wait(), PATIENCE)
        running.cancel()
    assert logged == [{"event": "upkeep_delayed", "log_level": "warning", "part": "sweep", "cause": "away"}]


async def test_an_unforeseen_error_ends_the_work_for_its_supervisor_to_restart() -> None:
    async def once() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        await Periodic("sweep", timedelta(), once).run()
