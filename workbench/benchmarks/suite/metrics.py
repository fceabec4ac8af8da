"""The parts of the suite: benchmarks of metrics, their targets, and the samples of a run."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

OURS, FLOOR = "ours", "floor"

type Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Options:
    """The extent of a run. `peers` are the interpreters of the peers' environments; without any, none is measured."""

    rounds: int = 5
    small: bool = False
    peers: Mapping[str, Path] = field(default_factory=dict)

    def of(self, full: int, small: int) -> int:
        """Return a number of repetitions."""
        return small if self.small else full


@dataclass(frozen=True, slots=True)
class Target:
    """The goal of a metric: a limit, or a multiple of the floor of the same run."""

    limit: float
    more: bool = False
    times_floor: bool = False

    def is_met(self, ours: float, floor: float | None) -> bool:
        """Return whether a figure reaches it."""
        if self.times_floor and floor is None:
            raise ValueError("a target relative to the floor needs a floor")
        limit = self.limit * (floor or 0.0) if self.times_floor else self.limit
        return ours >= limit if self.more else ours <= limit

    def __str__(self) -> str:
        return f"{'over' if self.more else 'under'} {self.limit:,g}{' × the floor' if self.times_floor else ''}"


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
