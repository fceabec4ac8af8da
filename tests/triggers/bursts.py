"""A burst of events while a consumer is killed and replaced: what became of each."""

import asyncio
import signal
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import asyncpg

from abilities.events.bus import EventBus
from abilities.events.types import Event
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.kinds.event import EventTrigger
from core.clock import Clock, set_clock
from core.db.database import Database
from core.ids import make_id
from core.queue.wakeups import NoWakeups
from tests.eventually import eventually
from tests.triggers.harness import forker

EVENTS = 200
APART = 0.004
_PERSON = (
    "insert into tenants (tenant_id, timezone) values ('ann', 'UTC')",
    "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
    " values ('ann', 'i', 'none', 'a', 'ann', 'open')",
    "insert into conversations (tenant_id, id, identity_id, channel, account, peer, last_inbound_at)"
    " values ('ann', 'c', 'i', 'none', 'a', 'ann', now())",
    "create table begun (event_id text not null, pid int not null)",
    "grant insert on begun to onevalet_app",
)


@dataclass(frozen=True, slots=True)
class Burst:
    """The outcome of the events. `again`: those that a dead consumer had started and another started again."""

    done: int
    runs: int
    completed: int
    told: int
    again: int
    consumers: int

    @property
    def well(self) -> bool:
        """Return whether each event was handled, and made one run that was told once."""
        return (self.done, self.runs, self.completed, self.told) == (EVENTS,) * 4

    def line(self) -> str:
        """Say it."""
        return (
            f"events {EVENTS}  handled {self.done}  runs {self.runs}  completed {self.completed}  told {self.told}"
            f"  begun again after the kill {self.again}  consumers {self.consumers}"
        )


async def run_burst(folder: Path, database_url: str, redis_url: str) -> Burst:
    """Publish them while two workers consume, of which one is killed and replaced midway."""
    clock_path = folder / "burst.json"
    set_clock(clock_path, rate=1)
    options = {"database": database_url, "redis": redis_url, "clock": str(clock_path), "lease": 2, "handles": True}
    admin, database = await asyncpg.connect(database_url), Database(database_url)
    bus = EventBus(redis_url, database)
    try:
        for statement in _PERSON:
            await admin.execute(statement)
        engine = TriggerEngine(database, make_id, Clock(clock_path), NoWakeups())
        trigger = EventTrigger("door", "opened")
        await engine.create_task(tenant_id="ann", trigger=trigger, action={"instruction": "Say who"})
        async with forker(options | {"log": str(folder / "burst.log")}) as order:
            pids = [await order({"start": f"w{n}"}) for n in (1, 2)]
            follows = "select count(*) from event_groups where name = 'tasks'"
            await eventually(lambda: admin.fetchval(follows), "who follows events")
            for number in range(EVENTS):
                assert await bus.publish(Event("door", "opened", {"n": number}, f"{number}", "ann"))
                await asyncio.sleep(APART)
                if number == EVENTS // 2:
                    await order({"end": pids.pop(0), "signal": signal.SIGKILL})
                    pids.append(await order({"start": "w3"}))
            await _until_told(admin, folder)
            await asyncio.sleep(timedelta(seconds=3).total_seconds())  # one more sweep finds nothing to do again
            for pid in pids:
                await order({"end": pid, "signal": signal.SIGTERM})
        return await _seen(admin)
    finally:
        await bus.close()
        await database.close()
        await admin.close()


async def _until_told(admin: "asyncpg.Connection[asyncpg.Record]", folder: Path) -> None:
    query = "select count(*) from run_notices where state = 'handed_over'"

    async def all_told() -> bool:
        told = await admin.fetchval(query) >= EVENTS
        assert told, f"{await _seen(admin)}\n{(folder / 'burst.log').read_text()[-3000:]}"
        return True

    await eventually(all_told)


async def _seen(admin: "asyncpg.Connection[asyncpg.Record]") -> Burst:
    begun = Counter(row["event_id"] for row in await admin.fetch("select event_id from begun"))
    return Burst(
        done=await admin.fetchval("select count(*) from event_work where group_name = 'tasks' and state = 'done'"),
        runs=await admin.fetchval("select count(*) from task_runs"),
        completed=await admin.fetchval("select count(*) from task_runs where state = 'COMPLETED'"),
        told=await admin.fetchval("select count(*) from outbound where kind = 'notification'"),
        again=sum(count > 1 for count in begun.values()),
        consumers=await admin.fetchval("select count(distinct pid) from begun"),
    )
