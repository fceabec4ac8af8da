"""T3, T4: Postgres and Redis that go away, crash, forget, or are behind a bad wire."""

import asyncio
from collections.abc import Sequence
from itertools import cycle, islice

from tests.faults.harness import Harness
from tests.faults.journals import append
from tests.faults.proxy import Trouble
from tests.faults.results import BEGINS, Result, arrive, conclude, recoveries, show_recoveries, timed
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
SOON = 0.25
"""The share of strikes that come sooner."""
TROUBLES = (Trouble.CUT, Trouble.DELAY, Trouble.HALF_CLOSE, Trouble.BLACK_HOLE, Trouble.TRICKLE)
WIRES = frozenset(f"{name} {kind.value}" for name in ("postgres", "redis") for kind in TROUBLES)
_POSTGRES = frozenset({"postgres fast", "postgres immediate", "postgres backend"})
_REDIS = frozenset({"redis kill", "redis flushall", "redis away"})


async def postgres(harness: Harness, *, strikes: int, messages: int, every: float) -> Result:
    """T3: restarts (fast, immediate, one backend killed) and a troubled wire, at random."""
    result = Result("T3", "Postgres restarted, crashed, one backend killed, its wire troubled", "lost 0, back in 5 s")
    wire = [trouble("postgres", kind, 1.5) for kind in TROUBLES]
    servers: list[Strike] = [restart_postgres, crash_postgres, kill_backend]
    kinds = [*islice(cycle(_turns(servers, wire)), strikes)]
    await _under(harness, result, kinds, messages, every, _POSTGRES)
    return result


async def redis(harness: Harness, *, strikes: int, messages: int, every: float, away: float) -> Result:
    """T4: SIGKILL and restart, FULL forgetting, absence, and a troubled wire."""
    result = Result("T4", "Redis killed, flushed, away, its wire troubled", "lost 0, back in 5 s")
    wire = [trouble("redis", kind, 1.5) for kind in TROUBLES]
    servers: list[Strike] = [crash_redis, flush_redis, redis_away(away)]
    # Once it is away for long, which polling alone must bridge.
    kinds = [redis_away(12 * away), *islice(cycle(_turns(servers, wire)), strikes - 1)]
    await _under(harness, result, kinds, messages, every, _REDIS)
    return result


def _turns(servers: Sequence[Strike], wire: Sequence[Strike]) -> list[Strike]:
    """Let every strike at the server be followed by a trouble of its wire, until each has met each."""
    number = len(servers) * len(wire)
    return [part for n in range(number) for part in (servers[n % len(servers)], wire[n % len(wire)])]


async def _under(
    harness: Harness,
    result: Result,
    kinds: Sequence[Strike],
    messages: int,
    every: float,
    counted: frozenset[str],
) -> None:
    """Strike in turn while people write; then check, and see how soon answers came again.

    A share of the strikes comes while the one before it is still being recovered from; the others leave it time.
    """
    sayings = harness.say(messages, seconds=len(kinds) * every)
    async with timed(result):
        writing = asyncio.create_task(harness.written(harness.people_write(sayings)))
        for strike in kinds:
            soon = harness.chance.random() < SOON
            await asyncio.sleep(every * harness.chance.random() if soon else every)
            append(harness.folder / "strikes.jsonl", what=BEGINS, target="", back=0.0)
            await strike(harness)
        await writing
        await arrive(harness, sayings, result)
        evidence = await conclude(harness, sayings, result)
    for name, strikes in (("work again after its return", counted), ("work again after its wire was troubled", WIRES)):
        recovered, interrupted = recoveries(harness, evidence, strikes, within=BACK_WITHIN)
        result.numbers[name] = show_recoveries(recovered) + (
            f", {interrupted} struck again before" if interrupted else ""
        )
        result.require(max(recovered, default=0.0) <= BACK_WITHIN, f"{name}: {max(recovered, default=0.0):.1f} s")
    result.numbers["strikes"] = str(len(kinds))
