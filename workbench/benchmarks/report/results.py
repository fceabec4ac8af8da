"""The results of a run as JSON: small, so that they are kept with the code that they measured."""

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.json_types import Json, JsonObject
from workbench.benchmarks.suite.metrics import Benchmark, Samples

ROOT = Path(__file__).parents[3]
PATH = ROOT / "workbench" / "benchmarks" / "results.json"
OLD = 50
"""Commits after which figures count as old."""
_WRITTEN = (":!workbench/benchmarks/results.json", ":!docs/performance.md", ":!docs/performance")
"""Files written by a run, which do not change the measured commit."""


def to_json(benchmark: Benchmark, samples: Samples, load: tuple[float, float]) -> JsonObject:
    """Return the results of a benchmark. `load` is the machine's before and after."""
    metrics: JsonObject = {
        metric.name: {name: summary(figures) for name, figures in samples.figures.get(metric.name, {}).items()}
        for metric in benchmark.metrics
    }
    plots: list[Json] = [
        {
            "name": plot.name,
            "title": plot.title,
            "x": plot.x,
            "y": plot.y,
            "lines": {name: [[x, _rounded(y)] for x, y in points] for name, points in plot.lines.items()},
        }
        for plot in samples.plots
    ]
    at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    loads: list[Json] = [round(one, 1) for one in load]
    return {"at": at, "commit": commit(), "load": loads, "metrics": metrics, "plots": plots}


def summary(figures: Sequence[float]) -> JsonObject:
    """Return the median of some figures, and their range."""
    return {
        "median": _rounded(statistics.median(figures)),
        "least": _rounded(min(figures)),
        "most": _rounded(max(figures)),
        "rounds": len(figures),
    }


def save(fresh: Mapping[str, JsonObject], path: Path = PATH) -> JsonObject:
    """Replace older results by fresh results, and mark those that are old; return all."""
    before: JsonObject = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept = before.get("benchmarks")
    benchmarks: JsonObject = {**(kept if isinstance(kept, dict) else {}), **fresh}
    mark_old(run for name, run in benchmarks.items() if name not in fresh)
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, Python {platform.python_version()}"
    results: JsonObject = {"machine": machine if fresh else before["machine"], "benchmarks": benchmarks}
    path.write_text(_dumped(results), encoding="utf-8")
    return results


def mark_old(runs: Iterable[Json]) -> None:
    """Mark the runs whose commit lies more than 50 behind."""
    for run in runs:
        if isinstance(run, dict) and is_old(str(run["commit"])):
            run["old"] = True


def commit() -> str:
    """Return the measured commit, with a note if files differ from it."""
    short = _git("rev-parse", "--short", "HEAD")
    return f"{short} with changes" if _git("status", "--porcelain", "--", ".", *_WRITTEN) else short


def is_old(measured: str) -> bool:
    """Return whether a commit lies more than 50 behind, or is not known any more."""
    count = _git("rev-list", "--count", f"{measured.split()[0]}..HEAD")
    return not count or int(count) > OLD


def is_whole() -> bool:
    """Return whether all earlier commits are here, which a shallow clone lacks."""
    return _git("rev-parse", "--is-shallow-repository") == "false"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603, S607
    return done.stdout.strip()


def _rounded(figure: float) -> float:
    return float(f"{figure:.4g}")


def _dumped(value: Json, depth: int = 0) -> str:
    """Return JSON with a line for each metric's contestant and each line of a plot."""
    if depth == 5 or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    inner = " " * (depth + 1)
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(name)}: {_dumped(one, depth + 1)}" for name, one in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}" + "\n" * (depth == 0)
    if not any(isinstance(one, dict) for one in value):
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(inner + _dumped(one, depth + 1) for one in value) + "\n" + " " * depth + "]"
