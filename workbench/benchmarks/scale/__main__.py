"""Measure the figures of docs/scale.md for one to six workers; `--write` writes them and the plots.

    nice -n 5 uv run -m workbench.benchmarks.scale [--people 100000] [--messages 200] [--rounds 3] [--minutes 2]
    [--write]

An installation of its own: Postgres with PgBouncer before it, Valkey, two `web` and each worker on a host of its own,
which root can have as network namespaces; the providers are simulated and a scripted model answers at once. Its
people, their history and memories are made by statements. Figures are medians of the rounds, of CPU and not of time,
because others may use the machine; the load is reported beside them.
"""

import argparse
import asyncio
import logging
import os
import resource
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from core.errors import ConfigError
from tests.forker import Forker
from tests.spine.texts import make_people
from workbench.benchmarks.scale import report
from workbench.benchmarks.scale.cost import PARTS
from workbench.benchmarks.scale.installation import (
    OF_WEB,
    OF_WORKER,
    SHIPPED,
    WEBS,
    Installation,
    Network,
    held,
    network,
    running,
)
from workbench.benchmarks.scale.limits import shares, small_hosts
from workbench.benchmarks.scale.load import Load, People
from workbench.benchmarks.scale.people import fill
from workbench.benchmarks.whole.way import LEAN
from workbench.simulator.config import TwilioConfig

FEW, WRITERS = 500, 5000
"""People of the small installation, and the number of the large installation's people who write."""
CLIENTS = 2000
"""Connections that PgBouncer holds, with those of the workers."""
WORKERS = (1, 2, 4, 6)
COMPARED = 2
"""Workers in each comparison: few people, no memory, no PgBouncer, many connections, a steady rate."""
SMALL = 2
"""Times as few messages and rounds on small hosts, which take ten times as long."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The options of the command line."""

    people: int
    messages: int
    rounds: int
    rate: float
    minutes: float
    steady_alone: bool = False


def main() -> None:
    """Measure, print, and store the results if requested."""
    parser = argparse.ArgumentParser(
        prog="python -m workbench.benchmarks.scale", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--messages", type=int, default=200, help="in each burst")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=float, help="messages a second of the steady run, instead of what people write")
    parser.add_argument("--minutes", type=float, default=2.0, help="of the steady run")
    parser.add_argument("--steady", action="store_true", help="the steady run alone, beside what was measured before")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rate = asked.rate or asked.people * report.A_DAY / 86_400
    chosen = Chosen(asked.people, asked.messages, asked.rounds, rate, asked.minutes, asked.steady)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    before = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory(prefix="onevalet-scale-") as folder,
        Forker() as forker,
        network(max(WORKERS)) as hosts,
    ):
        if chosen.steady_alone:
            results = asyncio.run(_measure_steady(Path(folder), forker, hosts, chosen))
        else:
            results = asyncio.run(_measure(Path(folder), forker, hosts, chosen))
            results |= report.stamp() | {"before": before}
            sys.stdout.write(report.page(results))
    if asked.write:
        report.write(results)


async def _measure(folder: Path, forker: Forker, hosts: Network | None, chosen: Chosen) -> report.Results:
    everyone = make_people(min(WRITERS, chosen.people))
    results: report.Results = {
        "people": chosen.people,
        "messages": chosen.messages,
        "rounds": chosen.rounds,
        "settings": "as shipped",
        "hosts": hosts is not None,
        "round_trip": hosts.round_trip if hosts else 0.0,
    }
    few = everyone[:FEW]
    async with running(folder / "few", few, forker, hosts, workers=COMPARED, clients=CLIENTS) as small:
        await fill(small.system.postgres.url, len(few), few, TwilioConfig().number)
        results["few"] = _told(await _bursts(People(small, few), chosen)) | {"people": len(few)}
        _progress("few people", results["few"])
    count = max(WORKERS)
    async with running(folder / "many", everyone, forker, hosts, workers=count, clients=CLIENTS) as large:
        results["bytes"] = await fill(large.system.postgres.url, chosen.people, everyone, TwilioConfig().number)
        people = People(large, everyone)
        results |= {"workers": {}, "limited": {}}
        for count in sorted(WORKERS, reverse=True):
            while len(large.system.workers) > count:
                await large.system.workers.pop().stop()
            results["workers"][str(count)] = told = _told(await _bursts(people, chosen))
            _progress(f"{count} workers", told)
            if hosts:
                await _limited(large, hosts, people, chosen, results)
            if count == COMPARED:
                await _compared(large, people, chosen, results)
    return results


async def _measure_steady(folder: Path, forker: Forker, hosts: Network | None, chosen: Chosen) -> report.Results:
    everyone = make_people(min(WRITERS, chosen.people))
    async with running(folder / "many", everyone, forker, hosts, workers=COMPARED, clients=CLIENTS) as large:
        await fill(large.system.postgres.url, chosen.people, everyone, TwilioConfig().number)
        people = People(large, everyone)
        await people.burst(chosen.messages)
        return {"steady": await _steadily(people, chosen)}


async def _steadily(people: People, chosen: Chosen) -> report.Results:
    steady = await people.steadily(chosen.rate, chosen.minutes * 60)
    told = _told([steady]) | {"wanted": chosen.rate, "minutes": chosen.minutes} | report.stamp()
    _progress("steadily", told)
    return told


async def _limited(
    installation: Installation, hosts: Network, people: People, chosen: Chosen, results: report.Results
) -> None:
    """Measure with little CPU for each host, if this machine can limit it."""
    count = len(installation.system.workers)
    try:
        with small_hosts(installation, hosts):
            few = range(max(chosen.rounds // SMALL, 1))
            loads = [await people.burst(chosen.messages // SMALL) for _ in few]
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return
    told = _told(loads) | {"rate": statistics.median(load.sustained for load in loads)}
    results["limited"][str(count)] = told | {"shares": shares(told["rate"], told["cost"], count)}
    _progress(f"{count} workers on small hosts", results["limited"][str(count)])


async def _compared(installation: Installation, people: People, chosen: Chosen, results: report.Results) -> None:
    """Measure a steady rate, many connections, the processes at Postgres itself, and then without memory."""
    results["steady"] = await _steadily(people, chosen)
    waiting = CLIENTS - COMPARED * OF_WORKER - WEBS * OF_WEB
    async with held(installation.pooler.url, waiting):
        results["held"] = _told(await _bursts(people, chosen)) | {"clients": CLIENTS}
    _progress(f"{CLIENTS} connections", results["held"])
    await installation.system.restart({"DATABASE_URL": installation.direct})
    results["direct"] = _told(await _bursts(people, chosen))
    _progress("at Postgres itself", results["direct"])
    await installation.system.restart(LEAN | {"DATABASE_URL": installation.pooler.url})
    results["lean"] = _told(await _bursts(people, chosen))
    _progress("without memory", results["lean"])
    await installation.system.restart(SHIPPED)


async def _bursts(people: People, chosen: Chosen) -> list[Load]:
    await people.burst(chosen.messages)  # connections, plans and imports are there afterwards
    return [await people.burst(chosen.messages) for _ in range(chosen.rounds)]


def _told(loads: Sequence[Load]) -> report.Results:
    return {
        "rate": statistics.median(load.rate for load in loads),
        "cost": {part: statistics.median(load.cost[part] for load in loads) for part in PARTS},
        "load": os.getloadavg()[0],
    }


def _progress(of: str, told: report.Results) -> None:
    sys.stderr.write(f"{of}: {told}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
