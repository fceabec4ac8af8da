"""T18: the clock of the only worker jumps ten years ahead for some seconds, and is right again."""

import asyncio
from typing import Any

from tests.eventually import eventually
from tests.faults.clocks import LIBRARY, start_stepped, stepped_worker
from tests.faults.database import execute, read_rows
from tests.faults.harness import Harness
from tests.faults.results import Result, conclude, deliver, settle, timed
from tests.forker import plain_environment

TEN_YEARS = "+315360000"
RIGHT = "+0"
FIRED_WITHIN = 90.0
_TASKS = """
insert into tasks (tenant_id, id, number, title, kind, trigger, executor, action, anchor, due_at, next_at, created_at)
select t.tenant_id, 'task_' || k.name || t.n, 1 + k.number, k.name, 'schedule', k.trigger, 'orchestrator',
       '{"instruction": "go"}', now(), k.due, k.due, now()
from (select tenant_id, row_number() over (order by tenant_id) as n from tenants) t,
     (values (0, 'pills', '{"cron": "0 9 * * *"}'::jsonb, date_trunc('day', now()) + '1 day 9 hours'),
             (1, 'wedding', jsonb_build_object('at', now() + '200 days'), now() + '200 days'),
             (2, 'soon', jsonb_build_object('at', now() + '4 seconds'), now() + '4 seconds')
     ) k (number, name, trigger, due)
"""
_PLANNED = (
    "select id, state, due_at, next_at from tasks where id like 'task_pills%' or id like 'task_wedding%' order by id"
)
_RUNS = "select count(*) from task_runs where task_id like 'task_soon%' and state = 'COMPLETED'"
_EARLY = "select count(*) from task_runs where task_id like 'task_pills%' or task_id like 'task_wedding%'"


async def glitches(harness: Harness, *, messages: int, seconds: float) -> Result:
    """T18: people write meanwhile; nothing that is far off fires, and what is due fires once the clock is right."""
    result = Result(
        "T18", "the only worker's clock ten years ahead for a while", "no schedule lost, said, back by itself"
    )
    worker = stepped_worker(harness)
    if worker is None:
        result.untested.append(f"the clock: faketime is not installed in {LIBRARY}")
        return result
    clock = harness.folder / "machine-clock"
    clock.write_text(RIGHT)
    await asyncio.gather(*(worker.end() for worker in harness.workers))
    async with timed(result):
        await start_stepped(worker)
        harness.workers.append(worker)
        first = harness.say(messages, seconds=seconds / 3, acting=0.0)
        await deliver(harness, first, result)
        await execute(harness, _TASKS)
        planned = await read_rows(harness, _PLANNED)
        clock.write_text(TEN_YEARS)
        writing = harness.say(messages, seconds=seconds, acting=0.0)
        delivering = asyncio.create_task(deliver(harness, writing, result))
        await asyncio.sleep(seconds)
        doctor = await _doctor(harness)
        clock.write_text(RIGHT)
        harness.strike("clock right again")
        await delivering
        await _judge(harness, result, planned)
        result.numbers["doctor meanwhile"] = next((line for line in doctor if "clock" in line.lower()), "nothing")
        result.require(
            "clock" in result.numbers["doctor meanwhile"].lower(), "doctor did not say that a clock is wrong"
        )
        await settle(harness, result)
        await conclude(harness, [*first, *writing], result)
    await worker.end()
    harness.workers.remove(worker)
    for remaining in harness.workers:
        remaining.start()
    return result


async def _judge(harness: Harness, result: Result, planned: list[Any]) -> None:
    due = len(planned) // 2

    async def runs() -> int:
        fired: int = (await read_rows(harness, _RUNS))[0][0]
        assert fired >= due
        return fired

    fired = await eventually(runs, within=FIRED_WITHIN)
    after = await read_rows(harness, _PLANNED)
    changed = [old["id"] for old, new in zip(planned, after, strict=True) if tuple(old) != tuple(new)]
    early = (await read_rows(harness, _EARLY))[0][0]
    result.numbers |= {
        "schedules far off": str(len(planned)),
        "moved or ended": str(len(changed)),
        "run too early": str(early),
        "due while it was wrong, run once it was right": f"{fired} of {due}",
    }
    result.require(not changed, f"{len(changed)} schedules were changed: {changed[:3]}")
    result.require(not early, f"{early} runs came ten years early")


async def _doctor(harness: Harness) -> list[str]:
    log = harness.folder / "doctor.log"
    process = harness.forker.fork(["doctor"], harness.environment | plain_environment(), log)
    await asyncio.wait_for(process.wait(), 60)
    return log.read_text(errors="replace").splitlines()
