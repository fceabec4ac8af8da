"""Who is struck at which point whose end is said in words, what became of it, and how many ended as expected."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.faults.harness import Harness
from tests.faults.meeting import strike_at
from tests.faults.results import Result
from tests.faults.worded import WordedMutation, WordedPoint
from workbench.simulator.config import Person


@dataclass(frozen=True, slots=True)
class WordedPlan[K: StrEnum]:
    """One person whose process is struck at a point, perhaps with a write removed."""

    name: str
    token: str
    person: Person
    point: WordedPoint[K]
    drop: str = ""

    @property
    def kind(self) -> K:
        """Return what they want."""
        return self.point.kind

    @property
    def body(self) -> str:
        """Return the words by which they want it."""
        return f"{self.token} {self.kind}"

    @property
    def strike(self) -> dict[str, str]:
        """Return what the process that is to die is told."""
        return strike_at(self.point.name, self.name, self.drop)


@dataclass(frozen=True, slots=True)
class WordedFate[K: StrEnum]:
    """What became of it."""

    plan: WordedPlan[K]
    met: bool
    came: str

    @property
    def well(self) -> bool:
        """Return whether it is as expected."""
        return self.met and self.came == self.plan.point.expected

    @property
    def noticed(self) -> bool:
        """Return whether it was struck, and is not as expected: what must be where a write is removed."""
        return self.met and not self.well


def make_plans[K: StrEnum](
    harness: Harness,
    people: Sequence[Person],
    points: Sequence[WordedPoint[K]],
    mutations: Sequence[WordedMutation[K]],
) -> list[WordedPlan[K]]:
    """Make a plan for each point, and for each removed write; each has a person of its own."""
    wanted = [(point, "") for point in points] + [(mutation.point, mutation.drop) for mutation in mutations]
    plans: list[WordedPlan[K]] = []
    for person, (point, drop) in zip(people[: len(wanted)], wanted, strict=True):
        token = harness.token(person.key)
        plans.append(WordedPlan(f"plan-{token}", token, person, point, drop))
    return plans


def require_worded[K: StrEnum](result: Result, fates: Sequence[WordedFate[K]]) -> None:
    """Note what is not as expected: at points, and where nobody noticed a removed write."""
    for fate in fates:
        if fate.plan.drop:
            result.require(fate.noticed, f"without {fate.plan.drop} nobody noticed: {fate.came}")
        else:
            where = f"{fate.plan.point.name} of {fate.plan.kind}"
            result.require(fate.well, f"{where}: {fate.came}{'' if fate.met else ', never met'}")


def count_well[K: StrEnum](fates: Sequence[WordedFate[K]]) -> str:
    """Return how many points of all ended as expected."""
    points = [fate for fate in fates if not fate.plan.drop]
    return f"{sum(fate.well for fate in points)} of {len(points)}"


def count_noticed[K: StrEnum](fates: Sequence[WordedFate[K]]) -> str:
    """Return how many removed writes of all were noticed."""
    removed = [fate for fate in fates if fate.plan.drop]
    return f"{sum(fate.noticed for fate in removed)} of {len(removed)}"
