"""Measure what docs/scale.md tells of one machine, and with `--write` write its figures and plots.

    nice -n 5 uv run -m benchmarks.scale [--people 100000] [--messages 200] [--rounds 3] [--rate 4] [--write]

An installation of its own: Postgres, Valkey, two `web`, one to six workers, with the providers simulated and a scripted
model that answers at once. Its people and their history are made by statements. Figures are medians of the rounds, of
CPU and not of time, because others may be at work on the machine; the load is told beside them.
"""

import argparse
import asyncio
import logging
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import structlog

from benchmarks.scale import report
from benchmarks.scale.cost import PARTS
from benchmarks.scale.load import Load, People
from benchmarks.scale.people import fill
from simulator.config import TwilioConfig
from tests.forker import Forker
from tests.spine.system import Setup, System, running_system
from tests.spine.texts import make_people

KNOWN = 500
"""How many of the people write."""
MANY_A_DAY = {"ONEVALET_SMS_SEGMENTS_ALL_DAY": "100000000"}
"""The usual limit of a day's segments would end a run in its middle."""
WORKERS = (1, 2, 3, 4, 6)


def main() -> None:
    """Measure, print, and keep the results where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--messages", type=int, default=200, help="in each burst")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=4.0, help="messages a second of the run at a steady rate")
    parser.add_argument("--minutes", type=float, default=3.0, help="of the run at a steady rate")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="onevalet-test-scale-") as folder, Forker() as forker:
        results = asyncio.run(_measure(Path(folder), forker, chosen))
    results |= report.stamp() | {"before": before}
    sys.stdout.write(report.page(results))
    if chosen.write:
        report.write(results)


async def _measure(folder: Path, forker: Forker, chosen: argparse.Namespace) -> report.Results:
    everyone = make_people(KNOWN)
    results: report.Results = {"people": chosen.people, "messages": chosen.messages, "rounds": chosen.rounds}
    async with running_system(_made(folder / "few"), everyone, forker, workers=2) as system:
        await fill(system.postgres.url, KNOWN, everyone, TwilioConfig().number)
        results["few"] = _told(await _bursts(system, People(system, everyone), chosen))
        results["few"]["people"] = KNOWN
    # Six workers may hold 120 connections and Postgres lets in 100, unless told otherwise.
    many = running_system(
        _made(folder / "many"),
        everyone,
        forker,
        workers=max(WORKERS),
        setup=Setup(environment=MANY_A_DAY, connections=200),
    )
    async with many as system:
        results["bytes"] = await fill(system.postgres.url, chosen.people, everyone, TwilioConfig().number)
        people = People(system, everyone)
        results["workers"] = {}
        for count in sorted(WORKERS, reverse=True):
            while len(system.workers) > count:
                await system.workers.pop().stop()
            results["workers"][str(count)] = told = _told(await _bursts(system, people, chosen))
            _progress(f"{count} workers: {told}")
            if count == 2:
                steady = await people.steadily(chosen.rate, chosen.minutes * 60)
                results["steady"] = _told([steady]) | {"wanted": chosen.rate, "seconds": steady.seconds}
                _progress(f"steadily: {results['steady']}")
    return results


async def _bursts(system: System, people: People, chosen: argparse.Namespace) -> list[Load]:
    await people.burst(chosen.messages)  # connections, plans and imports are there afterwards
    return [await people.burst(chosen.messages) for _ in range(chosen.rounds)]


def _told(loads: Sequence[Load]) -> report.Results:
    return {
        "rate": statistics.median(load.rate for load in loads),
        "cost": {part: statistics.median(load.cost[part] for load in loads) for part in PARTS},
        "load": os.getloadavg()[0],
    }


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _progress(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    main()
