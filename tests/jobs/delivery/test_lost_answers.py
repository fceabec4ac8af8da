"""Promise 7: each send whose answer was lost is counted, and `trace` shows what was found out about it."""

import importlib

import pytest

from core.errors import Ambiguous
from core.messaging.channels import Target
from core.messaging.messages import DeliveryStatus, StatusUpdate
from operations.doctor.work import check_answers
from operations.paths.trace import WITHOUT_LOOK_UP, trace
from tests.core.harness import ACCOUNT, CHANNEL, Store
from tests.jobs.delivery.test_runner import deliver, later
from tests.jobs.harness import RecordingChannel


async def shown(store: Store) -> list[object]:
    """Return what `trace` shows of the lost answers of the one message."""
    lines = await trace(store.database, str(await store.db.outbound.one("id")))
    return [line["answer_lost"] for line in lines if line.get("answer_lost")]


async def counted(store: Store) -> dict[str, int]:
    """Return the operator's counts that are not 0."""
    row = await store.database.call("select * from count_lost_answers(interval '7 days')")
    assert row is not None
    return {name: number for name, number in row.items() if number}


@pytest.mark.parametrize(
    ("taken", "sentence", "count"),
    [(True, "found by look-up", {"lost": 1, "found": 1}), (False, "not found, sent again", {"lost": 1, "resent": 1})],
)
async def test_promise_7_a_look_up_is_shown_with_what_it_found(
    store: Store, taken: bool, sentence: str, count: dict[str, int]
) -> None:
    channel = RecordingChannel(taken_although_lost=taken)
    channel.acts.append(Ambiguous("reset"))
    await store.enqueue("a")
    await deliver(store, channel)
    assert (await shown(store), await counted(store)) == (["being looked up"], {"lost": 1, "still_open": 1})
    await later(store, channel)
    assert (await shown(store), await counted(store)) == ([sentence], count)


@pytest.mark.parametrize("resend", [True, False])
async def test_promise_7_what_policy_decided_is_shown(store: Store, resend: bool) -> None:
    channel = RecordingChannel(can_find=False, resend_unknown=resend)
    channel.acts.append(Ambiguous("reset"))
    await store.enqueue("a")
    await deliver(store, channel)
    await later(store, channel)
    await store.db.conversations.change({"channel": "telegram"})
    assert await shown(store) == ["sent again by policy" if resend else "left as it is"]
    assert await counted(store) == {"lost": 1, "resent" if resend else "left_alone": 1}


async def test_promise_7_a_callback_that_told_is_shown(store: Store) -> None:
    async def call_back(to: Target) -> None:
        await store.inbox.accept(StatusUpdate(CHANNEL, ACCOUNT, "SM0", to.ref, DeliveryStatus.SENT))
        raise Ambiguous("reset")

    channel = RecordingChannel()
    channel.acts.append(call_back)
    await store.enqueue("a")
    await deliver(store, channel)
    assert (await shown(store), await counted(store)) == (["told by the provider"], {"lost": 1, "told": 1})


async def test_the_doctor_counts_them_and_those_given_up(store: Store) -> None:
    channel = RecordingChannel(look_ups_fail=True)
    channel.acts.append(Ambiguous("reset"))
    await store.enqueue("a")
    await deliver(store, channel)
    await later(store, channel, "25 hours")
    assert await shown(store) == ["left as it is"]
    [check] = [check for check in await check_answers(store.database) if check.what == "sends without an answer"]
    assert check.detail == "1 in 7 days: 0 found by look-up, 0 told by the provider, 0 sent again, 1 left, 0 open"


def test_the_channels_that_cannot_be_asked_are_those_that_say_so() -> None:
    names = {}
    for place in ("sms", "slack", "telegram", "email", "push", "terminal"):
        module = importlib.import_module(f"notify.{place}.send")
        [kind] = [
            item for name, item in vars(module).items() if name.endswith("Notification") and hasattr(item, "name")
        ]
        names[kind.name] = kind.can_find
    assert {name for name, can_find in names.items() if not can_find} == WITHOUT_LOOK_UP
