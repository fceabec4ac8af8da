"""A worker that is stopped for twice its lease and then goes on, as a machine that sleeps: it can write nothing."""

import asyncio
import signal
from pathlib import Path

import pytest

from core.llm.types import Role
from tests.core.harness import opened
from tests.eventually import eventually
from tests.forker import Forker
from tests.onevalet.supervision.test_hanging_worker import IMPATIENT
from tests.onevalet.supervision.test_supervisor import worker_environment
from tests.scripted_model import ModelCall, Reply, ScriptedModel, text

LEASE = 5.0
"""Seconds, in place of ten: all that is asked is how long the pause is beside it."""


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_5_a_worker_paused_for_twice_its_lease_writes_nothing(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    asked: asyncio.Queue[int] = asyncio.Queue()

    def by_number(call: ModelCall) -> Reply:
        asked.put_nowait(call.number)
        # The first answer comes while its process is stopped, which finds it when it goes on.
        return text("from the paused").after(4) if call.number == 1 else text("from the other")

    async with ScriptedModel(by_number) as model, opened(database_url) as store:
        environment = worker_environment(database_url, redis_url, model.url) | {"TEST_LANE_LEASE": str(LEASE)}
        paused = forker.fork(["worker", "--no-spare"], environment, tmp_path / "paused", module=IMPATIENT)
        await store.say("hi")
        assert await asyncio.wait_for(asked.get(), 30) == 1
        paused.send_signal(signal.SIGSTOP)
        pausing = asyncio.create_task(asyncio.sleep(2 * LEASE))
        other = forker.fork(["worker", "--no-spare"], environment, tmp_path / "other", module=IMPATIENT)
        assert await asyncio.wait_for(asked.get(), 30) == 2
        await eventually(lambda: store.db.turns.count(state="done"), "the other's turn")
        await pausing
        tables = ("turns", "steps", "history", "inbound", "lanes")
        before = {name: rows for name, rows in (await store.everything()).items() if name in tables}
        paused.send_signal(signal.SIGCONT)
        await eventually(lambda: "lease_lost" in (tmp_path / "paused").read_text(), "the loss of its lease")
        paused.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(paused.wait(), 40) == 0, (tmp_path / "paused").read_text()
        assert {name: rows for name, rows in (await store.everything()).items() if name in tables} == before
        assert await store.db.outbound.column("text") == ["from the other"]
        assert await store.one("select count(*) from history where message ->> 'role' = $1", Role.ASSISTANT.value) == 1
        # It died to nobody's knowledge but the leases': the turn that was alone crashed once, and is done.
        assert await store.column("select array[attempts, solo_crashes] from turns") == [[2, 1]]
        other.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(other.wait(), 40) == 0, (tmp_path / "other").read_text()
