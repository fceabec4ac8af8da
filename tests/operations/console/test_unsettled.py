"""Messages that did not arrive are sent again once, as a new row, or left."""

from datetime import timedelta

from core.messaging.calls import PartEnd
from core.messaging.channels import Part
from core.messaging.messages import DeliveryStatus, StatusUpdate
from core.messaging.states import CallOutcome, SendState
from operations.console.unsettled import Settlement, UnsettledMessages
from tests.core.harness import ACCOUNT, CHANNEL, Store, TwiceDatabase, opened

ANN = "+15550000001"
REJECTED = PartEnd(SendState.FAILED, CallOutcome.REJECTED, error_code="30003", reason="the phone is off")
LOST = PartEnd(SendState.AMBIGUOUS, CallOutcome.LEFT, reason="no answer", delay=timedelta())


async def fail(store: Store, text: str, end: PartEnd = REJECTED) -> tuple[str, str]:
    """Have an answer to Ann fail; return its person and its id."""
    await store.enqueue(text, sender=ANN)
    claim = await store.claim_sending(text)
    await store.send(claim, end=end)
    return claim.tenant_id, claim.outbound_id


def messages(store: Store) -> UnsettledMessages:
    return UnsettledMessages(store.database, store.make_id)


async def test_a_failed_message_is_sent_again_once(store: Store) -> None:
    tenant, failed = await fail(store, "the dentist at nine")
    settlement, conversation = await messages(store).resend(tenant, failed)
    assert settlement is Settlement.RESENT
    again = await store.outbox.claim(conversation, "s")
    assert again is not None
    due = await store.outbox.load(again)
    assert due.message.text == "the dentist at nine"
    assert not due.missing, "nobody is told that they may miss what is being sent again"
    assert (await messages(store).resend(tenant, failed))[0] is Settlement.SETTLED
    assert (await messages(store).drop(tenant, failed)) is Settlement.SETTLED
    assert (await messages(store).resend(tenant, again.outbound_id))[0] is Settlement.OPEN
    assert await store.db.outbound.column("state", order="seq") == ["failed", "sending"]


async def test_only_the_parts_that_did_not_arrive_go_again(store: Store) -> None:
    await store.enqueue("a long answer", sender=ANN)
    claim = await store.outbox.claim(None, "s")
    assert claim is not None
    await store.outbox.keep_parts(claim, [Part("first"), Part("second"), Part("third")])
    assert await store.send(claim, 1) == SendState.SENDING
    assert await store.send(claim, 2, end=REJECTED) == SendState.FAILED
    await messages(store).resend(claim.tenant_id, claim.outbound_id)
    again = await store.outbox.claim(None, "s")
    assert again is not None
    parts = await store.outbox.parts(again)
    assert [(kept.number, kept.part.text) for kept in parts] == [(1, "second"), (2, "third")]


async def test_whether_it_arrived_is_unknown_so_it_may_go_again(store: Store) -> None:
    tenant, lost = await fail(store, "perhaps", LOST)
    assert await store.db.outbound.one("state", id=lost) == "ambiguous"
    assert (await messages(store).resend(tenant, lost))[0] is Settlement.RESENT


async def tell(store: Store, outbound: str, part: int, status: DeliveryStatus) -> None:
    """Have the provider report on a part that it took."""
    ref = await store.db.outbound_parts.one("ref", outbound_id=outbound, part=part)
    await store.inbox.accept(StatusUpdate(CHANNEL, ACCOUNT, f"SM{part}", str(ref), status, "30003"))


async def listed(store: Store, tenant: str = "", state: str = "") -> list[object]:
    return await store.column("select state from find_unsettled($1, $2, null, '', 10)", tenant, state)


async def test_only_the_part_that_was_taken_and_lost_goes_again(store: Store) -> None:
    await store.enqueue("a long answer", sender=ANN)
    claim = await store.outbox.claim(None, "s")
    assert claim is not None
    await store.outbox.keep_parts(claim, [Part("first"), Part("second")])
    await store.send(claim, 1)
    assert await store.send(claim, 2) == SendState.SENT
    assert (await messages(store).resend(claim.tenant_id, claim.outbound_id))[0] is Settlement.OPEN
    assert await messages(store).drop(claim.tenant_id, claim.outbound_id) is Settlement.OPEN
    await tell(store, claim.outbound_id, 2, DeliveryStatus.UNDELIVERED)
    for tenant in ("", claim.tenant_id):
        assert await listed(store, tenant) == await listed(store, tenant, "undelivered") == ["undelivered"]
        assert await listed(store, tenant, "failed") == []
    assert await listed(store, "somebody else") == []
    assert (await messages(store).resend(claim.tenant_id, claim.outbound_id))[0] is Settlement.RESENT
    again = await store.outbox.claim(None, "s")
    assert again is not None
    assert [kept.part.text for kept in await store.outbox.parts(again)] == ["second"]
    assert await listed(store) == []


async def test_what_arrived_after_all_is_listed_no_more(store: Store) -> None:
    await store.enqueue("late", sender=ANN)
    claim = await store.claim_sending("late")
    await store.send(claim)
    await tell(store, claim.outbound_id, 1, DeliveryStatus.FAILED)
    assert await listed(store) == ["undelivered"]
    await tell(store, claim.outbound_id, 1, DeliveryStatus.DELIVERED)
    assert await listed(store) == []
    assert (await messages(store).resend(claim.tenant_id, claim.outbound_id))[0] is Settlement.OPEN


async def test_promise_8_nothing_is_sent_again_after_a_stop(store: Store) -> None:
    tenant, failed = await fail(store, "hello?")
    await store.reach(ANN, False, "SM_stop")
    count = await store.db.outbound.count()
    assert (await messages(store).resend(tenant, failed))[0] is Settlement.UNREACHABLE
    assert await store.db.outbound.count() == count
    await store.reach(ANN, True, "SM_start")
    assert (await messages(store).resend(tenant, failed))[0] is Settlement.RESENT


async def test_a_message_that_is_left_is_not_sent_again(store: Store) -> None:
    tenant, failed = await fail(store, "too late")
    assert await messages(store).drop(tenant, failed) is Settlement.DROPPED
    assert await messages(store).drop(tenant, failed) is Settlement.DROPPED
    assert (await messages(store).resend(tenant, failed))[0] is Settlement.SETTLED
    assert await store.db.outbound.one("text", id=failed) == "too late"


async def test_nobody_settles_what_is_another_persons(store: Store) -> None:
    _, failed = await fail(store, "mine")
    await store.say("hello", sender="+15550000002")
    other = await store.db.person("+15550000002")
    assert await messages(store).drop(other, failed) is Settlement.MISSING
    assert (await messages(store).resend(other, failed))[0] is Settlement.MISSING


async def test_a_lost_answer_sends_nothing_twice(database_url: str) -> None:
    async with opened(database_url) as store:
        tenant, failed = await fail(store, "once")
        twice = TwiceDatabase(database_url)
        try:
            settlement, _ = await UnsettledMessages(twice, store.make_id).resend(tenant, failed)
        finally:
            await twice.close()
        assert settlement is Settlement.RESENT
        assert twice.differing == []
        assert await store.db.outbound.count(resends=failed) == 1
