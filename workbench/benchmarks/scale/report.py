"""The results of `workbench.benchmarks.scale` as JSON, as plots and as the measured part of docs/scale.md."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from textwrap import fill
from typing import Any

from tests.faults.report import commit
from tests.forker import ROOT
from workbench.benchmarks.report import quotes
from workbench.benchmarks.report.page import OF_OLD
from workbench.benchmarks.report.plots import svg
from workbench.benchmarks.report.results import is_old
from workbench.benchmarks.scale.cost import PARTS
from workbench.benchmarks.scale.limits import CORE, CORES

type Results = dict[str, Any]

PAGE = ROOT / "docs" / "scale.md"
PLOTS = ROOT / "docs" / "scale"
NUMBERS = quotes.SCALE
BEGIN, END = "<!-- measured -->", "<!-- end of what was measured -->"
WIDTH = 140
WANTED, A_DAY, PEAK = 1_000_000, 20, 3
"""People, messages of each a day, and how many times the mean the busiest moment has."""
_NAMES = {
    "Postgres": "Postgres",
    "PgBouncer": "PgBouncer",
    "workers": "the workers",
    "web": "`web`",
    "Valkey": "Valkey",
}


def write(results: Results) -> None:
    """Store the results beside those of the other command, draw the plots, and replace the page's measured part."""
    results = stored() | results
    NUMBERS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for plot in plots(results):
        (PLOTS / f"{plot['name']}.svg").write_text("\n".join(svg(plot)) + "\n", encoding="utf-8")
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
    quotes.write()


def stored() -> Results:
    """Return the results that the page tells."""
    found: Results = json.loads(NUMBERS.read_text(encoding="utf-8"))
    return found


def renewed(text: str, results: Results) -> str:
    """Return the page's text with the measured part of these results."""
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{page(results)}\n{END}{rest.partition(END)[2]}"


def stamp() -> Results:
    """Return the time, commit and machine of a measurement."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "commit": commit(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


def plots(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the plots."""
    if "workers" not in results:
        return
    workers = _by_count(results["workers"])
    yield {
        "name": "cost-by-workers",
        "title": "CPU a message, by part",
        "x": "workers",
        "y": "ms",
        "lines": {part: [[count, told["cost"][part]] for count, told in workers.items()] for part in PARTS},
    }
    if limited := _by_count(results["limited"]):
        yield {
            "name": "share-by-workers",
            "title": "What each part uses of its small hosts",
            "x": "workers",
            "y": "%",
            "lines": {part: [[count, told["shares"][part] * 100] for count, told in limited.items()] for part in PARTS},
        }
        yield {
            "name": "rate-by-workers",
            "title": "Messages answered a second, on small hosts",
            "x": "workers",
            "y": "a second",
            "lines": {f"{results['people']:,} people": [[count, told["rate"]] for count, told in limited.items()]},
        }


def page(results: Results) -> str:
    """Return the measured part."""
    parts = (_circumstances, _by_workers, _compared, _saturation, _sums) if "workers" in results else ()
    lines = [*(line for part in parts for line in part(results)), *connections(results)]
    return "\n".join(line if line.startswith("|") else fill(line, WIDTH) for line in lines).strip("\n") + "\n"


def connections(results: Results) -> Iterator[str]:
    """Yield the lines about connections through PgBouncer."""
    if "connections" not in results:
        return
    told = results["connections"]
    yield ""
    yield (
        f"Connections, measured {told['date']} at commit {told['commit']} with a load of"
        f" {told['load']:.1f}{_age(told)}. Each client reads a person's ten messages in a transaction, again and again."
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
        f" {results['rounds']} bursts of {results['messages']} messages, {results['settings']}{_age(results)}."
        f" {_hosts(results)}"
    )
    yield ""


def _age(told: Results) -> str:
    return OF_OLD * is_old(told["commit"])


def _hosts(results: Results) -> str:
    if not results["hosts"]:
        return "All parts ran on one host."
    if not results["round_trip"]:
        return (
            "Each part ran in a network namespace of its own; round trips were those within a machine, since the kernel"
            " could not delay packets (`netem`)."
        )
    return (
        "Each part ran in a network namespace of its own on a bridge, with round trips of"
        f" {results['round_trip']:.1f} ms more than within a machine."
    )


def _by_workers(results: Results) -> Iterator[str]:
    yield f"CPU a message in milliseconds, with {results['people']:,} people and their history{_size(results)}:"
    yield ""
    yield f"| workers | {' | '.join(PARTS)} | in all | messages a second | load |"
    yield f"|{'---:|' * (len(PARTS) + 4)}"
    for count, told in _by_count(results["workers"]).items():
        yield f"| {count} | {_costs(told)} | {_all(told):.1f} | {told['rate']:.1f} | {told['load']:.1f} |"
    yield ""


