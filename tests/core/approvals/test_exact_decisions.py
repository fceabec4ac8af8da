"""The approvals that an exact word means, and the decision if it means none or several (promise 9)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.approvals.exact_decisions import MOST_DECIDED, MOST_LISTED, WordRuling, decide_exact, meant_approvals
from core.approvals.exact_replies import ExactReply, Verb, parse_exact_reply
from core.approvals.facts import ApprovalFacts, WordFacts
from core.approvals.types import ApprovalState
from tests.core.approvals.test_decisions import FACTS, NOW
from tests.decision_table import Table

LAST = replace(FACTS, id="last", last=True)
HERE = replace(FACTS, id="here")
RISKY = replace(FACTS, id="risky", high_risk=True)
OVER = replace(FACTS, id="over", state=ApprovalState.EXPIRED)
CARDS: dict[str, tuple[ApprovalFacts, ...]] = {
    "none": (),
    "last": (LAST,),
    "two": (LAST, replace(LAST, id="more")),
    "here": (HERE,),
    "risky": (RISKY,),
    "mixed": (HERE, RISKY, LAST),
}
"""The cards that wait in the conversation."""
BARE = Table(
    {"word": ["OK", "NO"], "channel": ["any", "codes"], "cards": list(CARDS)},
    """
*   *      none|here|risky  -           -
*   codes  last             needs_code  last
*   codes  two              needs_code  last,more
*   codes  mixed            needs_code  here,last
*   any    two              needs_code  last,more
OK  any    last|mixed       approve     last
NO  any    last|mixed       cancel      last
""",
)
ALL_WORDS = Table(
    {"word": ["OK", "NO"], "channel": ["any", "codes"], "cards": list(CARDS)},
    """
*   *      none    -           -
*   codes  here    needs_code  here
*   codes  last    needs_code  last
*   codes  two     needs_code  last,more
*   codes  mixed   needs_code  here,last
*   *      risky   -           -
OK  any    here    approve     here
OK  any    last    approve     last
OK  any    two     approve     last,more
OK  any    mixed   approve     here,last
NO  any    here    cancel      here
NO  any    last    cancel      last
NO  any    two     cancel      last,more
NO  any    mixed   cancel      here,last
""",
)
CODED = Table(
    {
        "word": ["OK", "NO", "SNOOZE", "EDIT"],
        "code": ["7K", "22"],
        "found": ["open", "over", "none"],
        "wrong": ["4", "5"],
        "warned": ["yes", "no"],
    },
    # The results: the outcome, the approvals of the reply, and the code in it.
    """
EDIT    7K  open  *  *    -                -     -
EDIT    7K  over  *  *    already_expired  over  -
EDIT    7K  none  *  *    no_code          -     7K
EDIT    22  open  *  *    -                -     -
EDIT    22  over  *  *    already_expired  over  -
EDIT    22  none  *  *    -                -     -
*       *   *     5  yes  guessed          -     -
*       *   *     5  no   guessed          -     said
*       *   over  4  *    already_expired  over  -
OK      *   open  4  *    approve          here  -
NO      *   open  4  *    cancel           here  -
SNOOZE  *   open  4  *    snooze           here  -
*       7K  none  4  *    no_code          -     7K
*       22  none  4  *    -                -     -
""",
)
VERBS = {"OK": Verb.APPROVE, "NO": Verb.CANCEL, "SNOOZE": Verb.SNOOZE, "EDIT": Verb.EDIT}


def decided(word: ExactReply, facts: WordFacts, *, codes_only: bool = False) -> WordRuling:
    return decide_exact(word, facts, "111111", "slack", NOW, codes_only=codes_only)


def ids_of(ruling: WordRuling) -> str:
    return ",".join(one.approval_id for one in ruling.about) or "-"


def test_promise_9_a_bare_word_decides_as_the_table_says() -> None:
    for case, expected in BARE.cases():
        word = ExactReply(VERBS[case["word"]])
        ruling = decided(word, WordFacts("", CARDS[case["cards"]]), codes_only=case["channel"] == "codes")
        assert (ruling.outcome or "-", ids_of(ruling)) == expected, case
        assert ruling.code is None
    assert BARE.unused() == []


def test_promise_9_a_word_for_all_decides_as_the_table_says() -> None:
    for case, expected in ALL_WORDS.cases():
        word = ExactReply(VERBS[case["word"]], "ALL")
        ruling = decided(word, WordFacts("ALL", CARDS[case["cards"]]), codes_only=case["channel"] == "codes")
        if expected == ("-", "-"):
            assert (ruling.outcome, ruling.code, ruling.about) == ("nothing", "ALL", ()), case
        else:
            assert (ruling.outcome, ids_of(ruling)) == expected, case
    assert ALL_WORDS.unused() == []


def test_promise_9_a_word_with_a_code_decides_as_the_table_says() -> None:
    found = {"open": (HERE,), "over": (OVER,), "none": ()}
    for case, expected in CODED.cases():
        facts = WordFacts(case["code"], found[case["found"]], int(case["wrong"]), warned=case["warned"] == "yes")
        for codes_only in (False, True):
            ruling = decided(ExactReply(VERBS[case["word"]], case["code"]), facts, codes_only=codes_only)
            code = {None: "-", "": "said"}.get(ruling.code, ruling.code)
            assert (ruling.outcome or "-", ids_of(ruling), code) == expected, case
    assert CODED.unused() == []


@pytest.mark.parametrize("codes_only", [False, True])
def test_a_bare_word_in_reply_decides_about_that_card(codes_only: bool) -> None:
    answered = WordFacts("7K", (HERE,), wrong_codes=9)
    assert ids_of(decided(ExactReply(Verb.APPROVE), answered, codes_only=codes_only)) == "here"
    assert decided(ExactReply(Verb.APPROVE), WordFacts("-", ()), codes_only=codes_only).outcome is None


def test_promise_9_all_covers_no_high_risk_and_has_an_end() -> None:
    many = tuple(replace(FACTS, id=str(n), high_risk=n % 2 == 0) for n in range(2 * MOST_DECIDED + 20))
    assert {one.high_risk for one in meant_approvals(WordFacts("ALL", many))} == {False}
    assert len(decided(ExactReply(Verb.CANCEL, "ALL"), WordFacts("ALL", many)).about) == MOST_DECIDED
    assert len(decided(ExactReply(Verb.CANCEL, "ALL"), WordFacts("ALL", many), codes_only=True).about) == MOST_LISTED


def test_promise_9_each_approval_of_a_word_is_decided_by_itself() -> None:
    gone = replace(HERE, id="gone", expires_at=NOW - timedelta(seconds=1))
    ruling = decided(ExactReply(Verb.APPROVE, "ALL"), WordFacts("ALL", (gone, HERE)))
    assert [(one.approval_id, one.outcome.value) for one in ruling.about] == [("gone", "expired"), ("here", "approve")]


def test_the_number_of_a_word_goes_into_the_write() -> None:
    word = parse_exact_reply("OK 7K 123456")
    assert word is not None
    written = WordRuling().to_json(word, "111111")
    assert (written["given"], written["fresh"]) == ("123456", "111111")
