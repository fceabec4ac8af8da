"""A worker whose event loop stands still is replaced, and what made it stand still is set aside."""

import asyncio
import os
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from core.replies import TAKES_LONGER
from core.turns.failures import SET_ASIDE
from onevalet.supervision.heartbeat import BLOCKED_AFTER, HUNG_AFTER
from tests.core.harness import Store, opened
from tests.eventually import eventually
from tests.examples import sized
from tests.forker import Forked, Forker
from tests.onevalet.supervision.test_supervisor import worker_environment
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hanging workers")]

IMPATIENT = "tests.onevalet.impatient"
IMPATIENCE = 7
"""Seconds, in place of half a minute."""
TOOLS = ("spin", "doze", "match")
_TOLD = "select text from outbound"


def hanging_model(call: ModelCall) -> Reply:
    """Call the tool that a text names, and answer any other."""
    said = call.last_user.strip()
    return calls((said, {})) if said in TOOLS else text(f"to {said}")


def hang_environment(database_url: str, redis_url: str, model_url: str, **changed: str) -> dict[str, str]:
    """Return what a worker needs that has the tools which hang, and little patience."""
    impatience = {"TEST_HUNG_AFTER": str(IMPATIENCE), "ONEVALET_PLUGINS": "tests.plugins.hangs"}
    return worker_environment(database_url, redis_url, model_url) | impatience | changed


async def until_logged(log: Path, event: str) -> None:
    """Wait until an event is in the log of a process or of those that it forked."""

    def logged() -> bool:
        assert count(log, event) > 0, end_of(log)
        return True

    await eventually(logged, event)


async def until_told(store: Store, words: str, log: Path) -> None:
    """Wait until somebody is told so; else the test fails with the log's end."""

    async def told() -> bool:
        assert words in await store.column(_TOLD), end_of(log)
        return True

    await eventually(told, words)


def end_of(log: Path) -> str:
    """Return the last lines of a log."""
    return log.read_text()[-3000:]


def count(log: Path, event: str) -> int:
    """Count an event in the log of a process and of those that it forked."""
    return log.read_text().count(event) if log.exists() else 0


