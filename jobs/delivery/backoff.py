"""The retries of deliveries, the same for all channels."""

import random
from datetime import timedelta

from core.errors import Ambiguous, DeliveryError, OptedOut, RateLimited, Unreachable
from core.messaging.calls import PartEnd
from core.messaging.channels import Receipt
from core.messaging.states import CallOutcome, IdentityState, SendState

FIRST = 1.0
LONGEST = 300.0
GIVE_UP_AFTER = timedelta(hours=24)
CHECK_AFTER = timedelta(seconds=5)
"""The time to wait after a lost answer for a callback, and for the provider's list to be complete."""
RESEND_AFTER: tuple[timedelta, ...] = (
    timedelta(seconds=10),
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
)
"""Pauses before a part with an unknown outcome is sent again on a channel without a look-up. Each send may add a copy,
so there are few, spaced so that an outage of minutes costs no answer."""
MAX_WAIT = timedelta(hours=1)
"""The longest Retry-After that is obeyed. Providers' limits end within minutes; for a Retry-After of a day, the call is
tried again every hour."""


def backoff(attempt: int, chance: random.Random) -> timedelta:
    """Return the pause after the n-th attempt (from 1): doubling, at most five minutes, half of it random."""
    longest = min(LONGEST, FIRST * 2 ** min(attempt - 1, 20))
    return timedelta(seconds=longest * (0.5 + chance.random() / 2))


def resend_pause(unknown: int, chance: random.Random) -> timedelta:
    """Return the pause after a call with an unknown outcome; `unknown`: earlier such calls of the part."""
    if unknown >= len(RESEND_AFTER):
        return CHECK_AFTER
    return RESEND_AFTER[unknown] * (1 + chance.random() / 10)


def resend_patience(unknown: int) -> timedelta:
    """Return the age that the newest of `unknown` calls without an outcome must have before the part is sent again."""
    return RESEND_AFTER[min(unknown, len(RESEND_AFTER)) - 1]


def after_look_up(receipt: Receipt | None, unknown: int) -> PartEnd | None:
    """Return the end of a part that was looked up, or None if it is to be sent again.

    `unknown`: the number of its calls without an outcome, or 0 if the provider lists all that it accepted. If it may
    not, the number of copies stays small.
    """
    if receipt is not None:
        return PartEnd(SendState.SENT, CallOutcome.FOUND, receipt)
    if unknown > len(RESEND_AFTER):
        return PartEnd(SendState.AMBIGUOUS, CallOutcome.LEFT, reason="sent again and again, and never found")
    return None


def fate(
    error: DeliveryError, attempt: int, age: timedelta, chance: random.Random, pause: timedelta | None = None
) -> PartEnd:
    """Decide the next state of a part whose call failed. `pause` replaces the usual pause of an unknown outcome."""
    cause = type(error).__name__
    if isinstance(error, Ambiguous):
        if age >= GIVE_UP_AFTER:
            return PartEnd(
                SendState.AMBIGUOUS, CallOutcome.AMBIGUOUS, error_code=error.code, reason=f"gave up: {error}"
            )
        delay = pause or max(CHECK_AFTER, backoff(attempt, chance))
        return PartEnd(SendState.CHECKING, CallOutcome.AMBIGUOUS, error_code=error.code, reason=str(error), delay=delay)
    if error.retryable and age < GIVE_UP_AFTER:
        delay = backoff(attempt, chance)
        if isinstance(error, RateLimited) and error.retry_after is not None:
            # Never earlier than the provider asks; the jitter keeps workers from retrying at the same moment.
            delay = min(error.retry_after, MAX_WAIT) + timedelta(seconds=chance.random() * 0.25)
        return PartEnd(SendState.READY, CallOutcome.RETRY, error_code=error.code, reason=cause, delay=delay)
    state = None
    if isinstance(error, OptedOut):
        state = IdentityState.OPTED_OUT
    elif isinstance(error, Unreachable):
        state = IdentityState.BLOCKED
    outcome = CallOutcome.GAVE_UP if error.retryable else CallOutcome.REJECTED
    return PartEnd(SendState.FAILED, outcome, error_code=error.code, reason=f"{cause}: {error}", identity_state=state)
