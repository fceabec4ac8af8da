"""The suite in small: each benchmark yields its figures, and the page tells of each what was found."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from workbench.benchmarks import profile
from workbench.benchmarks.__main__ import BENCHMARKS
from workbench.benchmarks.report import page, plots, results
from workbench.benchmarks.report.reasons import REASONS
from workbench.benchmarks.suite.metrics import (
    EARLIER,
    FLOOR,
    LEAN,
    OURS,
    Benchmark,
    Metric,
    Options,
    Plot,
    Samples,
    Target,
)

SHORT = ("turn", "tasks")
"""Those that start no process of ours, which takes seconds."""
HELD = {"memory-web": OURS, "memory-worker": LEAN}
"""What hardly depends on the machine, and of which contestant it is held."""
WITHIN = 1.1
"""How many pages of its libraries are in a process' memory depends on what else was read, by some megabytes."""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("model")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SHORT else pytest.mark.slow) for name in BENCHMARKS]
)
async def test_a_benchmark_measures_each_of_its_metrics(name: str) -> None:
    benchmark = BENCHMARKS[name]
    samples = await benchmark.run(Options(rounds=1, small=True))
    measured = {name for name, figures in samples.figures.items() if min(figures[OURS]) >= 0}
    wanted = {metric.name for metric in benchmark.metrics}
    assert measured == (wanted if name != "way-in" else {name for name in wanted if name.endswith("sms")})
    assert any(FLOOR in figures for figures in samples.figures.values())
    for metric in benchmark.metrics:
        if metric.name in HELD and metric.target:
            assert metric.target.is_met(max(samples.figures[metric.name][HELD[metric.name]]) / WITHIN, None), (
                samples.figures
            )
    text = "\n".join(page.lines(results_of(benchmark, samples), [benchmark]))
    assert all(metric.title in text for metric in benchmark.metrics if metric.name in measured)


def test_the_page_is_what_the_stored_results_make() -> None:
    stored = json.loads(results.PATH.read_text(encoding="utf-8"))
    made_of_it = "\n".join(page.lines(stored, list(BENCHMARKS.values()))) + "\n"
    assert page.PAGE.read_text(encoding="utf-8") == made_of_it


@pytest.mark.skipif(not results.is_whole(), reason="a shallow clone has no earlier commits: git fetch --unshallow")
@pytest.mark.parametrize("name", ["performance", "scale"])
def test_figures_of_more_than_fifty_commits_ago_are_marked_old(name: str) -> None:
    text = (page.PAGE.parent / f"{name}.md").read_text(encoding="utf-8")
    measured = [
        (told[1], "**old**" in said)
        for said in text.split("\n\n")
        if (told := re.search(r"commit ([0-9a-f]{7,})", said))
    ]
    assert measured
    wrong = [commit for commit, marked in measured if results.is_old(commit) != marked]
    assert wrong == [], "bin/uv run -m workbench.benchmarks --mark"


def test_names_of_metrics_are_given_once_and_reasons_to_metrics_only() -> None:
    names = [metric.name for benchmark in BENCHMARKS.values() for metric in benchmark.metrics]
    assert len(names) == len(set(names))
    assert set(REASONS) <= set(names)


