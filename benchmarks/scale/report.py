"""The results of `benchmarks.scale` as JSON, as plots and as the measured part of docs/scale.md."""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from benchmarks.report.plots import svg
from benchmarks.scale.cost import PARTS
from tests.faults.report import commit
from tests.forker import ROOT

type Results = dict[str, Any]

PAGE = ROOT / "docs" / "scale.md"
PLOTS = ROOT / "docs" / "scale"
NUMBERS = PLOTS / "results.json"
BEGIN, END = "<!-- measured -->", "<!-- end of what was measured -->"
WANTED, A_DAY, PEAK = 1_000_000, 20, 3
"""People, messages of each a day, and how many times the mean the busiest moment has."""


def write(results: Results) -> None:
    """Keep the results beside those of the other command, draw the plots, and replace the measured part of the page."""
    PLOTS.mkdir(exist_ok=True)
    results = (json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}) | results
    NUMBERS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for plot in plots(results):
        (PLOTS / f"{plot['name']}.svg").write_text("\n".join(svg(plot)) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{page(results)}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def stamp() -> Results:
    """Return when, of what and on what something was measured."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "commit": commit(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


def plots(results: Results) -> Iterator[dict[str, Any]]:
    """Yield what is drawn."""
    if "workers" not in results:
        return
    workers = {int(count): told for count, told in results["workers"].items()}
    order = sorted(workers)
    yield {
        "name": "rate-by-workers",
        "title": "Messages answered a second, everything on one machine",
        "x": "workers",
        "y": "a second",
        "lines": {f"{results['people']:,} people": [[count, workers[count]["rate"]] for count in order]},
    }
    yield {
        "name": "cost-by-workers",
        "title": "CPU a message, by part",
        "x": "workers",
        "y": "ms",
        "lines": {part: [[count, workers[count]["cost"][part]] for count in order] for part in PARTS},
    }


def page(results: Results) -> str:
    """Return the measured part."""
    parts = (_circumstances, _by_workers, _by_people, _sums) if "workers" in results else ()
    return "\n".join([*(line for part in parts for line in part(results)), *connections(results)]).strip("\n") + "\n"


def connections(results: Results) -> Iterator[str]:
    """Yield what was measured through PgBouncer."""
    if "connections" not in results:
        return
    told = results["connections"]
    yield ""
    yield (
        f"Connections, measured {told['date']} at commit {told['commit']} with a load of {told['load']:.1f}: each"
        " client stays connected and reads a person's ten messages in a transaction, again and again."
    )
    yield ""
    yield (
        "| | clients | connections at Postgres | calls a second | p50 | p99 | Postgres a call | PgBouncer a call"
        " | reads of another's rows |"
    )
    yield "|---|" + "---:|" * 8
    for name, key in (("to Postgres", "direct"), ("through PgBouncer", "pooled")):
        one = told[key]
        yield (
            f"| {name} | {one['clients']:,} | {one['servers']} | {one['rate']:.0f} | {one['p50']:.0f} ms |"
            f" {one['p99']:.0f} ms | {one['postgres']:.2f} ms | {one['pooler']:.2f} ms | {one['strange']} of"
            f" {one['calls']:,} |"
        )


def _circumstances(results: Results) -> Iterator[str]:
    yield (
        f"Measured {results['date']} at commit {results['commit']} on {results['cores']} cores, with a load of"
        f" {results['before']:.1f} before and {results['load']:.1f} after. Each figure is the median of"
        f" {results['rounds']} bursts of {results['messages']} messages."
    )
    yield ""


def _by_workers(results: Results) -> Iterator[str]:
    yield f"CPU a message in milliseconds, with {results['people']:,} people and their history ({_size(results)}):"
    yield ""
    yield f"| workers | {' | '.join(PARTS)} | in all | messages a second | load |"
    yield f"|{'---:|' * (len(PARTS) + 4)}"
    for count in sorted(results["workers"], key=int):
        told = results["workers"][count]
        yield f"| {count} | {_costs(told)} | {_all(told):.1f} | {told['rate']:.1f} | {told['load']:.1f} |"
    yield ""


def _by_people(results: Results) -> Iterator[str]:
    many, steady = results["workers"]["2"], results["steady"]
    yield "What a steady trickle costs more than a burst:"
    yield ""
    yield f"| two workers | {' | '.join(PARTS)} | in all |"
    yield f"|---|{'---:|' * (len(PARTS) + 1)}"
    if few := results.get("few"):
        yield f"| {few['people']:,} people, bursts | {_costs(few)} | {_all(few):.1f} |"
    yield f"| {results['people']:,} people, bursts | {_costs(many)} | {_all(many):.1f} |"
    yield f"| {results['people']:,} people, {steady['wanted']:.1f} a second | {_costs(steady)} | {_all(steady):.1f} |"
    yield ""


def _sums(results: Results) -> Iterator[str]:
    steady, burst = results["steady"], results["workers"]["2"]
    mean = WANTED * A_DAY / 86_400
    yield (
        f"{WANTED:,} people who write {A_DAY} messages a day are {mean:.0f} a second in the mean and"
        f" {mean * PEAK:.0f} at a peak of {PEAK} times the mean. By the cost of"
        " the bursts with two workers that peak takes:"
    )
    yield ""
    yield "| part | cores at the peak | share |"
    yield "|---|---:|---:|"
    for part in PARTS:
        cores = mean * PEAK * burst["cost"][part] / 1000
        yield f"| {part} | {cores:.1f} | {burst['cost'][part] / _all(burst):.0%} |"
    yield f"| in all | {mean * PEAK * _all(burst) / 1000:.1f} | |"
    yield ""
    minutes, wanted, bore = steady["seconds"] / 60, steady["wanted"], steady["rate"]
    yield (
        f"**Checked:** {results['people']:,} people, {results['people'] / WANTED:.0%} of that, write"
        f" {results['people'] * A_DAY / 86_400:.1f} messages a second in the mean. Two cores, which the simulated"
        f" providers and people share, were given {wanted:.1f} a second for {minutes:.1f} minutes and bore {bore:.1f}."
        f" By the bursts that takes {bore * _all(burst) / 1000:.2f} cores; it took {bore * _all(steady) / 1000:.2f},"
        f" {_all(steady) / _all(burst) - 1:+.0%} a message."
    )


def _costs(told: Results) -> str:
    return " | ".join(f"{told['cost'][part]:.1f}" for part in PARTS)


def _all(told: Results) -> float:
    return float(sum(told["cost"].values()))


def _size(results: Results) -> str:
    return f"{results['bytes'] / 2**30:.1f} GiB"
