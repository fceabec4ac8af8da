"""Measure the figures of `docs/performance.md`: all benchmarks, or the named ones.

    uv run -m workbench.benchmarks [NAME...] [--peers] [--earlier] [--rounds 5] [--small] [--write]
    uv run -m workbench.benchmarks --table [--rounds 3] [--write]

Each is measured with its floor in the same run, in turns; with `--peers` the peers too, in environments of their own,
and with `--earlier` an earlier commit of ours. They are created at the first run in `~/.cache/onevalet-peers`
(`ONEVALET_PEERS` names another folder). `--table` measures all that a message costs, beside the earlier commit, and
ends with the goals. `--write` stores the results in `workbench/benchmarks/results.json`, draws the plots and writes the
page. All take 20 minutes on a quiet machine, the table 15; `--small` proves only that it runs.
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
from workbench.benchmarks.report import page, plots, quotes, results
from workbench.benchmarks.scale import report as scale
from workbench.benchmarks.suite import durable, files, growth, model_calls, start, tasks, turn, way_in, whole_way
from workbench.benchmarks.suite.metrics import FLOOR, OURS, Benchmark, Options, Samples

BENCHMARKS: dict[str, Benchmark] = {
    module.BENCHMARK.name: module.BENCHMARK
    for module in (turn, whole_way, durable, growth, way_in, files, tasks, model_calls, start)
}
TABLE = ("whole-way", "durable", "way-in", "tasks", "model-calls", "start")
"""The cost of a message, from its webhook on, and the processes that serve it."""


def main() -> None:
    """Measure, print, and store the results if requested."""
    parser = argparse.ArgumentParser(
        prog="python -m workbench.benchmarks", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("names", nargs="*", choices=[[], *BENCHMARKS], help="all where none is named")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--earlier", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--mark", action="store_true", help="measure nothing, and mark the figures that are old")
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    if chosen.mark:
        page.write(results.save({}), list(BENCHMARKS.values()))
        scale.write({})
        return
    peers = environments.make() if chosen.peers else {}
    rounds = chosen.rounds or (3 if chosen.table else 5)
    options = Options(rounds, chosen.small, peers, earlier=chosen.earlier or chosen.table)
    goals = list[str]()
    for name in chosen.names or (TABLE if chosen.table else BENCHMARKS):
        benchmark, before = BENCHMARKS[name], os.getloadavg()[0]
        samples = asyncio.run(_measure(benchmark, options))
        fresh = results.to_json(benchmark, samples, (before, os.getloadavg()[0]))
        _show(benchmark, fresh)
        goals += page.goals(benchmark, fresh)
        if chosen.write:
            everything = results.save({name: fresh})
            page.write(everything, list(BENCHMARKS.values()))
            plots.draw(everything)
            quotes.write()
    sys.stdout.write("\n".join(["", *(goals if chosen.table else ()), ""]))


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