def test_the_page_gives_the_reason_of_each_metric_that_falls_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "REASONS", {"slow": "it waits", "near": "it does not"})
    metrics = (
        Metric("slow", "a slow work", "ms", Target(2)),
        Metric("near", "a work near its floor", "ms", Target(3, times=FLOOR)),
        Metric("rate", "a rate", "a second", Target(20_000, more=True)),
        Metric("known", "a figure", "MB"),
        Metric("unmeasured", "not measured", "MB"),
        Metric("less", "less than before", "ms", Target(0.5, times=EARLIER)),
        Metric("alone", "not compared", "ms", Target(0.5, times=EARLIER)),
    )
    samples = Samples()
    samples.add("less", OURS, 4.0)
    samples.add("less", LEAN, 2.0)
    samples.add("less", EARLIER, 10.0)
    samples.add("alone", OURS, 4.0)
    samples.add("slow", OURS, 3.0, 5.0, 4.0)
    samples.add("near", OURS, 2.9)
    samples.add("near", FLOOR, 1.0)
    samples.add("near", "a peer", 7.0, 8.0)
    samples.add("rate", OURS, 19_500)
    samples.add("known", OURS, 7)
    told = list(page.lines(results_of(benchmark := made(metrics), samples), [benchmark]))
    assert "| a slow work | ms |  |  |  |  | **4 (3 to 5)** | under 2 | **missed** |" in told
    assert (
        "| a work near its floor | ms | 1 | a peer 7.5 |  |  | **2.9** | under 3 × the floor | reached: 2.90 × |"
        in told
    )
    assert "| a rate | a second |  |  |  |  | **19,500** | over 20,000 | **missed** |" in told
    assert "| a figure | MB |  |  |  |  | **7** |  |  |" in told
    assert f"| less than before | ms |  |  | 10 | 2 | **4** | under 0.5 × {EARLIER} | reached: 0.40 × |" in told
    assert f"| not compared | ms |  |  |  |  | **4** | under 0.5 × {EARLIER} |  |" in told
    goals = list(page.goals(benchmark, results.to_json(benchmark, samples, (0.0, 0.1))))
    assert goals[:2] == [
        "a slow work, ms: 4 (3 to 5), under 2, missed",
        "a work near its floor, ms: 2.9, under 3 × the floor, reached: 2.90 ×",
    ]
    assert goals[-1] == f"not compared, ms: 4, under 0.5 × {EARLIER}, not compared"
    assert [line for line in told if line.startswith("- **a")] == [
        "- **a slow work**: it waits",
        "- **a rate**: not explained yet.",
    ]


def test_a_column_without_figures_is_left_out_and_a_reason_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "REASONS", {"slow": "it waits", "slower": "it waits"})
    metrics = (Metric("slow", "a slow work", "ms", Target(2)), Metric("slower", "a slower one", "ms", Target(2)))
    samples = Samples()
    samples.add("slow", OURS, 4.0)
    samples.add("slower", OURS, 5.0)
    told = list(page.lines(results_of(benchmark := made(metrics), samples), [benchmark]))
    assert "| work | unit | ours | goal |  |" in told
    assert "| a slow work | ms | **4** | under 2 | **missed** |" in told
    assert "- **a slow work; a slower one**: it waits" in told


def test_results_of_one_benchmark_leave_those_of_others(tmp_path: Path) -> None:
    path, samples = tmp_path / "results.json", Samples()
    samples.add("slow", OURS, 1.23456)
    benchmark = made((Metric("slow", "a slow work", "ms"),))
    for name in ("one", "other", "one"):
        saved = results.save({name: results.to_json(benchmark, samples, (0.0, 0.1))}, path)
    assert isinstance(saved["benchmarks"], dict)
    assert list(saved["benchmarks"]) == ["one", "other"]
    assert '"ours": {"median": 1.235, "least": 1.235, "most": 1.235, "rounds": 1}' in path.read_text()


def test_a_plot_is_small_and_holds_each_line_within_its_frame() -> None:
    lines = {"ours, p50": [(1.0, 2.5), (1e3, 40.0), (1e6, 1234.5)], "<floor>": [(1.0, 0.3), (1e6, 9.0)]}
    plot: Mapping[str, Any] = {"name": "some", "title": "Some & more", "x": "in flight", "y": "ms", "lines": lines}
    drawn = "\n".join(plots.svg(plot))
    assert len(drawn.splitlines()) < 40
    assert "&lt;floor&gt;" in drawn
    assert "Some &amp; more" in drawn
    assert "M64.0 253.6L277.0 247.0L490.0 36.7" in drawn  # the axis is logarithmic
    assert ">1,250</text>" in drawn
    assert ">1,000,000</text>" in drawn


@pytest.mark.slow
def test_a_flame_graph_is_drawn_of_a_benchmark(tmp_path: Path) -> None:
    profile.profile("turn", tmp_path / "profile.svg", rate=100, rounds=1, small=True)
    assert "direct/transport.py" in (tmp_path / "profile.svg").read_text()


def made(metrics: tuple[Metric, ...]) -> Benchmark:
    return Benchmark("some", "Some", "It is measured.", metrics, nothing)


def results_of(benchmark: Benchmark, samples: Samples) -> dict[str, object]:
    samples.plots.append(Plot("some", "Some", "x", "y", {OURS: [(1, 1)]}))
    return {"machine": "a machine", "benchmarks": {benchmark.name: results.to_json(benchmark, samples, (0.0, 0.1))}}


async def nothing(_: Options) -> Samples:
    return Samples()
