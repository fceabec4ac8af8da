"""Overload and death: nobody has all workers to themselves, what waits is bounded, a dead worker's leases end."""

from core.inbox.inbox import Inbox
from core.messaging.messages import Command
from core.queue.limits import BUSY, MAX_LANES_PER_TENANT, BacklogLimits
from tests.core.harness import OPEN, Store, TwiceDatabase, message, opened

ANN, BOB = "+15550000001", "+15550000002"


async def lanes_of(store: Store, phone: str, count: int) -> str:
    """Let somebody write, and give them so many lanes more, all waiting since before everybody else's."""
    await store.say("hello", sender=phone)
    tenant = await store.db.person(phone)
    for number in range(count):
        await store.admin.execute(
            "insert into lanes (tenant_id, id, pending, pending_since)"
            " values ($1, $2, true, now() - interval '1 hour')",
            tenant,
            f"lane_{tenant}_{number}",
        )
    return str(tenant)


async def test_one_person_s_many_lanes_leave_room_for_the_next_person(store: Store) -> None:
    ann = await lanes_of(store, ANN, 2 * MAX_LANES_PER_TENANT)
    bob = await lanes_of(store, BOB, 0)
    claims = [await store.turns.claim(None, "w1") for _ in range(MAX_LANES_PER_TENANT + 1)]
    assert [claim.tenant_id for claim in claims if claim] == [ann] * MAX_LANES_PER_TENANT + [bob]
    assert await store.turns.claim(None, "w1") is None
    assert await store.turns.claim(f"lane_{ann}_{MAX_LANES_PER_TENANT}", "w1") is None, "not by its name either"
    first = claims[0]
    assert first is not None
    await store.db.lanes.change({"owner": None, "lease_until": None, "pending": False}, id=first.lane_id)
    again = await store.turns.claim(None, "w1")
    assert again is not None
    assert again.tenant_id == ann


async def test_promise_5_what_a_dead_worker_held_is_free_at_once_and_no_other_s(store: Store) -> None:
    await store.say("one", sender=ANN)
    await store.say("two", sender=BOB)
    dead, alive = await store.turns.claim(None, "vm:1"), await store.turns.claim(None, "vm:11")
    assert dead is not None
    assert alive is not None
    assert await store.turns.claim(None, "vm:2") is None
    await store.turns.end_leases("vm:1")
    taken = await store.turns.claim(None, "vm:2")
    assert taken is not None
    assert (taken.lane_id, taken.fence) == (dead.lane_id, dead.fence + 1)
    assert await store.turns.claim(None, "vm:2") is None
    assert not await store.turns.renew(dead)
    assert await store.turns.renew(alive)


async def test_past_the_bound_a_message_is_kept_refused_and_told_once(store: Store) -> None:
    inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_person=3))
    for number in range(6):
        await inbox.accept(message(f"{number}", ANN, f"SM{number}"))
    assert [tuple(row) for row in await store.admin.fetch("select text, state, reason from inbound order by seq")] == [
        *((f"{number}", "waiting", "") for number in range(3)),
        *((f"{number}", "ignored", "overload") for number in range(3, 6)),
    ]
    assert await store.db.outbound.column("text") == [BacklogLimits(of_person=3).refusal(full=True)]
    assert len(store.wakeups.turns) == 3
    assert len(store.wakeups.deliveries) == 1
    # Not for somebody else, nor for a decision's way in, nor once it has caught up.
    await inbox.accept(message("hi", BOB))
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, "answered")
    await inbox.accept(message("again", ANN))
    assert await store.db.inbound.column("text", order="text", state="waiting") == ["again", "hi"]


async def test_promise_2_a_refused_message_redelivered_stays_refused_in_silence(store: Store) -> None:
    inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_person=1))
    await inbox.accept(message("one", ANN, "SM1"))
    refused = await inbox.accept(message("two", ANN, "SM2"))
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, "answered")
    again = await inbox.accept(message("two", ANN, "SM2"))
    assert (again.id, again.duplicate) == (refused.id, True)
    assert await store.db.inbound.column("state", order="seq") == ["done", "ignored"]
    assert await store.one("select count(*) from outbound where text like 'I have 1 %'") == 1


async def test_a_refusal_whose_answer_was_lost_is_still_one(database_url: str) -> None:
    async with opened(database_url, TwiceDatabase(database_url)) as twice:
        inbox = Inbox(twice.database, twice.wakeups, twice.make_id, OPEN, waiting=BacklogLimits(of_person=1))
        for number in range(3):
            await inbox.accept(message(f"{number}", ANN, f"SM{number}"))
        assert await twice.db.inbound.column("state", order="seq") == ["waiting", "ignored", "ignored"]
        assert await twice.db.outbound.count() == 1


async def test_past_the_bound_of_all_everybody_is_refused_and_a_decision_is_not(store: Store) -> None:
    inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_all=2))
    for number, phone in enumerate((ANN, BOB, "+15550000003", "+15550000003")):
        await inbox.accept(message("hello", phone, f"SM{number}"))
    assert await store.db.inbound.column("state", order="received_at") == ["waiting"] * 2 + ["ignored"] * 2
    assert await store.db.outbound.column("text") == [BUSY]
    # An exact word that decides nothing is a text like any other; a stop is obeyed at once.
    await inbox.accept(message("OK", ANN, "SM8"))
    assert await store.db.inbound.one("reason", text="OK") == "overload"
    await store.claim_turn()
    await store.say("more", sender=BOB)
    await inbox.accept(message("", ANN, "SM9", command=Command("stop", "")))
    assert await store.one("select stop_message is not null from turns") is True


async def test_a_stop_past_the_bounds_is_obeyed_and_not_answered_as_refused(store: Store) -> None:
    inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_person=1, of_all=1))
    await inbox.accept(message("one", ANN))
    await store.claim_turn()
    for number in range(3):
        await store.say(f"more {number}", sender=ANN)
    await inbox.accept(message("", ANN, "SM9", command=Command("stop", "")))
    assert await store.one("select stop_message is not null from turns") is True
    assert await store.one("select (state, reason)::text from inbound where provider_id = 'SM9'") == "(done,stop)"
    assert len(store.wakeups.interrupts) == 1
    assert await store.db.outbound.count() == 0


async def test_ten_minutes_later_it_is_told_again(store: Store) -> None:
    inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_person=1))
    for number in range(3):
        await inbox.accept(message("hello", ANN, f"SM{number}"))
    await store.admin.execute("update tenants set told_full_at = told_full_at - interval '11 minutes'")
    await inbox.accept(message("hello", ANN, "SM9"))
    assert await store.db.outbound.count() == 2
