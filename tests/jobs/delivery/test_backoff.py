"""When a delivery is tried again, and when it never is."""

import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import (
    Ambiguous,
    CredentialsRejected,
    DeliveryError,
    OptedOut,
    RateLimited,
    Rejected,
    Unavailable,
    Unreachable,
)
from jobs.delivery.backoff import CHECK_AFTER, FIRST, GIVE_UP_AFTER, LONGEST, MAX_WAIT, backoff, fate

YOUNG = timedelta(minutes=1)


@given(st.integers(1, 10_000), st.integers())
def test_pauses_double_up_to_the_longest_and_half_of_each_is_chance(attempt: int, seed: int) -> None:
    longest = min(LONGEST, FIRST * 2 ** min(attempt - 1, 100))
    assert longest / 2 <= backoff(attempt, random.Random(seed)).total_seconds() <= longest


@given(st.floats(0, 7 * 86_400), st.integers(1, 50), st.integers())
def test_i10_a_retry_after_of_up_to_an_hour_is_never_undercut(seconds: float, attempt: int, seed: int) -> None:
    asked = min(timedelta(seconds=seconds), MAX_WAIT)
    end = fate(RateLimited("x", "20429", asked), attempt, YOUNG, random.Random(seed))
    assert (end.state, end.error_code) == ("ready", "20429")
    assert asked <= end.delay <= asked + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("error", "state", "identity"),
    [
        (Unavailable("x"), "ready", None),
        (RateLimited("x"), "ready", None),
        (Ambiguous("x"), "checking", None),
        (Rejected("x"), "failed", None),
        (CredentialsRejected("x"), "failed", None),
        (Unreachable("x"), "failed", "blocked"),
        (OptedOut("x", "21610"), "failed", "stopped"),
    ],
)
def test_promise_8_each_error_has_its_fate(error: DeliveryError, state: str, identity: str | None) -> None:
    end = fate(error, 1, YOUNG, random.Random(1))
    assert (end.state, end.identity_state, end.error_code) == (state, identity, error.code)


@pytest.mark.parametrize("error", [Unavailable("x"), RateLimited("x", "", timedelta(1)), Ambiguous("x")])
def test_everything_has_an_end_after_a_day(error: DeliveryError) -> None:
    end = fate(error, 9, GIVE_UP_AFTER, random.Random(1))
    assert end.state == ("ambiguous" if isinstance(error, Ambiguous) else "failed")


def test_repeated_lost_answers_are_looked_up_ever_more_slowly() -> None:
    delays = [fate(Ambiguous("x"), n, YOUNG, random.Random(1)).delay for n in (1, 6, 12)]
    assert delays == sorted(delays)
    assert CHECK_AFTER == delays[0] < delays[2]
