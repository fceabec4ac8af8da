"""T7: a gateway that was away for long, on a clock that ran faster meanwhile."""

import asyncio
import signal
from pathlib import Path

from core.clock import Clock, set_clock
from tests.eventually import eventually
from tests.faults.database import until_true
from tests.faults.harness import Harness
from tests.faults.phone_driver import Saying
from tests.faults.results import Result, conclude, settle, timed
from tests.patience import PATIENCE

HOUR = 3600.0
BACK_WITHIN = 240.0
"""Seconds; Telegram tries again every two minutes at the most."""
TELEGRAM_KEEPS = 24 * HOUR
"""How long Telegram offers a message again: what is older nobody can have."""


async def outages(harness: Harness, *, lengths: tuple[float, ...], messages: int, real_seconds: float) -> Result:
    """T7: all our processes are gone for so long (on a clock that runs faster meanwhile), while people write."""
    result = Result("T7", "the gateway away, on a scaled clock", "all within the providers' retention is recovered")
    everything: list[Saying] = []
    excused: set[str] = set()
    async with timed(result):
        await _first_sweep(harness)
        for length in lengths:
            sayings = harness.say(messages, seconds=real_seconds * 0.9)
            everything += sayings
            excused |= await _away(harness, sayings, length, real_seconds)
            missing = await harness.until_kept({saying.token for saying in sayings} - excused, BACK_WITHIN)
            result.numbers[f"away {_words(length)}: missing"] = str(len(missing))
            result.require(not missing, f"{len(missing)} texts of {_words(length)} were not recovered")
            await settle(harness, result)
        await conclude(harness, everything, result, excused=frozenset(excused))
    result.numbers |= {"texts": str(len(everything)), "older than their provider keeps": str(len(excused))}
    return result


async def _first_sweep(harness: Harness) -> None:
    """Wait until each channel has a moment to catch up from."""
    swept = "select count(*) >= 2 from channel_state where watermark is not null"
    await until_true(harness, swept, within=60)


async def _away(harness: Harness, sayings: list[Saying], length: float, real_seconds: float) -> set[str]:
    """Be away; return the tokens that Telegram has dropped by the time we are back."""
    await asyncio.gather(*(member.end(signal.SIGTERM) for member in harness.members))
    before = _ahead(harness.clock)
    rate = length / real_seconds
    set_clock(harness.clock, offset=before, rate=rate)
    phones = harness.people_write(sayings)
    await harness.written(phones)
    until = before + length
    await eventually(lambda: _ahead(harness.clock) >= until, "the end of the outage", within=real_seconds + PATIENCE)
    set_clock(harness.clock, offset=until)
    harness.strike(f"away {_words(length)}")
    for member in harness.members:
        member.start()
    await asyncio.gather(*(harness.until_ready(web) for web in harness.webs))
    # In the provider's time a text written `at` lay there for the rest of the outage.
    return {
        saying.token
        for saying in sayings
        if saying.channel == "telegram" and length - saying.at * rate > TELEGRAM_KEEPS * harness.pace * 0.98
    }


def _ahead(path: Path) -> float:
    """Return how far people's clock is ahead of the machine's, in seconds."""
    return (Clock(path).now() - Clock().now()).total_seconds()


def _words(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:g} s"
    return f"{seconds / 60:g} min" if seconds < HOUR else f"{seconds / HOUR:g} h"
