"""The supervisor: a worker that is killed has a successor at once, which goes on with what it held."""

import asyncio
import base64
import os
import signal
from pathlib import Path

import psutil
import pytest

from core.turns.failures import SET_ASIDE
from tests.core.harness import opened
from tests.eventually import eventually
from tests.forker import Forker, plain_environment
from tests.scripted_model import ModelCall, Reply, ScriptedModel, text

TAKEN_OVER_WITHIN = 5.0
"""Seconds; its lease alone would keep the turn for ten."""


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_5_a_killed_workers_turn_resumes_at_once_in_its_successor(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    asked: asyncio.Queue[float] = asyncio.Queue()
    clock = asyncio.get_running_loop().time

    def slow_at_first(call: ModelCall) -> Reply:
        asked.put_nowait(clock())
        return text("here").after(30 if call.number == 1 else 0)

    async with ScriptedModel(slow_at_first) as model, opened(database_url) as store:
        supervisor = forker.fork(["worker"], worker_environment(database_url, redis_url, model.url), tmp_path / "log")
        await store.say("hi")
        await asyncio.wait_for(asked.get(), 30)
        [worker] = psutil.Process(supervisor.pid).children()
        os.kill(worker.pid, signal.SIGKILL)
        killed = clock()
        again = await asyncio.wait_for(asked.get(), 30)
        assert again - killed < TAKEN_OVER_WITHIN, (tmp_path / "log").read_text()
        supervisor.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(supervisor.wait(), 30) == 0, (tmp_path / "log").read_text()
        assert await store.one("select max(attempts) from turns") == 2
    assert not worker.is_running()


def worker_environment(database_url: str, redis_url: str, model_url: str) -> dict[str, str]:
    """Return what a worker needs that speaks to this model only."""
    return plain_environment() | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "ONEVALET_ACCESS": "open",
        "ONEVALET_MODEL": "openai/scripted",
        "ONEVALET_SECRET_KEYS": base64.b64encode(bytes(32)).decode(),
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_API_BASE": model_url,
    }


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_5_a_quarantined_turn_harms_no_other(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    asked: asyncio.Queue[str] = asyncio.Queue()

    def slow_or_not(call: ModelCall) -> Reply:
        said = call.last_user.strip()
        asked.put_nowait(said)
        return text(f"to {said}").after(30 if said == "deadly" else 0)

    async with ScriptedModel(slow_or_not) as model, opened(database_url) as store:
        # Two workers died with it already.
        await store.say("deadly")
        for number in range(2):
            lease = await store.turns.claim(None, f"dead{number}")
            assert lease is not None
            await store.turns.begin(lease)
            await store.turns.end_leases(f"dead{number}")
        log = tmp_path / "log"
        supervisor = forker.fork(["worker"], worker_environment(database_url, redis_url, model.url), log)
        assert await asyncio.wait_for(asked.get(), 30) == "deadly"
        worker = min(psutil.Process(supervisor.pid).children(), key=psutil.Process.create_time)
        pid = "select split_part(split_part(l.process, ':', 2), '/', 1)::int"
        [quarantining] = await store.column(f"{pid} from lanes l join turns t on t.lane_id = l.id where t.quarantined")
        assert isinstance(quarantining, int)
        private = psutil.Process(quarantining)
        assert private != worker
        await store.say("hi", sender="+15550000002")
        assert await asyncio.wait_for(asked.get(), 30) == "hi"
        private.kill()
        await eventually(lambda: store.db.turns.column("id", state="poison"), "a turn that is set aside")
        assert worker.is_running()
        await eventually(
            lambda: psutil.Process(supervisor.pid).children() == [worker], "the end of what has no more such turns"
        )
        supervisor.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(supervisor.wait(), 30) == 0, log.read_text()
        assert {*await store.db.outbound.column("text")} == {SET_ASIDE, "to hi"}
        found = (
            "select array[t.attempts, t.solo_crashes] from turns t join inbound i on i.turn_id = t.id order by i.text"
        )
        assert await store.column(found) == [[4, 3], [1, 0]]
