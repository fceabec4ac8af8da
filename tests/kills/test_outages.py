"""Promises 5 and 6: a worker is killed while turns wait for their model, and another one finishes them."""

import re
import signal
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from abilities.tasks.engine import TriggerEngine
from abilities.tasks.kinds.schedule import ScheduleTrigger
from core import replies
from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from core.queue.wakeups import NoWakeups
from tests.eventually import eventually
from tests.forker import Forker
from tests.kills.harness import RELEASE, System, made_marks, open_system
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, error, hang, text
from workbench.simulator.config import Person

DOWN, SILENT = ("w00", "w02"), ("w01", "w03")
"""Whose model fails, so that the turn waits without a worker, and whose model does not answer."""
TURNS = {"w00": "a message", "w01": "a message", "w02": "a task's run", "w03": "a task's run"}
WAITING = "select count(*) from turns where model_down_since is not null and state = 'running'"
TOLD = "select count(*) from outbound where state = 'sent'"


@dataclass(slots=True)
class Outage:
    """A model that lets each turn act, and is away for what comes after it until it is well."""

    well: bool = False

    def __call__(self, call: ModelCall) -> Reply:
        turn = _turn(call)
        if not call.tool_results:
            return calls(("mark", {"turn": turn, "number": 0}))
        if self.well:
            return text(f"{turn} is done")
        return error(503) if turn in DOWN else hang(600)


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promises_5_and_6_a_worker_killed_while_its_turns_wait_for_a_model(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker
) -> None:
    people = [Person(f"w{n:02}", f"Person {n}", f"+1555040{n:04}", f"U0W{n:07}", 620_000_000 + n) for n in range(2)]
    outage = Outage()
    model = ScriptedModel(outage)
    async with open_system(tmp_path, database_url, redis_url, people, model, forker) as system:
        for person in people:
            await system.say(person, person.key)
        tasks = [await add_task(system, database_url, turn) for turn in ("w02", "w03")]
        victim = system.fork_worker("victim")
        await until_all_wait(system)
        victim.send_signal(signal.SIGKILL)
        await victim.wait()
        outage.well = True
        await system.admin.execute(RELEASE)
        await system.admin.execute("update lanes set not_before = null")
        await system.finish(5)
        states = await system.admin.fetch("select state from task_runs where task_id = any ($1)", tasks)
        assert [row["state"] for row in states] == ["COMPLETED", "COMPLETED"]
        said = {person.key: system.answers(person) for person in people}
    assert {turn: made_marks(tmp_path, turn) for turn in TURNS} == {turn: {0: 1} for turn in TURNS}
    assert {turn: first_asked(model, turn) for turn in TURNS} == dict.fromkeys(TURNS, 1), (
        "what was answered is not asked again"
    )
    assert [text for text in said["w01"] if "w01" in text] == ["w01 is done"]
    assert said["w00"].count(replies.TAKES_LONGER) == 1
    everything = " ".join((*said["w00"], *said["w01"]))
    assert {turn: everything.count(f"{turn} is done") for turn in TURNS} == dict.fromkeys(TURNS, 1)


async def add_task(system: System, database_url: str, turn: str) -> str:
    """Give the first person a task that runs once, now."""
    tenant = await system.admin.fetchval("select tenant_id from conversations order by created_at limit 1")
    database = Database(database_url)
    try:
        engine = TriggerEngine(database, make_id, Clock(), NoWakeups())
        trigger = ScheduleTrigger(at=Clock().now() + timedelta(seconds=1))
        task = await engine.create_task(tenant_id=tenant, trigger=trigger, action={"instruction": f"Mark {turn}"})
    finally:
        await database.close()
    return task.id


async def until_all_wait(system: System) -> None:
    """Wait until two turns have been put off and told of, and two are in the middle of a call."""

    async def all_wait() -> bool:
        assert await system.admin.fetchval(WAITING) == len(DOWN)
        assert await system.admin.fetchval(TOLD) == 1
        assert {_turn(call) for call in system.model.calls if call.tool_results} == set(TURNS)
        return True

    await eventually(all_wait)


def first_asked(model: ScriptedModel, turn: str) -> int:
    """Return how often the model was asked for the first step of a turn."""
    return sum(_turn(call) == turn and not call.tool_results for call in model.calls)


def _turn(call: ModelCall) -> str:
    return str(re.findall(r"w\d\d", " ".join(call.new_user_texts) or call.last_user)[-1])
