"""A worker that was held up sends nothing twice: late calls do not leave, and answers that waited count (promise 7)."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from core.clock import within
from core.errors import StoreUnavailable
from core.messaging.calls import Begun, Rendered
from core.messaging.capabilities import Bill
from core.messaging.channels import Target
from core.messaging.due_messages import Claim, KeptPart
from core.messaging.outbox import Outbox
from jobs.delivery import provider_calls
from jobs.delivery.runner import DeliveryRunner
from tests.core.harness import Store
from tests.eventually import never
from tests.jobs.harness import RecordingChannel


class SlowOutbox(Outbox):
    """An outbox whose answer to a begun call the worker gets to read only when half of its lease is over."""

    passed = 0.0
    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def begin_delivery(
        self, claim: Claim, part: int, attempt: int, bill: Bill | None = None, *, uploads: bool = False
    ) -> Begun:
        begun = await super().begin_delivery(claim, part, attempt, bill, uploads=uploads)
        await self._held_up()
        return begun

    async def begin_rendered(
        self,
        claim: Claim,
        rendered: Rendered,
        attempt: int,
        bill: Bill | None = None,
    ) -> tuple[Begun, list[KeptPart]]:
        begun = await super().begin_rendered(claim, rendered, attempt, bill)
        await self._held_up()
        return begun

    async def _held_up(self) -> None:
        self.passed += self.lease.total_seconds() * 0.6
        if self.meanwhile is not None:
            await self.meanwhile()


async def run_one(sender: DeliveryRunner) -> None:
    claim = await sender.claim(None)
    assert claim is not None
    await sender.run(claim)


def sender_of(outbox: Outbox, channel: RecordingChannel, name: str = "d2", **more: Any) -> DeliveryRunner:
    return DeliveryRunner(outbox, {"sms": channel}, name, random.Random(1), **more)


@pytest.fixture
def slow(store: Store) -> SlowOutbox:
    return SlowOutbox(store.database, store.make_id, store.outbox.lease)


async def test_promise_7_call_that_might_outlive_its_lease_does_not_leave(store: Store, slow: SlowOutbox) -> None:
    channel = RecordingChannel()
    await store.enqueue("hi")
    await run_one(sender_of(slow, channel, "d1", elapsed=lambda: slow.passed))
    assert channel.texts == []
    assert await store.db.outbound.one("state") == "ready"
    await store.make_due()
    await run_one(sender_of(store.outbox, channel))
    assert channel.texts == ["hi"]
    assert channel.looked_up == []  # nothing was unknown


async def test_promise_7_row_taken_from_a_sender_that_was_held_up_is_sent_once(store: Store, slow: SlowOutbox) -> None:
    channel = RecordingChannel()
    await store.enqueue("hi")

    async def taken_over() -> None:
        await store.admin.execute(
            "update outbound set lease_until = clock_timestamp() - interval '1 s'; "
            "update deliveries set started_at = started_at - interval '20 s'"
        )
        await run_one(sender_of(store.outbox, channel))

    slow.meanwhile = taken_over
    await run_one(sender_of(slow, channel, "d1", elapsed=lambda: slow.passed))
    assert channel.texts == ["hi"]
    assert await store.db.outbound.one("state") == "sent"


async def test_database_that_goes_away_after_a_row_is_no_error_of_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = store.outbox
    await store.enqueue("first")
    await store.enqueue("second")
    await store.db.outbound.change({"hangs": 3}, text="first")  # given up without a call
    sender = sender_of(outbox, channel := RecordingChannel())
    claim = await sender.claim(None)
    assert claim is not None

    async def away(*_: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(outbox, "claim", away)
    await sender.run(claim)
    assert await store.db.outbound.column("state", order="seq") == ["failed", "ready"]
    monkeypatch.undo()
    await run_one(sender_of(store.outbox, channel))
    assert await store.db.outbound.column("state", order="seq") == ["failed", "sent"]


async def test_promise_7_answer_that_came_while_the_loop_was_held_up_counts(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_calls, "SEND_TIMEOUT", 1.0)
    channel = RecordingChannel(can_find=False, resend_unknown=True)

    async def answered_while_held_up(_: Target) -> None:
        answer = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.01, answer.set_result, None)
        time.sleep(1.5)  # noqa: ASYNC251 - what holds a loop up
        await answer

    channel.acts.append(answered_while_held_up)
    await store.enqueue("hi")
    await run_one(sender_of(store.outbox, channel))
    assert await store.db.outbound.one("state") == "sent"
    assert channel.texts == ["hi"]


async def test_within_gives_up_on_what_does_not_answer_and_ends_it() -> None:
    ended = asyncio.Event()

    async def hang() -> None:
        try:
            await never()
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        await within(0.05, hang())
    assert ended.is_set()


async def test_within_propagates_errors_and_is_cancelled_with_its_caller() -> None:
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await within(1, fail())
    ended = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    caller = asyncio.create_task(within(60, hang()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended.is_set()
