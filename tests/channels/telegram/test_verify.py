"""The proof of Telegram's origin: total, and true for the one secret only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.telegram.verify import is_secret

SECRET = "secret-of-the-webhook"


@given(st.one_of(st.none(), st.text(st.characters(exclude_categories=()), max_size=40)))
def test_promise_12_only_the_secret_is_the_secret(token: str | None) -> None:
    assert is_secret(SECRET, token) is (token == SECRET)


@pytest.mark.parametrize("token", [None, "", SECRET])
def test_promise_12_without_a_secret_nothing_is_proven(token: str | None) -> None:
    assert not is_secret("", token)


def test_bytes_of_a_header_that_are_no_text_prove_nothing() -> None:
    assert not is_secret(SECRET, b"\xff\xfe".decode("utf-8", "surrogateescape"))
