"""Confirmation numbers: senders can be forged, so high risk takes a number that only its owner can read. Pure.

A text proves a number that can be forged, and a mail a domain, but not its writer.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from core.approvals.facts import Confirmation
from core.approvals.outcomes import DecisionOutcome

FORGEABLE = frozenset({"sms", "email"})
"""The channels whose senders can be forged."""
VALID_FOR = timedelta(minutes=10)
MOST_TRIES = 5
"""Tries of a number."""
MOST_TRIES_IN_ALL = 10
"""Tries of all numbers of an approval."""
MOST_NUMBERS = 3
"""Numbers that are sent for an approval."""

type Verdict = Literal[DecisionOutcome.CONFIRM, DecisionOutcome.WRONG_NUMBER, DecisionOutcome.TOO_MANY_TRIES]


@dataclass(frozen=True, slots=True)
class Checked:
    """The check of a number. `verdict`: None if it fits. `after`: the state to store, None if it stays as it was."""

    verdict: Verdict | None
    after: Confirmation | None


def check_number(approval_id: str, known: Confirmation, given: str, fresh: str, now: datetime) -> Checked:
    """Check the number that was written with an approval, "" if none was. `fresh`: the number to send otherwise."""
    if given and known.hash is not None and known.until is not None and known.until > now:
        tried = replace(known, tries=known.tries + 1)
        if known.tries >= MOST_TRIES:
            return Checked(DecisionOutcome.TOO_MANY_TRIES, replace(tried, hash=None))
        fits = known.hash == number_hash(approval_id, given)
        return Checked(None if fits else DecisionOutcome.WRONG_NUMBER, tried)
    if known.sent >= MOST_NUMBERS or known.tries >= MOST_TRIES_IN_ALL:
        return Checked(DecisionOutcome.TOO_MANY_TRIES, None)
    # Tries of an earlier number that was used up count on.
    tries = known.tries if known.tries > MOST_TRIES else 0
    sent = Confirmation(number_hash(approval_id, fresh), now + VALID_FOR, tries, known.sent + 1)
    return Checked(DecisionOutcome.CONFIRM, sent)


def number_hash(approval_id: str, number: str) -> str:
    """Return the stored form of a number, which fits its approval only."""
    return hashlib.sha256(f"{approval_id}:{number}".encode()).hexdigest()
