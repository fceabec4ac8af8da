"""The number that confirms an approval of high risk, over all combinations of what it depends on."""

from datetime import UTC, datetime, timedelta

from core.approvals.confirmation import VALID_FOR, Checked, check_number, number_hash
from core.approvals.facts import Confirmation
from tests.decision_table import Table

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
FRESH = "111111"
GIVEN = {"none": "", "fits": "123456", "wrong": "654321"}
UNTIL = {"later": timedelta(seconds=1), "over": timedelta()}
NUMBERS = Table(
    {
        "given": list(GIVEN),
        "open": ["-", *UNTIL],
        "tries": ["0", "4", "5", "6", "9", "10", "11"],
        "sent": ["0", "1", "2", "3"],
    },
    # The results: what is said, the number that is open afterwards, its tries, and the numbers sent.
    """
fits   later  0|4           *      go        same  +1    same
wrong  later  0|4           *      wrong     same  +1    same
fits   later  *             *      too_many  none  +1    same
wrong  later  *             *      too_many  none  +1    same
*      *      10|11         *      too_many  same  same  same
*      *      *             3      too_many  same  same  same
*      *      0|4|5         0|1|2  confirm   fresh 0     +1
*      *      6|9           0|1|2  confirm   fresh same  +1
""",
)


def test_promise_9_a_number_counts_as_the_table_says() -> None:
    for case, (said, number, tries, sent) in NUMBERS.cases():
        until = None if case["open"] == "-" else NOW + UNTIL[case["open"]]
        hashed = None if case["open"] == "-" else number_hash("apr", GIVEN["fits"])
        known = Confirmation(hashed, until, int(case["tries"]), int(case["sent"]))
        checked = check_number("apr", known, GIVEN[case["given"]], FRESH, NOW)
        after = checked.after or known
        assert (checked.verdict.value if checked.verdict else "go") == said, case
        hashes = {"same": known.hash, "none": None, "fresh": number_hash("apr", FRESH)}
        assert after.hash == hashes[number], case
        assert after.tries == {"same": known.tries, "+1": known.tries + 1, "0": 0}[tries], case
        assert after.sent == known.sent + (sent == "+1"), case
        assert after.until == (NOW + VALID_FOR if number == "fresh" else known.until)
    assert NUMBERS.unused() == []


def test_promise_9_a_number_fits_its_own_approval_only() -> None:
    other = Confirmation(number_hash("another", "123456"), NOW + VALID_FOR, 0, 1)
    assert check_number("apr", other, "123456", FRESH, NOW) != Checked(None, None)
    assert check_number("apr", other, "123456", FRESH, NOW).verdict is not None
