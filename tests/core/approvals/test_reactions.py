"""The decision by a reaction, over all combinations of what it depends on (promise 9)."""

from dataclasses import replace

import pytest

from core.approvals.decisions import decide_press
from core.approvals.exact_replies import Verb
from core.approvals.facts import PressFacts, Shown
from core.approvals.outcomes import DecisionOutcome
from core.approvals.reactions import ReactedCard, decide_reaction, read_reactions
from tests.core.approvals.test_decisions import EXPIRY, FACTS, NOW, STATES, facts_of, shown_as
from tests.decision_table import Table

GIVEN = ReactedCard(taken_back=False, at_end=True, names_code=True, redrawn=True)
REACTIONS = Table(
    {
        "back": ["given", "back"],
        "state": STATES,
        "expiry": list(EXPIRY),
        "turn": ["open", "over"],
        "seal": ["whole", "broken"],
        "verb": ["approve", "cancel"],
        "shown": [shown.value for shown in Shown],
        "risk": ["high", "-"],
        "code": ["named", "-"],
    },
    """
back   *          *    *    *      *        *      *     *      taken_back         -          -
given  approved   *    *    *      *        *      *     *      already_approved   -          -
given  cancelled  *    *    *      *        *      *     *      already_cancelled  -          -
given  expired    *    *    *      *        *      *     *      already_expired    -          -
given  replaced   *    *    *      *        *      *     *      replaced           -          -
given  pending    now  *    *      *        *      *     *      expired            -          -
given  pending    *    over *      *        *      *     *      over               -          -
given  pending    *    open broken approve  *      *     *      altered            -          -
given  pending    *    open *      *        *      high  *      needs_press        -          -
given  pending    *    open *      *        *      -     -      needs_code         -          -
given  pending    *    open *      cancel   *      -     named  cancel             cancelled  reaction
given  pending    *    open whole  approve  whole  -     named  approve            approved   reaction
given  pending    *    open whole  approve  *      -     named  not_whole          -          -
""",
)


def test_promise_9_a_reaction_decides_as_the_table_says() -> None:
    for case, expected in REACTIONS.cases():
        facts, verb = facts_of(case), Verb(case["verb"])
        card = replace(GIVEN, taken_back=case["back"] == "back", names_code=case["code"] == "named")
        ruling = decide_reaction(PressFacts(True, facts), verb, card, NOW)
        assert shown_as(ruling) == expected, case
        assert ruling.gesture == "reaction"
        # What a reaction decides, a press decides too.
        if ruling.state:
            assert ruling.state is decide_press(facts, verb, None, NOW, has_forms=True).state
    assert REACTIONS.unused() == []


def test_its_answer_is_a_message_unless_the_card_itself_shows_it() -> None:
    for redrawn, told in ((True, False), (False, True)):
        card = replace(GIVEN, redrawn=redrawn)
        assert decide_reaction(PressFacts(True, FACTS), Verb.APPROVE, card, NOW).told is told
    risky = PressFacts(True, replace(FACTS, high_risk=True))
    assert decide_reaction(risky, Verb.APPROVE, GIVEN, NOW).told


@pytest.mark.parametrize(("how", "told"), [("reaction", True), ("button", False), ("", False)])
def test_taking_it_back_is_told_only_of_what_it_decided(how: str, told: bool) -> None:
    card = replace(GIVEN, taken_back=True, decided_how=how)
    assert decide_reaction(PressFacts(True, FACTS), Verb.APPROVE, card, NOW).told is told


@pytest.mark.parametrize(("known", "outcome"), [(True, DecisionOutcome.NOT_YOURS), (False, DecisionOutcome.UNKNOWN)])
def test_promise_9_nobody_else_decides(known: bool, outcome: DecisionOutcome) -> None:
    ruling = decide_reaction(PressFacts(known, None), Verb.APPROVE, GIVEN, NOW)
    assert (ruling.outcome, ruling.state, ruling.told) == (outcome, None, False)


@pytest.mark.parametrize(
    ("added", "removed", "verb", "taken_back"),
    [
        (("👍",), (), Verb.APPROVE, False),
        (("👎",), ("👍",), Verb.CANCEL, False),
        (("👍", "👎"), (), None, False),
        (("❤", "👍"), (), Verb.APPROVE, False),
        ((), ("👍",), Verb.APPROVE, True),
        (("❤",), ("👍",), Verb.APPROVE, True),
        ((), ("👍", "👎"), None, True),
        (("❤",), (), None, True),
        ((), (), None, True),
    ],
)
def test_a_change_of_reactions_has_a_verb(
    added: tuple[str, ...], removed: tuple[str, ...], verb: Verb | None, taken_back: bool
) -> None:
    assert read_reactions(added, removed) == (verb, taken_back)
