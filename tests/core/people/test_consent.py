"""Consent in time: what was said earlier and found later changes nothing, and carriers' words are recorded."""

from datetime import UTC, datetime, timedelta

import pytest

from core.messaging.calls import PartEnd
from core.messaging.messages import ReachabilityChange, ReachabilityReason
from core.messaging.states import CallOutcome, IdentityState, SendState
from tests.core.people.harness import PHONE, Harness

ANN = "+15550000001"


@pytest.mark.parametrize("known", [True, False], ids=["somebody we know", "nobody we know"])
async def test_a_stop_that_a_sweep_finds_after_the_start_stops_nobody(harness: Harness, known: bool) -> None:
    now = datetime.now(UTC)
    if known:
        await harness.ask("hello", ANN)

    async def said(text: str, key: str, at: datetime | None = None) -> None:
        reason = ReachabilityReason.OPTED_IN if text == "START" else ReachabilityReason.OPTED_OUT
        await harness.store.inbox.accept(ReachabilityChange(*PHONE, ANN, text == "START", reason, (key,), "", at))

    async def state() -> object:
        return await harness.store.one("select coalesce((select state from find_consent('sms', $1, $2)), 'active')",
                                     PHONE[1], ANN)  # fmt: skip

    await said("STOP", "S0")
    await said("START", "S2")
    await said("STOP", "S1", now - timedelta(minutes=5))  # lost on its way, and found by a sweep
    assert await state() == "active"
    await said("STOP", "S3", now + timedelta(seconds=30))
    assert await state() == "stopped"
    await said("START", "S4", now - timedelta(minutes=1))  # from before that STOP
    assert await state() == "stopped"
    await said("START", "S5", now + timedelta(minutes=2))
    assert await state() == "active"


async def test_a_start_without_a_stop_still_outdates_an_earlier_stop(harness: Harness) -> None:
    await harness.ask("hello", ANN)
    now = datetime.now(UTC)
    await harness.store.inbox.accept(ReachabilityChange(*PHONE, ANN, True, ReachabilityReason.OPTED_IN, ("S2",)))
    await harness.store.inbox.accept(
        ReachabilityChange(
            *PHONE, ANN, False, ReachabilityReason.OPTED_OUT, ("S1",), said_at=now - timedelta(minutes=5)
        )
    )
    assert await harness.store.db.identities.one("state") == "active"


async def test_promise_8_a_carriers_confirmation_is_in_the_consent_record(harness: Harness) -> None:
    await harness.ask("hello", ANN)
    claim = await harness.store.claim_sending("hi")
    await harness.store.send(
        claim,
        end=PartEnd(SendState.FAILED, CallOutcome.REJECTED, error_code="21610", identity_state=IdentityState.OPTED_OUT),
    )
    assert [tuple(row) for row in await harness.store.admin.fetch("select state, how from consents")] == [
        ("stopped", "rejected 21610")
    ]
