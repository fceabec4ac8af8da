"""What is said of a decision: stored by key, and worded when it is sent."""

from datetime import UTC, datetime

import pytest

from core.approvals.outcomes import CardOutcome, DecisionOutcome, card_line, moment, said_of, toast
from core.json_types import JsonObject
from core.messaging.messages import Sentence

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
DECIDED: JsonObject = {
    "code": "7K",
    "summary": "mail *all*",
    "decided_on": "sms",
    "decided_at": "2026-11-20T23:30:00.5+00:00",
    "expires_at": "2026-11-21T12:30:00+00:00",
}


@pytest.mark.parametrize("outcome", DecisionOutcome)
def test_every_outcome_has_a_sentence_but_the_one_that_opens_a_form(outcome: DecisionOutcome) -> None:
    said = toast(outcome, DECIDED | {"number": "123456"}, "UTC", NOW)
    assert (said is None) == (outcome is DecisionOutcome.DETAILS)
    assert "{" not in (said or "")


def test_sentences_are_filled_in_a_line_each_as_markdown() -> None:
    stored = [Sentence("approve", DECIDED), Sentence("no_code", {"code": "8Z"})]
    assert said_of(stored, "UTC", NOW) == (
        r"Approved 7K: mail \*all\*." + "\nNothing waits under 8Z. PENDING lists what does."
    )


def test_a_toast_has_no_markup_and_is_short_for_what_was_just_decided() -> None:
    assert toast(DecisionOutcome.APPROVED, DECIDED, "UTC", NOW) == "Approved."
    assert "mail *all*" in (toast(DecisionOutcome.CONFIRM, DECIDED | {"number": "1"}, "UTC", NOW) or "")


@pytest.mark.parametrize(
    ("channel", "by"),
    [("sms", "by you by SMS"), ("", "by you"), ("operator", "by the operator"), ("slack", "by you on Slack")],
)
def test_a_late_press_learns_who_decided_and_when(channel: str, by: str) -> None:
    said = toast(DecisionOutcome.ALREADY_APPROVED, DECIDED | {"decided_on": channel}, "Europe/Berlin", NOW)
    assert said == f"7K was already approved {by} at 00:30."


def test_moments_have_their_date_unless_it_is_today_there() -> None:
    at = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
    assert moment(at, "Europe/Berlin", NOW) == "00:30"
    assert moment(at, "UTC", NOW) == "23:30 on 20 November"
    assert moment(at, "Nowhere/Gone", NOW) == "23:30 on 20 November"


@pytest.mark.parametrize("outcome", CardOutcome)
def test_a_decided_card_tells_what_was_decided_and_when(outcome: CardOutcome) -> None:
    line = card_line(outcome, NOW, "UTC", NOW)
    assert "12:00" in line
    assert line.endswith(".")
