"""T12: everything at random, for as long as is asked."""

import asyncio
import time

from tests.faults.harness import Harness
from tests.faults.phone_driver import Saying
from tests.faults.proxy import Trouble
from tests.faults.results import Result, conclude, deliver, timed
from tests.faults.strikes import (
    Strike,
    crash_postgres,
    crash_redis,
    flush_redis,
    kill_backend,
    kill_one_that_worked,
    redis_away,
    restart_postgres,
    roll,
    trouble,
)

_PER_MINUTE = 240
_TROUBLES = (Trouble.CUT, Trouble.HALF_CLOSE, Trouble.BLACK_HOLE, Trouble.DELAY, Trouble.TRICKLE)


async def soak(harness: Harness, *, minutes: float) -> Result:
    """T12: people write in rounds of a minute, while strikes of every kind come at random."""
    result = Result("T12", "all of the above at random", "all invariants")
    kinds: list[Strike] = [
        restart_postgres,
        crash_postgres,
        kill_backend,
        crash_redis,
        flush_redis,
        redis_away(3),
        roll,
    ]
    kinds += [trouble(name, kind, 1.0) for name in harness.wires for kind in _TROUBLES]
    everything: list[Saying] = []
    struck = 0
    ends = time.monotonic() + minutes * 60
    async with timed(result):
        while time.monotonic() < ends:
            round_ends = min(ends, time.monotonic() + 60)
            sayings = harness.say(_PER_MINUTE, seconds=max(1.0, round_ends - time.monotonic()), copies=3)
            everything += sayings
            writing = asyncio.create_task(deliver(harness, sayings, result))
            while time.monotonic() < round_ends:
                await asyncio.sleep(0.5 + harness.chance.random() * 2)
                struck += 1
                if harness.chance.random() < 0.5:
                    await kill_one_that_worked(harness)
                else:
                    await harness.chance.choice(kinds)(harness)
            await writing
        await conclude(harness, everything, result)
    result.numbers |= {"texts": str(len(everything)), "strikes": str(struck), "minutes": f"{minutes:g}"}
    return result
