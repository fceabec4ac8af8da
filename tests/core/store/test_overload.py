"""Overload and death: nobody has all workers to themselves, and a dead worker's leases end when its death is known."""

from core.turns import LANES_OF_ONE
from tests.core.store.house import Store

ANN, BOB = "+15550000001", "+15550000002"


async def lanes_of(store: Store, phone: str, count: int) -> str:
    """Let somebody write, and give them so many lanes more, all waiting since before everybody else's."""
    await store.say("hello", sender=phone)
    tenant = await store.one("select tenant_id from identities where user_key = $1", phone)
    for number in range(count):
        await store.eye.execute(
            "insert into lanes (tenant_id, id, pending, pending_since)"
            " values ($1, $2, true, now() - interval '1 hour')",
            tenant,
            f"lane_{tenant}_{number}",
        )
    return str(tenant)


async def test_one_person_s_many_lanes_leave_room_for_the_next_person(store: Store) -> None:
    ann = await lanes_of(store, ANN, 2 * LANES_OF_ONE)
    bob = await lanes_of(store, BOB, 0)
    claims = [await store.turns.claim(None, "w1") for _ in range(LANES_OF_ONE + 1)]
    assert [claim.tenant_id for claim in claims if claim] == [ann] * LANES_OF_ONE + [bob]
    assert await store.turns.claim(None, "w1") is None
    assert await store.turns.claim(f"lane_{ann}_{LANES_OF_ONE}", "w1") is None, "not by its name either"
    first = claims[0]
    assert first is not None
    await store.eye.execute(
        "update lanes set owner = null, lease_until = null, pending = false where id = $1", first.lane_id
    )
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
