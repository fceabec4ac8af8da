"""Who is struck at which point, and what became of it."""

from collections.abc import Sequence

from tests.faults.extensions.points import Kind
from tests.faults.results import Result
from tests.faults.worded_plans import WordedFate, WordedPlan, count_noticed, count_well, require_worded

type ExtensionPlan = WordedPlan[Kind]
type ExtensionFate = WordedFate[Kind]


def judge(result: Result, fates: Sequence[ExtensionFate]) -> None:
    """Note what is not as expected, and how many are, of each kind and in all."""
    require_worded(result, fates)
    for kind in Kind:
        if of_kind := [fate for fate in fates if fate.plan.kind is kind and not fate.plan.drop]:
            result.numbers[f"points of {_NAMES[kind]}"] = count_well(of_kind)
    result.numbers |= {"points in all": count_well(fates), "removed writes noticed": count_noticed(fates)}


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
