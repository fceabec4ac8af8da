"""The decision about an approval, over all combinations of what it depends on (promise 9)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.approvals.confirmation import number_hash
from core.approvals.decisions import Ruling, decide_any_press, decide_press, decide_said, decide_word
from core.approvals.exact_replies import ExactReply, Verb
from core.approvals.facts import ApprovalFacts, CardFacts, Confirmation, PressFacts, Shown
from core.approvals.outcomes import DecisionOutcome
from core.approvals.types import ApprovalState
from core.json_types import JsonObject
from tests.decision_table import Case, Table

NOW = datetime(2026, 11, 21, 12, 0, 0, 5, tzinfo=UTC)
SENT = CardFacts(sent=True, parts=1, arrived=1, called=True, last_called=False)
FACTS = ApprovalFacts(
    id="apr",
    state=ApprovalState.PENDING,
    high_risk=False,
    editable=True,
    expires_at=None,
    timeout=timedelta(minutes=30),
    intact=True,
    turn_open=True,
    decided_in="",
    confirmation=Confirmation(number_hash("apr", "123456"), NOW + timedelta(minutes=1), tries=0, sent=1),
    cards=(SENT,),
)
CHANGES: JsonObject = {"to": "ben"}
STATES = [state.value for state in ApprovalState]
EXPIRY = {"none": None, "later": timedelta(minutes=30), "soon": timedelta(minutes=2), "now": timedelta()}
CARDS = {
    Shown.WHOLE: (SENT,),
    Shown.NOT_WHOLE: (replace(SENT, parts=2, called=True),),
    Shown.NOT_SENT: (replace(SENT, sent=False, arrived=0, called=False),),
}
NUMBERS = {"-": None, "fits": "123456", "wrong": "654321"}

PRESSES = Table(
    {
        "state": STATES,
        "expiry": list(EXPIRY),
        "turn": ["open", "over"],
        "seal": ["whole", "broken"],
        "verb": [verb.value for verb in Verb],
        "shown": [shown.value for shown in Shown],
        "edit": ["free", "fixed"],
        "form": ["sent", "opens", "-"],
    },
    """
approved   *    *    *       *        *      *      *      already_approved   -          -
cancelled  *    *    *       *        *      *      *      already_cancelled  -          -
expired    *    *    *       *        *      *      *      already_expired    -          -
replaced   *    *    *       *        *      *      *      replaced           -          -
pending    now  *    *       *        *      *      *      expired            -          -
pending    *    over *       *        *      *      *      over               -          -
pending    *    open *       details  *      *      *      details            -          -
pending    *    open *       cancel   *      *      sent   cancel             cancelled  form
pending    *    open *       cancel   *      *      *      cancel             cancelled  button
pending    *    open broken  *        *      *      *      altered            -          -
pending    *    open whole   approve  whole  *      sent   approve            approved   form
pending    *    open whole   approve  whole  *      *      approve            approved   button
pending    *    open whole   approve  *      *      *      not_whole          -          -
pending    *    open whole   edit     *      fixed  *      not_editable       -          -
pending    *    open whole   edit     *      free   sent   edit               replaced   form
pending    *    open whole   edit     *      free   opens  edit               -          -
pending    *    open whole   edit     *      free   -      ask_change         -          -
pending    *    open whole   snooze   *      *      *      pending            -          -
""",
)
WORDS = Table(
    {
        "state": STATES,
        "expiry": list(EXPIRY),
        "turn": ["open", "over"],
        "seal": ["whole", "broken"],
        "verb": ["approve", "cancel", "snooze", "edit"],
        "shown": [shown.value for shown in Shown],
        "risk": ["high", "-"],
        "channel": ["sms", "email", "slack", "telegram", "terminal"],
        "number": list(NUMBERS),
    },
    """
