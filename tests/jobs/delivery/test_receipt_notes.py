"""Promise 7: a receipt that its worker could not write down outlives the worker where Redis has a note of it."""

import asyncio
import json
import random

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from core.messaging.channels import Receipt, Target
from jobs.delivery.receipt_notes import ReceiptNotes
from jobs.delivery.runner import DeliveryRunner
from tests.core.harness import Store
from tests.eventually import eventually
from tests.jobs.delivery.test_runner import states
from tests.jobs.harness import RecordingChannel
from tests.patience import PATIENCE

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def blind() -> RecordingChannel:
    """Return a channel that cannot be asked and sends again what is unknown, as Telegram does."""
    return RecordingChannel(can_find=False, resend_unknown=True)


def runner(store: Store, channel: RecordingChannel, name: str, notes: ReceiptNotes) -> DeliveryRunner:
    return DeliveryRunner(store.outbox, {"sms": channel}, name, random.Random(1), notes=notes)


async def die_with_the_receipt(
    store: Store, channel: RecordingChannel, notes: ReceiptNotes, *, noted: bool = True
) -> None:
    """Let a worker send the message, and die while the database takes no receipt."""
    away = store.admin.transaction()

    async def take_away(to: Target) -> None:
        await away.start()
        await store.admin.execute("lock table deliveries in share row exclusive mode")

    channel.acts.append(take_away)
    dying = runner(store, channel, "dying", notes)
    claim = await dying.claim(None)
    assert claim is not None
    with capture_logs() as logs:
        sending = asyncio.create_task(dying.run(claim))
        async with asyncio.timeout(PATIENCE):
            await channel.called.wait()
        [(ref, _)] = channel.calls
        if noted:
            await eventually(lambda: notes.find(ref), "the note")
        else:
            await eventually(lambda: "receipt_not_noted" in [line["event"] for line in logs])
    sending.cancel()
    await asyncio.wait({sending})
    await away.rollback()
    assert (await states(store))[0] == "sending"
    await store.admin.execute(
        "update outbound set lease_until = clock_timestamp() - interval '1 s';"
        "update deliveries set started_at = started_at - interval '1 minute'"
    )


async def send_the_rest(store: Store, channel: RecordingChannel, notes: ReceiptNotes) -> None:
    """Let another worker send what it finds."""
    other = runner(store, channel, "other", notes)
    while claim := await other.claim(None):
        await other.run(claim)
    await store.make_due()
    while claim := await other.claim(None):
        await other.run(claim)


async def test_promise_7_what_was_noted_is_not_sent_again(
    store: Store, redis_url: str, blind: RecordingChannel
) -> None:
    notes = ReceiptNotes(redis_url)
    await store.enqueue("a", "b")
    await die_with_the_receipt(store, blind, notes)
    await send_the_rest(store, blind, notes)
    assert blind.texts == ["a", "b"]
    assert await states(store) == ["sent", "sent"]
    assert await store.db.deliveries.column("outcome", order="started_at") == ["found", "accepted"]
    await notes.close()


async def test_promise_7_without_redis_the_outcome_is_unknown_as_before(store: Store, blind: RecordingChannel) -> None:
    notes = ReceiptNotes(NOWHERE)
    await store.enqueue("a")
    await die_with_the_receipt(store, blind, notes, noted=False)
    await send_the_rest(store, blind, notes)
    assert blind.texts == ["a", "a"]
    await notes.close()


async def test_what_is_written_in_time_is_not_noted(store: Store, redis_url: str, blind: RecordingChannel) -> None:
    notes = ReceiptNotes(redis_url)
    await store.enqueue("a")
    await send_the_rest(store, blind, notes)
    assert "receipt note" not in {task.get_name() for task in asyncio.all_tasks()}, "nothing is left to note it"
    async with Redis.from_url(redis_url) as redis:
        assert await redis.keys("*") == []
    await notes.close()


@pytest.mark.parametrize("note", ["", "nonsense", "[]", "{}", json.dumps({"provider_id": "1", "more": 2})])
async def test_a_note_that_cannot_be_read_is_none(redis_url: str, note: str) -> None:
    notes = ReceiptNotes(redis_url)
    async with Redis.from_url(redis_url) as redis:
        await redis.set("onevalet:receipt:r1", note)
    assert await notes.find("r1") is None
    async with notes.while_written("r1", Receipt("7", moved_to="8")):
        await eventually(lambda: notes.find("r1"), "a note that can be read")
    assert await notes.find("r1") == Receipt("7", moved_to="8")
    await notes.close()