async def test_a_worker_hung_for_30_s_is_replaced_and_others_are_answered(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    log, hung_after = tmp_path / "log", sized(IMPATIENCE, HUNG_AFTER)
    async with ScriptedModel(hanging_model) as model, opened(database_url) as store:
        environment = hang_environment(database_url, redis_url, model.url, TEST_HUNG_AFTER=str(hung_after))
        supervisor = forker.fork(["worker"], environment, log, module=IMPATIENT)
        await store.say("doze")
        await until_logged(log, "loop_blocked")
        began = time.monotonic() - BLOCKED_AFTER
        [worker] = psutil.Process(supervisor.pid).children()
        await store.say("hi", sender="+15550000002")
        await until_told(store, "to hi", log)
        assert HUNG_AFTER == 30
        assert hung_after - 2 < time.monotonic() - began < hung_after + 15, log.read_text()
        assert not worker.is_running()
        # The one who was known to hang has crashed; the other one has not.
        crashed = "select array[t.solo_crashes, t.quarantined::int] from turns t"
        assert await store.column(f"{crashed} join inbound i on i.turn_id = t.id order by i.text") == [[1, 1], [0, 0]]
        await kill_all(supervisor)


@pytest.mark.parametrize("tool", TOOLS)
async def test_promise_6_a_text_that_hangs_workers_is_set_aside_and_others_run(
    tool: str, tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    log = tmp_path / "log"
    async with ScriptedModel(hanging_model) as model, opened(database_url) as store:
        environment = hang_environment(database_url, redis_url, model.url)
        supervisor = forker.fork(["worker"], environment, log, module=IMPATIENT)
        await store.say(tool)
        await until_logged(log, "worker_hangs")
        await store.say("first", sender="+15550000002")
        await until_told(store, "to first", log)
        assert not await store.db.turns.column("id", state="poison")
        await until_told(store, SET_ASIDE, log)
        # On a busy machine it may have been said meanwhile that it takes longer.
        assert {*await store.db.outbound.column("text")} - {TAKES_LONGER} == {SET_ASIDE, "to first"}
        assert count(log, "worker_hangs") == 3
        found = (
            "select array[t.solo_crashes, t.attempts] from turns t join inbound i on i.turn_id = t.id order by i.text"
        )
        assert sorted(str(one) for one in await store.column(found)) == ["[0, 1]", "[3, 4]"]
        supervisor.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(supervisor.wait(), 40) == 0, log.read_text()


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_worker_that_hangs_dies_after_its_supervisor_was_killed(
    tool: str, tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    log = tmp_path / "log"
    async with ScriptedModel(hanging_model) as model, opened(database_url) as store:
        environment = hang_environment(database_url, redis_url, model.url, TEST_HUNG_AFTER="60", TEST_CPU_AFTER="4")
        supervisor = forker.fork(["worker"], environment, log, module=IMPATIENT)
        await store.say(tool)
        await until_logged(log, "tool_hangs")
        [worker] = psutil.Process(supervisor.pid).children()
        os.kill(supervisor.pid, signal.SIGKILL)
        await eventually(lambda: not alive(worker), f"the worker's end\n{end_of(log)}", within=90)


async def test_a_worker_that_hangs_does_not_keep_its_supervisor_from_ending(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    log = tmp_path / "log"
    async with ScriptedModel(hanging_model) as model, opened(database_url) as store:
        supervisor = forker.fork(
            ["worker"], hang_environment(database_url, redis_url, model.url), log, module=IMPATIENT
        )
        await store.say("doze")
        await until_logged(log, "tool_hangs")
        supervisor.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(supervisor.wait(), 30) == 0, log.read_text()


async def test_a_worker_stopped_with_its_supervisor_does_not_count_as_hanging(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    log = tmp_path / "log"
    async with ScriptedModel(hanging_model) as model, opened(database_url) as store:
        supervisor = forker.fork(
            ["worker"], hang_environment(database_url, redis_url, model.url), log, module=IMPATIENT
        )
        await store.say("hi")
        await until_told(store, "to hi", log)
        [worker] = psutil.Process(supervisor.pid).children()
        for pid in (supervisor.pid, worker.pid):
            os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(IMPATIENCE + 2)
        for pid in (supervisor.pid, worker.pid):
            os.kill(pid, signal.SIGCONT)
        await store.say("again", sender="+15550000002")
        await until_told(store, "to again", log)
        await asyncio.sleep(2)
        assert psutil.Process(supervisor.pid).children() == [worker]
        assert count(log, "worker_hangs") == 0
        supervisor.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(supervisor.wait(), 40) == 0, log.read_text()


async def test_without_a_supervisor_the_health_file_tells_and_it_ends_itself(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    log, health = tmp_path / "log", tmp_path / "health"
    async with ScriptedModel(hanging_model) as model, opened(database_url) as store:
        environment = hang_environment(
            database_url, redis_url, model.url, TEST_HUNG_AFTER="12", ONEVALET_HEALTH_FILE=str(health)
        )
        assert await checked(forker, environment, tmp_path) == 1
        await store.enqueue("later")
        await store.admin.execute("update outbound set created_at = now() - interval '10 minutes'")
        await store.admin.execute("update outbound set next_attempt_at = now() + interval '1 hour'")
        worker = forker.fork(["worker", "--no-spare"], environment, log, module=IMPATIENT)
        await eventually(health.exists, "the health file")
        assert await checked(forker, environment, tmp_path) == 0
        await eventually(lambda: "message to be sent is" in health.read_text(), "the message that is late")
        assert await checked(forker, environment, tmp_path) == 0, "a restart would not send it"
        assert "but not all is well: the oldest message to be sent is" in (tmp_path / "check").read_text()
        await store.say("doze")
        assert await asyncio.wait_for(worker.wait(), 60) == -signal.SIGKILL
        assert "doze" in log.read_text(), "the log says where the loop stood"
        await eventually(partial(_is_missed, forker, environment, tmp_path), "a file that is too old")


async def _is_missed(forker: Forker, environment: dict[str, str], folder: Path) -> bool:
    assert await checked(forker, environment, folder) == 1, (folder / "check").read_text()
    return True


async def checked(forker: Forker, environment: dict[str, str], folder: Path) -> int:
    """Return how `worker --check` ended."""
    check = forker.fork(["worker", "--check"], environment, folder / "check", module=IMPATIENT)
    return await asyncio.wait_for(check.wait(), 30)


def alive(process: psutil.Process) -> bool:
    """Return whether it runs; who has ended and was not waited for does not."""
    with suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


async def kill_all(supervisor: Forked) -> None:
    """End a supervisor and what it began, at once."""
    children = psutil.Process(supervisor.pid).children()
    for pid in (supervisor.pid, *(child.pid for child in children)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    await supervisor.wait()
