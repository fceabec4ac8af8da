"""T3, T4: Postgres and Redis that go away, crash, forget, or are behind a bad wire."""

import asyncio
from collections.abc import Sequence

from tests.faults.house import House
from tests.faults.proxy import Trouble
from tests.faults.results import Result, conclude, deliver, recoveries, show_recoveries, timed
from tests.faults.strikes import (
    Strike,
    crash_postgres,
    crash_redis,
    flush_redis,
    kill_backend,
    redis_away,
    restart_postgres,
    trouble,
)

BACK_WITHIN = 5.0
_POSTGRES = frozenset({"postgres fast", "postgres immediate", "postgres backend"})
_REDIS = frozenset({"redis kill", "redis flushall", "redis away"})


async def postgres(house: House, *, strikes: int, messages: int, every: float) -> Result:
    """T3: restarts (fast, immediate, one backend killed) and a troubled wire, at random."""
    result = Result("T3", "Postgres restarted, crashed, one backend killed, its wire troubled", "lost 0, back in 5 s")
    wire = [trouble("postgres", kind, 1.5) for kind in (Trouble.CUT, Trouble.HALF_CLOSE, Trouble.BLACK_HOLE)]
    servers: list[Strike] = [restart_postgres, crash_postgres, kill_backend]
    await _under(house, result, [*servers, *wire], strikes, messages, every, _POSTGRES)
    return result


async def redis(house: House, *, strikes: int, messages: int, every: float, away: float) -> Result:
    """T4: SIGKILL and restart, FULL forgetting, absence, and a troubled wire."""
    result = Result("T4", "Redis killed, flushed, away, its wire troubled", "lost 0, back in 5 s")
    wire = [trouble("redis", kind, 1.5) for kind in (Trouble.CUT, Trouble.BLACK_HOLE, Trouble.DELAY)]
    servers: list[Strike] = [crash_redis, flush_redis, redis_away(away)]
    await _under(house, result, [*servers, *wire], strikes, messages, every, _REDIS)
    return result


async def _under(
    house: House,
    result: Result,
    kinds: Sequence[Strike],
    strikes: int,
    messages: int,
    every: float,
    counted: frozenset[str],
) -> None:
    """Strike in turn while people write; then check, and see how soon answers came again."""
    sayings = house.say(messages, seconds=strikes * every)
    async with timed(result):
        writing = asyncio.create_task(deliver(house, sayings, result))
        for number in range(strikes):
            await asyncio.sleep(every * (0.5 + house.chance.random()))
            await kinds[number % len(kinds)](house)
        await writing
        evidence = await conclude(house, sayings, result)
    found = recoveries(house, evidence, counted)
    result.numbers |= {"strikes": str(strikes), "work again after its return": show_recoveries(found)}
    result.require(
        max(found, default=0.0) <= BACK_WITHIN, f"work began again {max(found, default=0.0):.1f} s after a return"
    )
