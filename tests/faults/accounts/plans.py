"""Who is struck at which point with their accounts, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.config import Person
from tests.faults.accounts.points import AccountMutation, AccountPoint, Kind
from tests.faults.harness import Harness
from tests.faults.results import Result


@dataclass(frozen=True, slots=True)
class AccountPlan:
    """One person whose process is struck at a point, perhaps with a write removed."""

    name: str
    token: str
    person: Person
    point: AccountPoint
    drop: str = ""

    @property
    def kind(self) -> Kind:
        """Return what they want."""
        return self.point.kind


@dataclass(frozen=True, slots=True)
class AccountFate:
    """What became of it."""

    plan: AccountPlan
    met: bool
    came: str

    @property
    def well(self) -> bool:
        """Return whether it is as expected."""
        return self.met and self.came in self.plan.point.expected


def make_plans(
    harness: Harness,
    people: Sequence[Person],
    points: Sequence[AccountPoint],
    mutations: Sequence[AccountMutation],
) -> list[AccountPlan]:
    """Make a plan for each point, and for each removed write; each has a person of its own."""
    wanted = [(point, "") for point in points] + [(mutation.point, mutation.drop) for mutation in mutations]
    plans: list[AccountPlan] = []
    for person, (point, drop) in zip(people[: len(wanted)], wanted, strict=True):
        token = harness.token(person.key)
        plans.append(AccountPlan(f"plan-{token}", token, person, point, drop))
    return plans


def judge(result: Result, fates: Sequence[AccountFate]) -> None:
    """Note what is not as expected, and how many are."""
    points = [fate for fate in fates if not fate.plan.drop]
    removed = [fate for fate in fates if fate.plan.drop]
    for fate in points:
        where = f"{fate.plan.point.name} of {fate.plan.kind}"
        result.require(fate.well, f"{where}: {fate.came}{'' if fate.met else ', never met'}")
    for fate in removed:
        result.require(fate.met and not fate.well, f"without {fate.plan.drop} nobody noticed: {fate.came}")
    result.numbers |= {
        "points of accounts": f"{sum(fate.well for fate in points)} of {len(points)}",
        "removed writes of accounts noticed": f"{sum(not fate.well for fate in removed)} of {len(removed)}",
    }
