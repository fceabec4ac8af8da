"""Write `docs/performance.md` from results: a section for each benchmark, with its table, plots and reasons."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.benchmarks.report.reasons import REASONS
from workbench.benchmarks.report.results import ROOT
from workbench.benchmarks.suite.metrics import FLOOR, OURS, Benchmark, Metric

PAGE = ROOT / "docs" / "performance.md"
_HEAD = """# Performance

`bin/uv run -m workbench.benchmarks --peers --write` writes this page. Times depend on the machine: compare the
figures of one row, which were measured in turns in one run.

A figure is the median of its rounds; ours has their range behind it. CPU is that of the processes named. The floor is
the least code that does the same work. Peers run over the same model server, at the versions in
`workbench/benchmarks/peers/environments.py`; none stores anything. Postgres and Redis are embedded and durable.
Settings are as shipped, with memory and profile off unless the section says otherwise.
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


def _section(benchmark: Benchmark, run: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n## {benchmark.title}\n"
    yield f"{benchmark.about}\n"
    measured = [metric for metric in benchmark.metrics if OURS in run["metrics"].get(metric.name, {})]
    rows = [_row(metric, run["metrics"][metric.name]) for metric in measured]
    titles = ("work", "unit", "floor", "peers", "ours", "goal", "")
    filled = [column for column in range(len(titles)) if any(row[column] for row in rows)]
    yield f"| {' | '.join(titles[column] for column in filled)} |"
    yield f"|{'---|' * len(filled)}"
    yield from (f"| {' | '.join(row[column] for column in filled)} |" for row in rows)
    yield f"\n{run['at']}, commit {run['commit']}, load {run['load'][0]} to {run['load'][1]}."
    missed = [metric for metric in measured if _is_met(metric, run["metrics"][metric.name]) is False]
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
    peers = [f"{name} {_number(figure['median'])}" for name, figure in figures.items() if name not in (OURS, FLOOR)]
    floor = _number(figures[FLOOR]["median"]) if FLOOR in figures else ""
    met = {None: "", True: "reached", False: "**missed**"}[_is_met(metric, figures)]
    goal = str(metric.target or "")
    return (metric.title, metric.unit, floor, "<br>".join(peers), f"**{_range(figures[OURS])}**", goal, met)


def _is_met(metric: Metric, figures: Mapping[str, Any]) -> bool | None:
    if metric.target is None:
        return None
    floor = figures[FLOOR]["median"] if FLOOR in figures else None
    return metric.target.is_met(figures[OURS]["median"], floor)


def _range(figure: Mapping[str, float]) -> str:
    if figure["least"] == figure["most"]:
        return _number(figure["median"])
    return f"{_number(figure['median'])} ({_number(figure['least'])} to {_number(figure['most'])})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