def _compared(results: Results) -> Iterator[str]:
    steady, held = results["steady"], results["held"]
    rows = [
        (f"{results['people']:,} people, bursts", results["workers"]["2"]),
        ("without memory and profile", results.get("lean")),
        (f"{results['few']['people']:,} people", results["few"]),
        ("without PgBouncer", results["direct"]),
        (f"{held['clients']:,} connections held at PgBouncer", held),
        (f"{steady['wanted']:.1f} a second, steadily", steady),
    ]
    yield "Two workers, in other circumstances:"
    yield ""
    yield f"| | {' | '.join(PARTS)} | in all | load |"
    yield f"|---|{'---:|' * (len(PARTS) + 2)}"
    yield from (f"| {name} | {_costs(told)} | {_all(told):.1f} | {told['load']:.1f} |" for name, told in rows if told)
    yield ""


def _saturation(results: Results) -> Iterator[str]:
    limited = _by_count(results["limited"])
    if not limited:
        return
    yield (
        f"What saturates first, on small hosts whose core is {CORE:.0%} of one of this machine's: Postgres has"
        f" {CORES['Postgres']} cores; PgBouncer, Valkey, each `web` and each worker have one. Used of the allowed CPU:"
    )
    yield ""
    yield f"| workers | messages a second | {' | '.join(PARTS)} | load |"
    yield f"|{'---:|' * (len(PARTS) + 3)}"
    for count, told in limited.items():
        used = " | ".join(f"{told['shares'][part]:.0%}" for part in PARTS)
        yield f"| {count} | {told['rate']:.1f} | {used} | {told['load']:.1f} |"
    yield ""
    firsts = {count: max(PARTS, key=told["shares"].__getitem__) for count, told in limited.items()}
    said = []
    for part, same in groupby(firsts, key=firsts.__getitem__):
        counts = list(same)
        highest = sorted(limited[count]["shares"][part] for count in counts)
        shares = " to ".join(dict.fromkeys(f"{share:.0%}" for share in (highest[0], highest[-1])))
        said.append(f"with {_span(counts)} it is {_NAMES[part]} ({shares})")
    yield f"Nearest to its limit: {'; '.join(said)}."
    yield ""
    cost = results["workers"]["2"]["cost"]
    alone = ", ".join(f"{part} {1000 / cost[part]:.0f}" for part in PARTS)
    yield f"Messages a second that one whole core bears: {alone}."
    yield ""


def _sums(results: Results) -> Iterator[str]:
    steady, burst, mean = results["steady"], results["workers"]["2"], WANTED * A_DAY / 86_400
    shown = {"cores at the peak": burst} | ({"lean": results["lean"]} if "lean" in results else {})
    yield (
        f"{WANTED:,} people who write {A_DAY} messages a day are {mean:.0f} a second in the mean and"
        f" {mean * PEAK:.0f} at a peak of {PEAK} times the mean. By the bursts with two workers, that peak takes:"
    )
    yield ""
    yield f"| part | {' | '.join(shown)} | share |"
    yield f"|---|{'---:|' * (len(shown) + 1)}"
    for part in PARTS:
        share = burst["cost"][part] / _all(burst)
        yield f"| {part} | {_cores(told['cost'][part] for told in shown.values())} | {share:.0%} |"
    yield f"| in all | {_cores(map(_all, shown.values()))} | |"
    yield ""
    minutes, wanted, bore = steady["minutes"], steady["wanted"], steady["rate"]
    yield (
        f"**Checked:** {results['people']:,} people, {results['people'] / WANTED:.0%} of that, write"
        f" {results['people'] * A_DAY / 86_400:.1f} messages a second in the mean. Given {wanted:.1f} a second for"
        f" {minutes:.1f} minutes, this machine bore {bore:.1f}. By the bursts that takes"
        f" {bore * _all(burst) / 1000:.2f} cores; it took"
        f" {bore * _all(steady) / 1000:.2f}, {_all(steady) / _all(burst) - 1:+.0%} a message."
    )


def _cores(costs: Iterable[float]) -> str:
    return " | ".join(f"{WANTED * A_DAY / 86_400 * PEAK * cost / 1000:.1f}" for cost in costs)


def _span(counts: Sequence[int]) -> str:
    if len(counts) == 1:
        return f"{counts[0]} worker{'s' * (counts[0] > 1)}"
    return f"{counts[0]} to {counts[-1]} workers"


def _by_count(told: Results) -> dict[int, Results]:
    return {count: told[str(count)] for count in sorted(map(int, told))}


def _costs(told: Results) -> str:
    return " | ".join(f"{told['cost'][part]:.1f}" for part in PARTS)


def _all(told: Results) -> float:
    return float(sum(told["cost"].values()))


def _size(results: Results) -> str:
    return f" ({results['bytes'] / 2**30:.1f} GiB)" if "bytes" in results else ""
