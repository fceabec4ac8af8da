"""`python -m tests.faults --full` runs everything and writes docs/reliability.md; `T1 T3 …` runs these alone.

Exits 1 when a bar was missed, or when a part of a result that is written could not be tested here. `--short` takes the
sizes that the suite runs; `--soak MINUTES` adds T12. Named tests are written with `--write`, or `--full`: only their
own part of the page changes. `failover`, T19, makes hosts of its own, which needs root, etcd and a quarter of an hour:
it runs only when it is named. So does `partitions`, T20, which needs PL/Proxy.
"""

import argparse
import asyncio
import os
import random
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import AsyncIterator
from pathlib import Path

from core.errors import ConfigError
from tests.faults.catalogue import BY_TEST, CATALOGUE, SHORT_HOUSE, Test, soak_of
from tests.faults.checker import show
from tests.faults.failover.run import failover
from tests.faults.harness import make_people, open_harness
from tests.faults.partitions.run import partitions
from tests.faults.report import PAGE, Run
from tests.faults.results import Result
from tests.forker import Forker

FAILOVER = "failover"
PARTITIONS = "partitions"
ON_ITS_OWN = (FAILOVER, PARTITIONS)
"""Runs with servers of their own, by name."""


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("tests", nargs="*", metavar="T1", help=f"of {', '.join((*BY_TEST, *ON_ITS_OWN))}")
    parser.add_argument("--full", action="store_true", help="all of them, or the named ones, and write")
    parser.add_argument("--short", action="store_true", help="in the sizes of the suite")
    parser.add_argument("--write", action="store_true", help="write these to docs/reliability.md")
    parser.add_argument("--soak", type=float, default=0.0, metavar="MINUTES", help="T12 as well")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=None, metavar="FOLDER", help="keep journals and logs here")
    options = parser.parse_args()
    names = [name for name in options.tests if name not in ON_ITS_OWN]
    own = [name for name in ON_ITS_OWN if name in options.tests]
    if strange := [name for name in names if name not in BY_TEST]:
        parser.error(f"there is no {strange[0]}; there are {', '.join((*BY_TEST, *ON_ITS_OWN))}")
    tests = [BY_TEST[name] for name in names] or (list(CATALOGUE) if options.full and not own else [])
    tests += [soak_of(options.soak)] if options.soak else []
    if not tests and not own:
        parser.error("name tests, or give --full")
    random.seed(options.seed)
    if options.short and (options.write or options.full):
        parser.error("what is short is not written")
    # Without the folder to keep things in, which is of this machine.
    kept = ("--keep", str(options.keep), f"--keep={options.keep}")
    arguments = [argument for argument in sys.argv[1:] if argument not in kept]
    written = Run(f"python -m tests.faults {shlex.join(arguments)}", options.seed)
    with tempfile.TemporaryDirectory(prefix="onevalet-faults-") as folder, Forker() as forker:
        run = _run_all(tests, options.keep or Path(folder), forker, options.seed, options.short, own)
        try:
            well = asyncio.run(_report(run, written if options.write or options.full else None))
        except ConfigError as error:
            sys.exit(str(error))
    sys.exit(0 if well else 1)


async def _report(run: AsyncIterator[Result], written: Run | None) -> bool:
    """Print each result as it comes, and write it, so that a run that is broken off leaves what it had."""
    well = True
    results: list[Result] = []
    async for result in run:
        results.append(result)
        well = well and (result.outcome == "met" or (result.well and written is None))
        _print(result)
        if written is not None:
            written.write(results)
            sys.stdout.write(f"written: {PAGE}\n\n")
    return well


async def _run_all(
    tests: list[Test], folder: Path, forker: Forker, seed: int, short: bool, own: list[str]
) -> AsyncIterator[Result]:
    for test in tests:
        yield await _run_one(test, folder / test.name, forker, seed, short)
    if FAILOVER in own:
        yield await failover(folder / FAILOVER, forker, seed=seed, rounds=1 if short else 2)
    if PARTITIONS in own:
        if short:
            yield await partitions(folder / PARTITIONS, forker, seed=seed, rounds=1, messages=40, seconds=8.0, bar=None)
        else:
            yield await partitions(folder / PARTITIONS, forker, seed=seed)


async def _run_one(test: Test, folder: Path, forker: Forker, seed: int, short: bool) -> Result:
    began = time.monotonic()
    run = test.short if short and test.short else test.full
    size = SHORT_HOUSE if short else test
    try:
        async with open_harness(
            folder,
            forker,
            make_people(size.people),
            seed=seed,
            webs=size.webs,
            workers=size.workers,
            kept=test.kept,
            pace=size.pace,
            settings=size.settings,
            small=size.small and os.geteuid() == 0,
        ) as harness:
            return await run(harness)
    except Exception as error:  # the outermost loop: a test that breaks is a miss, and the others still run
        result = Result(test.name, "it broke", "it runs", seconds=time.monotonic() - began)
        where = [frame for frame in traceback.extract_tb(error.__traceback__) if "tests/faults" in frame.filename]
        at = f"{where[-1].name}, line {where[-1].lineno}" if where else "nowhere known"
        result.missed.append(f"{type(error).__name__} in {at}: {str(error)[:500]}")
        return result


def _print(result: Result) -> None:
    outcome = "met" if result.outcome == "met" else result.outcome.upper()
    lines = [f"{result.name}  {outcome}  {result.seconds:.0f} s  {result.fault}"]
    lines += [f"    {name}: {value}" for name, value in result.numbers.items()]
    lines += [f"    missed: {words}" for words in result.missed]
    lines += [f"    untested: {words}" for words in result.untested]
    sys.stdout.write("\n".join(lines) + "\n" + show(result.findings) + "\n\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
