"""The seal of an approval: one text for the same values, another for each that differs."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from core.approvals.seal import seal
from core.json_types import canonical_json

EXPIRY = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
CALL: dict[str, Any] = {"tenant_id": "t", "approver": "ann", "tool": "pay", "arguments": {"to": "bob", "amount": 5}}
ASKING = CALL | {"question": "Pay bob?", "state": {"step": 1}}


def test_promise_9_a_seal_opens_to_all_that_it_covers() -> None:
    shown = {"approver": "ann", "arguments": {"to": "bob", "amount": 5}, "tenant": "t", "tool": "pay"}
    expiry = {"expiry": "2026-11-23T08:00:00Z"}
    assert seal(**CALL).open(EXPIRY) == shown | expiry
    assert seal(**ASKING).open(EXPIRY) == shown | expiry | {"asks": "Pay bob?", "state": {"step": 1}}


@pytest.mark.parametrize("call", [CALL, ASKING])
def test_promise_9_a_seal_is_the_hash_of_its_canonical_values(call: dict[str, Any]) -> None:
    sealed = seal(**call)
    text = canonical_json(sealed.open(EXPIRY))
    assert json.loads(text) == sealed.open(EXPIRY)
    assert sealed.hash(EXPIRY) == hashlib.sha256(text.encode()).hexdigest()
    assert sealed.hash(EXPIRY.astimezone(ZoneInfo("Europe/Berlin"))) == sealed.hash(EXPIRY)
    assert sealed.hash(EXPIRY + timedelta(seconds=1)) != sealed.hash(EXPIRY)


@pytest.mark.parametrize("changed", [{"arguments": {"x": float("nan")}}, {"state": {"x": float("inf")}}])
def test_promise_9_what_is_no_json_is_never_sealed(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        seal(**ASKING | changed)
