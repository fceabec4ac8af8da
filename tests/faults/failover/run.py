"""T19: the primary of a cluster of three is killed, cut off, and parted from the others, while people write."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import aiohttp
import yaml  # type: ignore[import-untyped]

from tests.faults.failover.cluster import EXAMPLE, Cluster, Node, running_cluster
from tests.faults.harness import LOGIN, Harness, make_people, open_harness
from tests.faults.results import Result, arrive, conclude, timed
from tests.forker import Forker

BACK_WITHIN = 45.0
"""Seconds in which the primary must be replaced and `web` must take messages again: twice a `ttl`, and a little."""
_SETTLED_WITHIN = 300.0
"""Seconds for the old primary to follow the new one, on a busy machine."""
_WRITING = 60.0


@dataclass(frozen=True, slots=True)
class Blow:
    """What happens to the primary, and what ends it."""

    name: str
    strike: Callable[[Node, Sequence[Node]], None]
    end: Callable[[Node, Sequence[Node]], None]


BLOWS = (
    Blow("killed", lambda node, _: node.kill(), lambda node, _: node.start_patroni()),
    Blow("cut off", lambda node, _: node.host.cut(), lambda node, _: node.host.mend()),
    Blow(
        "parted from the others",
        lambda node, others: node.host.part_from([other.host for other in others]),
        lambda node, others: node.host.meet([other.host for other in others]),
    ),
)
"""Parted from the others, it still hears `web` and the workers, and may not promise them anything."""


@dataclass(slots=True)
class Probe:
    """Ask `web` for `/readyz` again and again, as a balancer does."""

    url: str
    samples: list[tuple[float, int]] = field(default_factory=list)

    async def run(self) -> None:
        """Ask until cancelled."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
            while True:
                status = 0
                with suppress(aiohttp.ClientError, TimeoutError):
                    async with session.get(f"{self.url}/readyz") as answer:
                        status = answer.status
                self.samples.append((time.monotonic(), status))
                await asyncio.sleep(0.1)

    def away(self, begin: float, end: float) -> float:
        """Return the seconds between these moments in which it did not answer 200."""
        moments = [sample for sample in self.samples if begin <= sample[0] <= end]
        return sum(
            later - earlier
            for (earlier, _), (later, status) in pairwise(moments)
            if status != 200  # an answer tells of the time since the last one
        )


async def failover(folder: Path, forker: Forker, *, seed: int = 0, rounds: int = 2, messages: int = 1002) -> Result:
    """Run it on a cluster of its own; raises `ConfigError` where this machine cannot have one."""
    async with (
        running_cluster() as cluster,
        open_harness(
            folder,
            forker,
            make_people(50),
            seed=seed,
            database_url=cluster.url(),
            settings={"DATABASE_URL": cluster.url(LOGIN, LOGIN)},
        ) as harness,
    ):
        return await _run(harness, cluster, rounds, messages)


async def _run(harness: Harness, cluster: Cluster, rounds: int, messages: int) -> Result:
    result = Result(
        "T19",
        "the primary of three under Patroni killed, cut off, parted from the others, each time brought back",
        "lost 0, doubled 0, out of order 0",
    )
    blows = BLOWS * rounds
    probes = [Probe(web.url) for web in harness.webs]
    probing = [asyncio.create_task(probe.run()) for probe in probes]
    sayings = []
    try:
        async with timed(result):
            for blow in blows:
                sayings += (fresh := harness.say(messages // len(blows), seconds=_WRITING, copies=3))
                writing = asyncio.create_task(harness.written(harness.people_write(fresh)))
                await asyncio.sleep(_WRITING / 6)
                await _strike(harness, cluster, blow, probes, result)
                await writing
            await arrive(harness, sayings, result)
            evidence = await conclude(harness, sayings, result)
    finally:
        for task in probing:
            task.cancel()
        await asyncio.gather(*probing, return_exceptions=True)
    broken = {finding.name: finding.broken for finding in result.findings}
    result.numbers |= {
        "doubled": str(broken["I3"]),
        "out of order": str(broken["I4"]),
        "deliveries that got a 503": str(sum(arrival.status == 503 for arrival in evidence.arrivals)),
        "Patroni": _timings(),
    }
    return result


async def _strike(harness: Harness, cluster: Cluster, blow: Blow, probes: Sequence[Probe], result: Result) -> None:
    """Strike the primary once, wait for another, bring the old one back and wait until it follows."""
    old = await cluster.primary()
    others = [node for node in cluster.nodes if node is not old]
    began = time.monotonic()
    blow.strike(old, others)
    harness.strike(f"primary {blow.name}", str(old.number))
    await cluster.until_primary(old)
    replaced = time.monotonic() - began
    async with asyncio.TaskGroup() as group:
        for web in harness.webs:
            group.create_task(harness.until_ready(web, within=120))
    back = time.monotonic()
    blow.end(old, others)
    await cluster.until_whole(_SETTLED_WITHIN)
    whole = time.monotonic()
    away = max(probe.away(began, whole) for probe in probes)
    number = sum(name.startswith(f"primary {blow.name}") for name in result.numbers) + 1
    result.numbers[f"primary {blow.name}, {number}"] = (
        f"{away:.1f} s of 503; another primary after {replaced:.1f} s; the old one follows {whole - back:.1f} s after"
        " its return"
    )
    result.require(back - began <= BACK_WITHIN, f"{blow.name}: {back - began:.1f} s until `web` was ready again")


def _timings() -> str:
    """Return the settings of the example that decide how long it takes."""
    known = yaml.safe_load(EXAMPLE.read_text())["bootstrap"]["dcs"]
    return ", ".join(f"{name} {known[name]}" for name in ("ttl", "loop_wait", "retry_timeout", "synchronous_mode"))
