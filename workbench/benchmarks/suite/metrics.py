"""The parts of the suite: benchmarks of metrics, their targets, and the samples of a run."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

OURS, FLOOR, LEAN, EARLIER = "ours", "floor", "lean", "d221e40b"
"""The contestants that are no peers: lean is ours without memory and profile, the earlier is an earlier commit."""

type Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Options:
    """The extent of a run. `peers` are the interpreters of the peers' environments; without any, none is measured."""

    rounds: int = 5
    small: bool = False
    peers: Mapping[str, Path] = field(default_factory=dict)
    earlier: bool = False
    """Whether the earlier commit is measured too."""

    def of(self, full: int, small: int) -> int:
        """Return a number of repetitions."""
        return small if self.small else full


@dataclass(frozen=True, slots=True)
class Target:
    """The goal of a metric: a limit, or a multiple of the figure of a contestant of the same run."""

    limit: float
    more: bool = False
    times: str = ""

    def is_met(self, ours: float, other: float | None) -> bool | None:
        """Return whether a figure reaches it; None if the contestant that it is a multiple of was not measured."""
        if self.times and other is None:
            return None
        limit = self.limit * (other or 0.0) if self.times else self.limit
        return ours >= limit if self.more else ours <= limit

    def __str__(self) -> str:
        of = {"": "", FLOOR: " × the floor"}.get(self.times, f" × {self.times}")
        return f"{'over' if self.more else 'under'} {self.limit:,g}{of}"


@dataclass(frozen=True, slots=True)
class Metric:
    """A row of the page."""

    name: str
    title: str
    unit: str
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over an axis, such as latency over concurrency."""

    name: str
    title: str
    x: str
    y: str
    lines: Mapping[str, Points]


@dataclass(slots=True)
class Samples:
    """The figures of a run: by metric, then by contestant, a figure for each round."""

    figures: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    plots: list[Plot] = field(default_factory=list)

    def add(self, metric: str, contestant: str, *figures: float) -> None:
        """Add figures of a contestant."""
        self.figures.setdefault(metric, {}).setdefault(contestant, []).extend(figures)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Metrics measured in a single run, and the page's text about them: `about` names the floor too."""

    name: str
    title: str
    about: str
    metrics: Sequence[Metric]
    run: Callable[[Options], Awaitable[Samples]]