approved   *    *    *      *        *         *     *          *      already_approved   -          -
cancelled  *    *    *      *        *         *     *          *      already_cancelled  -          -
expired    *    *    *      *        *         *     *          *      already_expired    -          -
replaced   *    *    *      *        *         *     *          *      replaced           -          -
pending    now  *    *      *        *         *     *          *      expired            -          -
pending    *    over *      *        *         *     *          *      over               -          -
pending    *    open whole  edit     *         *     *          *      pending            -          -
pending    *    open broken approve  *         *     *          *      altered            -          -
pending    *    open broken snooze   *         *     *          *      altered            -          -
pending    *    open broken edit     *         *     *          *      altered            -          -
pending    *    open *      *        not_sent  *     *          *      not_sent           -          -
pending    *    open *      cancel   *         *     *          *      cancel             cancelled  code
pending    soon open whole  snooze   *         *     *          *      too_late           -          -
pending    *    open whole  snooze   *         *     *          *      snooze             -          -
pending    *    open whole  approve  not_whole *     *          *      not_whole          -          -
pending    *    open whole  approve  whole     high  sms|email  fits   approve            approved   code+number
pending    *    open whole  approve  whole     high  sms|email  wrong  wrong              -          wrong
pending    *    open whole  approve  whole     high  sms|email  -      confirm            -          confirm
pending    *    open whole  approve  whole     *     *          *      approve            approved   code
""",
)
SAYINGS = Table(
    {
        "state": STATES,
        "expiry": list(EXPIRY),
        "turn": ["open", "over"],
        "seal": ["whole", "broken"],
        "verb": ["approve", "cancel", "edit"],
        "decided_in": ["this", "another", "-"],
    },
    """
