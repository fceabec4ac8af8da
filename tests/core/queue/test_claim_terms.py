"""Which lanes a process may claim, over all combinations of its way with quarantined turns and of what it runs."""

from datetime import timedelta

from core.queue.quarantine import QuarantineMode, claim_terms
from tests.decision_table import Table

# The results: after how many seconds it may claim a quarantined turn's lane, and whether any other.
TERMS = Table(
    {
        "mode": [mode.value for mode in QuarantineMode],
        "begun": ["begun", "-"],
        "runs": ["idle", "busy"],
        "waits": ["long", "-"],
    },
    """
*      begun  *     *     -   -
only   -      *     *     0   no
take   -      idle  long  0   no
take   -      idle  -     0   yes
take   -      busy  long  10  no
take   -      busy  -     10  yes
leave  -      idle  *     10  yes
leave  -      busy  *     60  yes
""",
)


def test_promise_5_a_process_claims_lanes_as_the_table_says() -> None:
    for case, (patience, others) in TERMS.cases():
        facts = {"begun": case["begun"] == "begun", "idle": case["runs"] == "idle", "held_up": case["waits"] == "long"}
        terms = claim_terms(QuarantineMode(case["mode"]), facts)
        if patience == "-":
            assert terms is None, case
        else:
            assert terms is not None
            assert (terms.patience, terms.others) == (timedelta(seconds=int(patience)), others == "yes"), case
    assert TERMS.unused() == []


def test_a_private_process_claims_nothing_while_no_turn_is_quarantined() -> None:
    others = {mode: terms.others for mode in QuarantineMode if (terms := claim_terms(mode, None))}
    assert others == {QuarantineMode.TAKE: True, QuarantineMode.LEAVE: True, QuarantineMode.ONLY: False}
