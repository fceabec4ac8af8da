"""Measure the figures of `docs/performance.md`: all benchmarks, or the named ones.

    uv run -m workbench.benchmarks [NAME...] [--peers] [--rounds 5] [--small] [--write]

Each is measured with its floor in the same run, in turns; with `--peers` the peers too, in environments of their own,
which are created at the first run in `~/.cache/onevalet-peers` (`ONEVALET_PEERS` names another folder). `--write`
stores the results in `workbench/benchmarks/results.json`, draws the plots and writes the page. A full run takes some
ten minutes on a quiet machine; `--small` proves only that it runs.
"""

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Mapping
from typing import Any

import structlog

from workbench.benchmarks.peers import environments
from workbench.benchmarks.report import page, plots, results
from workbench.benchmarks.suite import durable, files, model_calls, start, tasks, turn, way_in, whole_way
from workbench.benchmarks.suite.metrics import FLOOR, OURS, Benchmark, Options, Samples

BENCHMARKS: dict[str, Benchmark] = {
    module.BENCHMARK.name: module.BENCHMARK
    for module in (turn, durable, way_in, whole_way, files, tasks, model_calls, start)
}


def main() -> None:
    """Measure, print, and store the results if requested."""
    parser = argparse.ArgumentParser(
        prog="python -m workbench.benchmarks", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("names", nargs="*", choices=[[], *BENCHMARKS], help="all where none is named")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    options = Options(chosen.rounds, chosen.small, environments.make() if chosen.peers else {})
    for name in chosen.names or BENCHMARKS:
        benchmark, before = BENCHMARKS[name], os.getloadavg()[0]
        samples = asyncio.run(_measure(benchmark, options))
        fresh = results.to_json(benchmark, samples, (before, os.getloadavg()[0]))
        _show(benchmark, fresh)
        if chosen.write:
            everything = results.save({name: fresh})
            page.write(everything, list(BENCHMARKS.values()))
            plots.draw(everything)


async def _measure(benchmark: Benchmark, options: Options) -> Samples:
    return await benchmark.run(options)


def _show(benchmark: Benchmark, fresh: Mapping[str, Any]) -> None:
    load, metrics = fresh["load"], fresh["metrics"]
    sys.stdout.write(f"\n{benchmark.title}; load {load}\n")
    for metric in benchmark.metrics:
        sys.stdout.write(f"  {metric.title}, {metric.unit}; {metric.target or 'no goal'}\n")
        figures = metrics[metric.name]
        for name in sorted(figures, key=lambda one: (one != FLOOR, one == OURS)):
            spread = figures[name]
            range_ = f"({spread['least']:,g} to {spread['most']:,g})"
            sys.stdout.write(f"    {name:<20} {spread['median']:>10,g}  {range_}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
