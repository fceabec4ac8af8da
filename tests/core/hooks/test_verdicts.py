"""The verdict of all rules on a call: which goes before which, and that a rule which fails denies."""

from hypothesis import given
from hypothesis import strategies as st

from core.hooks.hooks import Decision, HookContext, Hooks, PlannedCall, Rule, Verdict


class Says(Rule):
    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
        return Verdict(self.decision, self.decision.value)


class Broken(Rule):
    async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
        raise KeyError("secret")


@given(st.lists(st.sampled_from(Decision), max_size=6))
async def test_deny_goes_before_approve_and_approve_before_allow_over_all_rules(decisions: list[Decision]) -> None:
    verdict = await Hooks(Says(decision) for decision in decisions).evaluate(
        HookContext("t", "t", "sms"), PlannedCall("c", "x", {})
    )
    strictest = next(
        (decision for decision in (Decision.DENY, Decision.APPROVE) if decision in decisions), Decision.ALLOW
    )
    assert verdict.decision is strictest


async def test_a_rule_that_fails_denies_regardless_of_the_others() -> None:
    verdict = await Hooks([Says(Decision.ALLOW), Broken()]).evaluate(
        HookContext("t", "t", "sms"), PlannedCall("c", "x", {})
    )
    assert verdict == Verdict(Decision.DENY, "A rule that guards this tool could not be checked.")
