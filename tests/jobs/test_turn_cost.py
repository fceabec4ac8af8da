"""What a message costs in round trips: counted on the wire, so that the figures hold on any machine."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.inbox.inbox import Inbox
from core.queue.wakeups import NoWakeups
from onevalet.supervision.worker_start import ALONE
from onevalet.wiring.worker_parts import WorkerParts
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import ChannelHarness, open_harness
from tests.contract.test_redraw_at_once import settings
from tests.core.harness import OPEN, Store, opened
from tests.postgres_meter import PostgresMeter, metered
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text

PLAIN_ROUND_TRIPS, PLAIN_TRANSACTIONS = 35, 17
TOOLS_ROUND_TRIPS, TOOLS_TRANSACTIONS = 44, 22
"""Ceilings: lower them with each round trip that is saved."""

pytestmark = [pytest.mark.xdist_group("model"), pytest.mark.timeout(120)]


@dataclass(slots=True)
class Metered:
    """A worker's parts as `onevalet worker` has them, without its polls and upkeep, behind a meter."""

    harness: ChannelHarness
    store: Store
    parts: WorkerParts
    meter: PostgresMeter
    model: ScriptedModel

    async def answer(self, words: str) -> None:
        """Let the person write, and let the worker do what a wakeup for it leads to."""
        await self.harness.said(words)
        self.meter.clear()
        lane = str(await self.store.one("select id from lanes"))
        lease = await self.parts.turns.claim(lane)
        assert lease is not None
        await self.parts.turns.run(lease)
        claim = await self.parts.delivery.claim(lane)
        assert claim is not None
        await self.parts.delivery.run(claim)


@pytest.fixture
async def running(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Metered]:
    """Yield a worker of SMS with two tools at hand, whose person has written before."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel(answer))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        store = await stack.enter_async_context(opened(database_url))
        inbox = Inbox(store.database, NoWakeups(), store.make_id, OPEN)
        harness = await stack.enter_async_context(open_harness(HARNESSES["sms"], inbox))
        meter = await stack.enter_async_context(metered(database_url))
        configured = settings(harness, meter.url, redis_url, tmp_path)
        parts = await WorkerParts.open(stack, configured, ALONE)
        yield Metered(harness, store, parts, meter, model)


async def test_a_plain_message_costs_the_worker_few_round_trips(running: Metered) -> None:
    await running.answer("hello")  # what is prepared and remembered once
    await running.answer("hello again")
    assert len(running.meter.statements) <= PLAIN_ROUND_TRIPS, running.meter.statements
    assert running.meter.transactions <= PLAIN_TRANSACTIONS


async def test_a_message_with_two_tools_costs_the_worker_few_round_trips(running: Metered) -> None:
    await running.answer("hello")
    await running.answer("add")
    assert len(running.model.calls[-1].tool_results) == 2
    assert len(running.meter.statements) <= TOOLS_ROUND_TRIPS, running.meter.statements
    assert running.meter.transactions <= TOOLS_TRANSACTIONS


def answer(call: ModelCall) -> Reply:
    """Use two tools where the person asks for a sum."""
    if call.last_user.startswith("add") and not call.tool_results:
        return calls(("calculate", {"expression": "1 + 2"}), ("current_time", {}))
    return text("Hello.")