approved   *    *    *      approve  this  approve            -
approved   *    *    *      *        *     already_approved   -
cancelled  *    *    *      cancel   this  cancel             -
cancelled  *    *    *      *        *     already_cancelled  -
replaced   *    *    *      edit     this  edit               -
replaced   *    *    *      *        *     replaced           -
expired    *    *    *      *        *     already_expired    -
pending    now  *    *      *        *     expired            -
pending    *    over *      *        *     over               -
pending    *    open broken approve  *     altered            -
pending    *    open *      approve  *     approve            approved
pending    *    open *      cancel   *     cancel             cancelled
pending    *    open *      edit     *     edit               replaced
""",
)


def facts_of(case: Case) -> ApprovalFacts:
    """Return the facts that a case names."""
    ends_in = EXPIRY[case["expiry"]]
    return replace(
        FACTS,
        state=ApprovalState(case["state"]),
        expires_at=None if ends_in is None else NOW + ends_in,
        turn_open=case["turn"] == "open",
        intact=case["seal"] == "whole",
        cards=CARDS[Shown(case.get("shown", "whole"))],
        editable=case.get("edit") != "fixed",
        high_risk=case.get("risk") == "high",
    )


def shown_as(ruling: Ruling) -> tuple[str, str, str]:
    """Return a ruling in the words of the tables."""
    how = ruling.how.replace(" and ", "+") if ruling.state or ruling.audited == "confirm" else ""
    return ruling.outcome.value, ruling.state.value if ruling.state else "-", how or "-"


def test_promise_9_a_press_decides_as_the_table_says() -> None:
    for case, expected in PRESSES.cases():
        changes = CHANGES if case["form"] == "sent" else None
        ruling = decide_press(facts_of(case), Verb(case["verb"]), changes, NOW, has_forms=case["form"] == "opens")
        assert shown_as(ruling) == expected, case
        assert ruling.changes == (changes if ruling.state else None)
        assert ruling.starts == (bool(ruling.state) or expected[0] in ("edit", "ask_change"))
    assert PRESSES.unused() == []


def test_promise_9_an_exact_word_decides_as_the_table_says() -> None:
    for case, expected in WORDS.cases():
        word = ExactReply(Verb(case["verb"]), "7K", NUMBERS[case["number"]])
        ruling = decide_word(facts_of(case), word, "111111", case["channel"], NOW)
        assert shown_as(ruling) == expected, case
        assert (ruling.confirmation is not None) == (
            expected[0] in ("confirm", "wrong") or expected[2] == "code+number"
        )
        assert ruling.starts == (bool(ruling.state) or expected[0] in ("snooze", "too_late"))
    assert WORDS.unused() == []


def test_promise_9_what_is_said_decides_as_the_table_says() -> None:
    for case, expected in SAYINGS.cases():
        decided_in = {"this": "msg", "another": "msg before", "-": ""}[case["decided_in"]]
        facts = replace(facts_of(case), decided_in=decided_in)
        ruling = decide_said(facts, Verb(case["verb"]), "words", "msg", CHANGES, NOW)
        assert shown_as(ruling)[:2] == expected, case
    assert SAYINGS.unused() == []


def test_promise_9_what_names_no_message_is_no_repeat() -> None:
    decided = replace(FACTS, state=ApprovalState.APPROVED)
    assert decide_said(decided, Verb.APPROVE, "words", "", None, NOW).outcome is DecisionOutcome.ALREADY_APPROVED


def test_an_approval_that_is_not_there_is_not_decided() -> None:
    assert decide_said(None, Verb.APPROVE, "words", "msg", None, NOW).state is None


@pytest.mark.parametrize(("known", "outcome"), [(True, DecisionOutcome.NOT_YOURS), (False, DecisionOutcome.UNKNOWN)])
@pytest.mark.parametrize("verb", Verb)
def test_promise_9_nobody_else_decides(known: bool, outcome: DecisionOutcome, verb: Verb) -> None:
    ruling = decide_any_press(PressFacts(known, None), verb, CHANGES, NOW, has_forms=True)
    assert (ruling.outcome, ruling.state, ruling.how) == (outcome, None, verb.value)


def test_a_press_knows_how_its_approval_stood() -> None:
    pressed = decide_any_press(PressFacts(True, FACTS), Verb.APPROVE, None, NOW, has_forms=True)
    assert (pressed.outcome, pressed.stands) == (DecisionOutcome.APPROVED, DecisionOutcome.PENDING)


@pytest.mark.parametrize(
    ("cards", "pressed", "shown"),
    [
        ((), True, Shown.NOT_SENT),
        ((replace(SENT, sent=False, arrived=0, called=False),), True, Shown.NOT_SENT),
        # A card without parts has shown nothing.
        ((replace(SENT, parts=0, arrived=0, called=False),), True, Shown.NOT_WHOLE),
        # Its receipt is missing: whoever knows the code has read it, for there is only one part.
        ((replace(SENT, sent=False, arrived=0),), False, Shown.WHOLE),
        ((replace(SENT, parts=2, arrived=1),), False, Shown.NOT_WHOLE),
        ((replace(SENT, parts=2, arrived=1, last_called=True),), False, Shown.NOT_WHOLE),
        # Its button was pressed, so its last part is there.
        ((replace(SENT, parts=2, arrived=1, last_called=True),), True, Shown.WHOLE),
        ((replace(SENT, parts=3, arrived=1, last_called=True),), True, Shown.NOT_WHOLE),
        ((replace(SENT, parts=2, arrived=1), SENT), False, Shown.WHOLE),
    ],
)
def test_promise_9_a_card_that_was_not_read_is_not_whole(
    cards: tuple[CardFacts, ...], pressed: bool, shown: Shown
) -> None:
    assert replace(FACTS, cards=cards).shown(pressed=pressed) is shown


@pytest.mark.parametrize(
    ("expiry", "snooze", "remind_in"),
    [
        (timedelta(minutes=30), timedelta(minutes=10), timedelta(minutes=10)),
        (timedelta(minutes=30), timedelta(hours=2), timedelta(minutes=29)),
        (timedelta(minutes=2, seconds=1), timedelta(minutes=10), timedelta(minutes=1, seconds=1)),
        # No card was acknowledged yet: its time of 30 minutes, in whole seconds, runs from here.
        (None, timedelta(hours=2), timedelta(minutes=29) - timedelta(microseconds=5)),
    ],
)
def test_a_snooze_reminds_later_but_before_the_expiry(
    expiry: timedelta | None, snooze: timedelta, remind_in: timedelta
) -> None:
    facts = replace(FACTS, expires_at=None if expiry is None else NOW + expiry)
    ruling = decide_word(facts, ExactReply(Verb.SNOOZE, "7K", snooze=snooze), "", "sms", NOW)
    assert ruling.remind_at == NOW + remind_in
