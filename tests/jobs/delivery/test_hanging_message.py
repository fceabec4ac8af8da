"""A message that blocks its worker again and again does not block all others."""

from core.replies import MISSING
from jobs.delivery.runner import MAX_HANGS
from jobs.reports import HANGS
from tests.core.harness import Store
from tests.jobs.delivery.test_runner import deliver
from tests.jobs.harness import RecordingChannel


async def test_promise_6_a_message_that_hung_three_workers_is_given_up(store: Store) -> None:
    await store.enqueue("hangs", "well")
    channel = RecordingChannel()
    for number in range(MAX_HANGS):
        claim = await store.outbox.claim(None, f"w{number}/run_1")
        assert claim is not None
        await store.turns.end_leases(f"w{number}", claim.outbound_id)
    await deliver(store, channel)
    assert channel.texts == [f"well\n\n{MISSING}"]
    rows = await store.admin.fetch("select state, reason from outbound order by seq")
    assert [tuple(row) for row in rows] == [("failed", HANGS), ("sent", "")]


async def test_a_message_that_was_only_in_flight_when_its_worker_hung_is_sent(store: Store) -> None:
    await store.enqueue("well")
    channel = RecordingChannel()
    for number in range(MAX_HANGS):
        assert await store.outbox.claim(None, f"w{number}/run_1") is not None
        await store.turns.end_leases(f"w{number}", "")
    await deliver(store, channel)
    assert channel.texts == ["well"]
