"""What an idle worker costs: counted on the wire, so that the figure holds on any machine."""

import asyncio
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.inbox.inbox import Inbox
from core.queue.wakeups import NoWakeups
from onevalet.wiring.worker import open_worker
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import open_harness
from tests.contract.test_redraw_at_once import settings
from tests.core.harness import OPEN, Store
from tests.eventually import eventually
from tests.postgres_meter import metered

SECONDS, STATEMENTS = 8, 12
"""What is due, each two to three seconds; health each ten. Polls were over a hundred."""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("model")]


async def test_a_worker_without_work_asks_once_in_a_while(
    store: Store, database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
    inbox = Inbox(store.database, NoWakeups(), store.make_id, OPEN)
    async with (
        open_harness(HARNESSES["sms"], inbox) as harness,
        metered(database_url) as meter,
        open_worker(settings(harness, meter.url, redis_url, tmp_path)),
    ):
        await asyncio.sleep(4)  # what is done once, at the start
        # What is done once a minute, by one worker of all, is done as the minute begins.
        await eventually(lambda: 1 <= datetime.now(UTC).second <= 58 - SECONDS, within=2 * SECONDS)
        meter.clear()
        await asyncio.sleep(SECONDS)
        asked = Counter(meter.statements)
    assert asked.total() <= STATEMENTS, asked
