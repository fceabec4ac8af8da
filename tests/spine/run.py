"""One run of the whole system under load and faults, with its findings."""

import asyncio
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from redis.asyncio import Redis

from tests.eventually import eventually
from tests.forker import Forker
from tests.spine.checker import Findings, check, until_quiet
from tests.spine.driver import Driver
from tests.spine.system import System, running_system
from tests.spine.texts import Text, make_people, make_texts
from workbench.simulator.config import TwilioConfig

_TAKEN_WITHIN = 600.0
"""Seconds: a run may have as many texts as it likes."""
FAULTS = ("flushall", "postgres-away", "kill-worker", "kill-web", "redis-away")


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found, and how long it took."""

    findings: Findings
    pids: dict[str, int]
    delivered: int
    retried: int
    seconds: float
    quiet_seconds: float
    """From the last delivery until nothing waited any more."""


async def run_spine(
    folder: Path,
    forker: Forker,
    *,
    messages: int,
    people: int,
    rounds: Sequence[Sequence[str]] = ((),),
    channels: Sequence[str] = ("sms",),
    seed: int = 0,
    quiet_within: float = 120.0,
    webs: int = 2,
    workers: int = 2,
) -> list[Report]:
    """Deliver `messages` of `people`, 1 to 5 times each, in each round, with its faults struck one after another."""
    chance = random.Random(seed)
    everyone = make_people(people)
    async with running_system(folder, everyone, forker, webs=webs, workers=workers) as system:
        reports: list[Report] = []
        texts: list[Text] = []
        for faults in rounds:
            texts += (fresh := make_texts(everyone, messages, chance, channels, first=len(texts)))
            reports.append(await _run_round(system, fresh, texts, faults, chance, quiet_within))
        logs = system.logs()
    for word in ("Traceback", "work_failed", "turn_failed"):
        assert word not in logs, logs[max(0, logs.find(word) - 500) : logs.find(word) + 3000]
    return reports


async def _run_round(
    system: System, fresh: list[Text], texts: list[Text], faults: Sequence[str], chance: random.Random, within: float
) -> Report:
    """Deliver the fresh texts and check all there were so far."""
    driver = Driver(system, TwilioConfig(), chance)
    pids = {member.name: member.pid for member in (*system.webs, *system.workers)}
    started = time.monotonic()
    strikes = asyncio.create_task(_strike(system, driver, faults, len(fresh)))
    await driver.deliver(fresh)
    await strikes
    taken = time.monotonic()
    await until_quiet(system, within=within)
    ended = time.monotonic()
    findings = await check(system, texts)
    return Report(findings, pids, driver.delivered, driver.retried, ended - started, ended - taken)


async def _strike(system: System, driver: Driver, faults: Sequence[str], messages: int) -> None:
    for number, fault in enumerate(faults, start=1):
        share = number / (len(faults) + 1)
        await eventually(
            partial(_has_taken, driver, messages * share), f"{share:.0%} of the texts", within=_TAKEN_WITHIN
        )
        await _FAULTS[fault](system)


def _has_taken(driver: Driver, wanted: float) -> bool:
    return len(driver.taken) >= wanted


async def _flushall(system: System) -> None:
    async with Redis.from_url(system.valkey.url) as redis:
        await redis.flushall()


async def _postgres_away(system: System) -> None:
    await system.postgres.stop()
    await asyncio.sleep(5)
    await system.postgres.start()


async def _redis_away(system: System) -> None:
    await system.valkey.stop()
    await asyncio.sleep(5)
    await system.valkey.start()


async def _kill_worker(system: System) -> None:
    await system.workers[0].stop(signal.SIGKILL)


async def _kill_web(system: System) -> None:
    await system.webs[1].stop(signal.SIGKILL)
    system.webs[1].start()


_FAULTS = {
    "flushall": _flushall,
    "postgres-away": _postgres_away,
    "kill-worker": _kill_worker,
    "kill-web": _kill_web,
    "redis-away": _redis_away,
}


def show(report: Report) -> str:
    """Return the figures as lines."""
    findings = ", ".join(f"{name} {value}" for name, value in asdict(report.findings).items())
    processes = ", ".join(f"{name} {pid}" for name, pid in report.pids.items())
    return "\n".join(
        [
            f"processes: {processes}",
            f"deliveries with a 2xx: {report.delivered}, retries: {report.retried}",
            f"findings: {findings}",
            f"seconds: {report.seconds:.1f} in all, {report.quiet_seconds:.1f} after the last delivery",
        ]
    )
