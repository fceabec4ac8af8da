"""Figures that other pages quote from the results: each run renews them, and a test holds them."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.benchmarks.report.results import PATH, ROOT
from workbench.benchmarks.suite.metrics import LEAN, OURS

SCALE = ROOT / "docs" / "scale" / "results.json"


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of both commands."""

    benchmarks: Mapping[str, Any]
    scale: Mapping[str, Any]

    def median(self, metric: str, contestant: str = OURS) -> float | None:
        """Return a figure of a metric; None if it was not measured."""
        for run in self.benchmarks.values():
            if found := run["metrics"].get(metric, {}).get(contestant):
                return float(found["median"])
        return None


@dataclass(frozen=True, slots=True)
class Quote:
    """A figure in a page: its place, the group of a pattern that is found once, and its words, None if unknown."""

    page: str
    pattern: str
    words: Callable[[Measured], str | None]


def measured() -> Measured:
    """Read the stored results."""
    benchmarks, scale = (json.loads(path.read_text(encoding="utf-8")) for path in (PATH, SCALE))
    return Measured(benchmarks["benchmarks"], scale)


def renewed(page: str, text: str, results: Measured) -> str:
    """Return a page's text with the figures of these results; those that were not measured stay as they are."""
    for quote in QUOTES:
        if quote.page == page:
            (found,) = re.finditer(quote.pattern, text)
            words = quote.words(results)
            if words is not None:
                text = text[: found.start(1)] + words + text[found.end(1) :]
    return text


def write() -> None:
    """Renew all pages that quote."""
    results = measured()
    for page in sorted({quote.page for quote in QUOTES}):
        path = ROOT / page
        path.write_text(renewed(page, path.read_text(encoding="utf-8"), results), encoding="utf-8")


def _start(results: Measured) -> str | None:
    seconds = results.median("start-worker")
    return None if seconds is None else f"{seconds:.1f}"


def _idle(results: Measured) -> str | None:
    share = results.median("idle") or results.median("idle", LEAN)
    return None if share is None else f"{math.ceil(share)}"


def _saved(results: Measured) -> str | None:
    ours, lean = (results.median("whole-memory-worker", name) for name in (OURS, LEAN))
    return None if ours is None or lean is None else f"{round(ours - lean, -1):.0f}"


def _of_workers(results: Measured) -> str:
    costs = [told["cost"] for told in results.scale["workers"].values()]
    shares = [cost["Postgres"] / cost["workers"] for cost in costs]
    return f"{min(shares):.1f} to {max(shares):.1f}"


def _pooled(results: Measured) -> str:
    told = results.scale["connections"]["pooled"]
    return f"{told['clients']:,} clients shared {told['servers']}"


QUOTES = (
    Quote("docs/deploy.md", r"A worker starts in ([\d.]+) s of CPU", _start),
    Quote("docs/deploy.md", r"at rest takes at most (\d+) % of a core", _idle),
    Quote("docs/deploy.md", r"`ONEVALET_MEMORY=off` saves (\d+) MB", _saved),
    Quote("docs/scale.md", r"For each core that workers fill, Postgres fills ([\d.]+ to [\d.]+)\.", _of_workers),
    Quote("docs/scale.md", r"through which ([\d,]+ clients shared \d+)\.", _pooled),
)
