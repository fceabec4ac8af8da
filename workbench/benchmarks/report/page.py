"""Write `docs/performance.md` from results: a section for each benchmark, with its table, plots and reasons."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.benchmarks.report.reasons import REASONS
from workbench.benchmarks.report.results import ROOT
from workbench.benchmarks.suite.metrics import EARLIER, FLOOR, LEAN, OURS, Benchmark, Metric

PAGE = ROOT / "docs" / "performance.md"
OF_OLD = "; **old**"
_APART = (FLOOR, EARLIER, LEAN)
_HEAD = """# Performance

`bin/uv run -m workbench.benchmarks --peers --write` writes this page. Times depend on the machine: compare the
figures of one row, which were measured in turns in one run.

A figure is the median of its rounds; ours has their range behind it. CPU is that of the processes named. The floor is
the least code that does the same work. Peers run over the same model server, at the versions in
`workbench/benchmarks/peers/environments.py`; none stores anything. Postgres and Redis are embedded and durable.
Settings are as shipped; lean is without memory and profile. **Old** figures were measured more than 50 commits ago.
"""


def write(results: Mapping[str, Any], benchmarks: Sequence[Benchmark]) -> None:
    """Write the page."""
    PAGE.write_text("\n".join(lines(results, benchmarks)) + "\n", encoding="utf-8")


def lines(results: Mapping[str, Any], benchmarks: Sequence[Benchmark]) -> Iterator[str]:
    """Yield the page's lines."""
    yield _HEAD
    yield f"Machine: {results['machine']}."
    for benchmark in benchmarks:
        if run := results["benchmarks"].get(benchmark.name):
            yield from _section(benchmark, run)


def goals(benchmark: Benchmark, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each goal: the work, ours, and whether it is reached."""
    for metric in benchmark.metrics:
        figures = run["metrics"].get(metric.name, {})
        if OURS in figures and (row := _row(metric, figures))[-2]:
            yield f"{row[0]}, {row[1]}: {row[-3].strip('*')}, {row[-2]}, {row[-1].replace('**', '') or 'not compared'}"


def _section(benchmark: Benchmark, run: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n## {benchmark.title}\n"
    yield f"{benchmark.about}\n"
    measured = [metric for metric in benchmark.metrics if {OURS, LEAN} & run["metrics"].get(metric.name, {}).keys()]
    rows = [_row(metric, run["metrics"][metric.name]) for metric in measured]
    titles = ("work", "unit", "floor", "peers", EARLIER, "lean", "ours", "goal", "")
    filled = [column for column in range(len(titles)) if any(row[column] for row in rows)]
    yield f"| {' | '.join(titles[column] for column in filled)} |"
    yield f"|{'---|' * len(filled)}"
    yield from (f"| {' | '.join(row[column] for column in filled)} |" for row in rows)
    age = OF_OLD * run.get("old", False)
    yield f"\n{run['at']}, commit {run['commit']}, load {run['load'][0]} to {run['load'][1]}{age}."
    missed = [metric for metric in measured if is_met(metric, run["metrics"][metric.name]) is False]
    if missed:
        yield "\nWhy it falls short:\n"
        yield from (f"- **{titles}**: {reason}" for reason, titles in _reasons(missed).items())
    for plot in run["plots"]:
        yield f"\n![{plot['title']}: {plot['y']} over {plot['x']}](performance/{plot['name']}.svg)"


def _reasons(missed: Sequence[Metric]) -> dict[str, str]:
    """Return each reason with the works that it is about."""
    titles: dict[str, list[str]] = {}
    for metric in missed:
        titles.setdefault(REASONS.get(metric.name, "not explained yet."), []).append(metric.title)
    return {reason: "; ".join(works) for reason, works in titles.items()}


def _row(metric: Metric, figures: Mapping[str, Any]) -> tuple[str, ...]:
    apart = {name: _number(figures[name]["median"]) if name in figures else "" for name in _APART}
    peers = [f"{name} {_number(one['median'])}" for name, one in figures.items() if name not in (OURS, *_APART)]
    met = {None: "", True: "reached", False: "**missed**"}[is_met(metric, figures)]
    goal, ratio = str(metric.target or ""), ratio_of(metric, figures)
    told = f"{met}: {ratio:.2f} ×" if met and ratio else met
    ours = f"**{_range(figures[OURS])}**" if OURS in figures else ""
    return (metric.title, metric.unit, apart[FLOOR], "<br>".join(peers), apart[EARLIER], apart[LEAN], ours, goal, told)


def is_met(metric: Metric, figures: Mapping[str, Any]) -> bool | None:
    """Return whether a metric has reached its goal; None without a goal, or if its base is unknown."""
    if metric.target is None or OURS not in figures:
        return None
    other = figures.get(metric.target.times)
    return metric.target.is_met(figures[OURS]["median"], other["median"] if other else None)


def ratio_of(metric: Metric, figures: Mapping[str, Any]) -> float | None:
    """Return our figure as a multiple of the goal's base, if that was measured."""
    other = figures.get(metric.target.times) if metric.target else None
    return figures[OURS]["median"] / other["median"] if OURS in figures and other and other["median"] else None


def _range(figure: Mapping[str, float]) -> str:
    if figure["least"] == figure["most"]:
        return _number(figure["median"])
    return f"{_number(figure['median'])} ({_number(figure['least'])} to {_number(figure['most'])})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
