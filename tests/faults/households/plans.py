"""Who is struck at which point, with whom they live, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.faults.households.points import Kind
from tests.faults.results import Result
from tests.faults.worded_plans import WordedFate, WordedPlan, count_noticed, count_well, require_worded
from workbench.simulator.config import Person

type HouseholdPlan = WordedPlan[Kind]
type HouseholdFate = WordedFate[Kind]


@dataclass(slots=True)
class Pair:
    """Two people of a plan: the one who acts, and the other; with their ids.

    `code`: of the invitation. `read`, `other_read`: how many texts each had before the process is struck.
    """

    actor: Person
    other: Person
    actor_id: str = ""
    other_id: str = ""
    code: str = ""
    read: int = 0
    other_read: int = 0


def judge(result: Result, fates: Sequence[HouseholdFate]) -> None:
    """Note what is not as expected, and how many are, of each kind and in all."""
    require_worded(result, fates)
    for kind in Kind:
        if of_kind := [fate for fate in fates if fate.plan.kind is kind and not fate.plan.drop]:
            result.numbers[f"points of {_NAMES[kind]}"] = count_well(of_kind)
    result.numbers |= {"points in all": count_well(fates), "removed writes noticed": count_noticed(fates)}


_NAMES = {
    Kind.INVITE: "an invitation",
    Kind.QUESTION: "a code that asks",
    Kind.JOIN: "joining",
    Kind.LEAVE: "leaving",
    Kind.REMOVE: "putting somebody out",
    Kind.FREE: "lifting a child's limits",
    Kind.ASK: "asking two",
    Kind.FIRST: "the other's first yes",
    Kind.LAST: "the other's last yes",
    Kind.NO: "the other's no",
}
