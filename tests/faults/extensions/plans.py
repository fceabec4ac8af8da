"""Who is struck at which point, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.config import Person
from tests.faults.extensions.points import ExtensionMutation, ExtensionPoint, Kind
from tests.faults.harness import Harness
from tests.faults.results import Result


@dataclass(frozen=True, slots=True)
class ExtensionPlan:
    """One person whose process is struck at a point, perhaps with a write removed."""

    name: str
    token: str
    person: Person
    point: ExtensionPoint
    drop: str = ""

    @property
    def kind(self) -> Kind:
        """Return what they want."""
        return self.point.kind

    @property
    def body(self) -> str:
        """Return the words by which they want it."""
        return f"{self.token} {self.kind}"


@dataclass(frozen=True, slots=True)
class ExtensionFate:
    """What became of it."""

    plan: ExtensionPlan
    met: bool
    came: str

    @property
    def well(self) -> bool:
        """Return whether it is as expected."""
        return self.met and self.came in self.plan.point.expected


def make_plans(
    harness: Harness, points: Sequence[ExtensionPoint], mutations: Sequence[ExtensionMutation]
) -> list[ExtensionPlan]:
    """Make a plan for each point, and for each removed write; each has a person of its own."""
    wanted = [(point, "") for point in points] + [(mutation.point, mutation.drop) for mutation in mutations]
    plans: list[ExtensionPlan] = []
    for person, (point, drop) in zip(harness.people[: len(wanted)], wanted, strict=True):
        token = harness.token(person.key)
        plans.append(ExtensionPlan(f"plan-{token}", token, person, point, drop))
    return plans


def judge(result: Result, fates: Sequence[ExtensionFate]) -> None:
    """Note what is not as expected, and how many are."""
    points = [fate for fate in fates if not fate.plan.drop]
    removed = [fate for fate in fates if fate.plan.drop]
    for fate in points:
        where = f"{fate.plan.point.name} of {fate.plan.kind}"
        result.require(fate.well, f"{where}: {fate.came}{'' if fate.met else ', never met'}")
    for fate in removed:
        result.require(fate.met and not fate.well, f"without {fate.plan.drop} nobody noticed: {fate.came}")
    for kind in Kind:
        of_kind = [fate for fate in points if fate.plan.kind is kind]
        if of_kind:
            result.numbers[f"points of {_NAMES[kind]}"] = f"{sum(fate.well for fate in of_kind)} of {len(of_kind)}"
    result.numbers |= {
        "points in all": f"{sum(fate.well for fate in points)} of {len(points)}",
        "removed writes noticed": f"{sum(not fate.well for fate in removed)} of {len(removed)}",
    }


_NAMES = {
    Kind.SOCKET: "an app on a plugin's channel",
    Kind.PRESSED: "a card pressed there",
    Kind.SENSOR: "a plugin's service",
    Kind.STOPPED: "its stop",
    Kind.SKILL: "a skill of the operator's",
    Kind.OWN_SKILL: "a skill of the person's own",
    Kind.ASKED: "questions that are asked",
    Kind.CHOSEN: "questions answered by buttons",
    Kind.TYPED: "questions answered by numbers",
    Kind.FIELD: "an agent's fields with choices",
    Kind.PROGRAM: "a program that asks over HTTP",
    Kind.PIPES: "a program that asks over pipes",
    Kind.CONSENT: "a program's request that needs consent",
}
