"""Promise 5: who killed the worker is told from those who only died with it, and nobody waits long for a suspect."""

import asyncio
import itertools
from datetime import timedelta

from core.journal.postgres import Lease
from core.queue.quarantine import Suspects
from core.turns.store import TurnStore
from core.turns.types import BegunTurn
from tests.core.harness import LEASE, Store

_NUMBERS = itertools.count()


async def say_all(store: Store, *numbers: int) -> None:
    """Let so many people write, each with a conversation of their own."""
    for number in numbers:
        await store.say(f"text {number}", sender=f"+1555000{number:04}")


async def begin_all(store: Store, worker: str) -> list[tuple[Lease, BegunTurn]]:
    """Begin all that this worker may."""
    turns: list[tuple[Lease, BegunTurn]] = []
    while lease := await store.turns.claim(None, worker):
        turn = await store.turns.begin(lease)
        assert turn is not None
        turns.append((lease, turn))
    return turns


def said(turn: BegunTurn) -> str:
    """Return what the turn is about."""
    return turn.request.inbound[0].text


async def later(store: Store, seconds: float) -> None:
    """Let the time pass in which turns run and lanes wait."""
    passed = timedelta(seconds=seconds)
    await store.admin.execute("update turns set tried_at = tried_at - $1::interval where owner <> ''", passed)
    await store.admin.execute("update lanes set not_before = not_before - $1::interval", passed)


async def hold_back(store: Store, minutes: int = 1) -> None:
    """Let nobody take so long what died, as a back-off does."""
    await store.admin.execute("update lanes set not_before = not_before + make_interval(mins => $1)", minutes)


async def record(store: Store) -> dict[object, tuple[object, ...]]:
    """Return attempts, blame and suspicion of every turn, by its text."""
    rows = await store.admin.fetch(
        "select i.text, t.attempts, t.blamed, t.suspect from turns t join inbound i on i.turn_id = t.id order by i.text"
    )
    return {row[0]: tuple(row)[1:] for row in rows}


async def kill(store: Store, times: int = 1) -> None:
    """Let workers begin all that they may and die, one after another."""
    for _ in range(times):
        name = f"dead{next(_NUMBERS)}"
        await begin_all(store, name)
        await store.turns.end_leases(name)


async def get_on(store: Store, text: str, kind: str = "model") -> None:
    """Let the turn of this text write a step down."""
    await store.admin.execute(
        "insert into steps (tenant_id, turn_id, step, call_index, kind, state)"
        " select t.tenant_id, t.id, (select count(*) from steps), 0, $2, 'done'"
        " from turns t join inbound i on i.turn_id = t.id where i.text = $1",
        text,
        kind,
    )


async def test_deaths_at_the_same_step_are_blamed_and_suspected_from_the_second(store: Store) -> None:
    await say_all(store, 1)
    for number in range(3):
        assert [turn.blamed for _, turn in await begin_all(store, f"w{number}")] == [number]
        await store.turns.end_leases(f"w{number}")
        assert await record(store) == {"text 1": (number + 2, number + 1, number > 0)}


async def test_what_got_on_since_its_last_death_is_blamed_for_the_new_place_only(store: Store) -> None:
    await say_all(store, 1)
    await kill(store)
    assert await record(store) == {"text 1": (2, 1, False)}
    await get_on(store, "text 1")
    await kill(store)
    assert await record(store) == {"text 1": (3, 1, False)}
    # What its person wrote meanwhile gets nobody on.
    await get_on(store, "text 1", "steer")
    await kill(store)
    assert await record(store) == {"text 1": (4, 2, True)}
    # It died alone, but elsewhere: it is tried once more.
    await get_on(store, "text 1")
    await kill(store)
    assert await record(store) == {"text 1": (5, 1, True)}
    await kill(store, 2)
    assert await record(store) == {"text 1": (7, 3, True)}


async def test_a_dozen_deaths_it_may_have_caused_are_too_many_at_any_step(store: Store) -> None:
    await say_all(store, 1)
    for _ in range(11):
        await kill(store)
        await get_on(store, "text 1")
    assert await record(store) == {"text 1": (12, 1, False)}
    await kill(store)
    assert await record(store) == {"text 1": (13, 3, True)}


async def test_deaths_that_another_caused_are_never_too_many(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await store.admin.execute("update turns set deaths = 11")
    await hold_back(store)
    await say_all(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]
    await store.admin.execute(
        "update turns t set deaths = 11 from inbound i where i.turn_id = t.id and i.text = 'text 2'"
    )
    await hold_back(store, -1)
    await later(store, 0.6)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]
    await store.turns.end_leases("w")
    assert await record(store) == {"text 1": (4, 3, True), "text 2": (2, 0, False)}


async def test_what_died_among_others_is_suspected_and_blamed_for_nothing(store: Store) -> None:
    await say_all(store, 1, 2)
    await kill(store, 2)
    assert await record(store) == {"text 1": (3, 0, True), "text 2": (3, 0, True)}
    for _ in range(3):
        assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]
        await hold_back(store)
        await store.turns.end_leases("w")
        await hold_back(store, -1)
    assert await record(store) == {"text 1": (6, 3, True), "text 2": (3, 0, True)}


async def test_a_process_begins_a_suspect_alone_and_others_go_on_elsewhere(store: Store) -> None:
    await say_all(store, 1, 2, 3)
    await kill(store, 2)
    await say_all(store, 4, 5)
    second = await begin_all(store, "w2")
    assert [said(turn) for _, turn in second] == ["text 1"], "nothing begins beside it"
    assert [said(turn) for _, turn in await begin_all(store, "w3")] == ["text 2"], "another process takes another one"
    lease, turn = second[0]
    await store.finish(lease, turn, "hi")
    assert [said(turn) for _, turn in await begin_all(store, "w2")] == ["text 3"]
    assert [said(turn) for _, turn in await begin_all(store, "w4")] == ["text 4", "text 5"]


async def test_a_suspect_that_has_lived_lets_others_begin(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await say_all(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]
    await later(store, 1.5)
    assert await begin_all(store, "w") == []
    await later(store, 1)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]


async def test_a_suspect_begins_where_nothing_began_lately(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await hold_back(store)
    await say_all(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]
    await hold_back(store, -1)
    assert await begin_all(store, "w") == []
    await later(store, 0.6)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]


async def test_a_busy_lanes_next_turn_avoids_the_process_of_a_fresh_suspect(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await hold_back(store)
    await say_all(store, 2)
    [(lease, turn)] = await begin_all(store, "w")
    await hold_back(store, -1)
    await later(store, 0.6)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]
    await store.say("more", sender="+15550000002")
    assert await store.finish(lease, turn, "hi"), "more waits"
    assert await store.turns.begin(lease) is None
    assert [said(turn) for _, turn in await begin_all(store, "w2")] == ["more"]


async def test_only_the_suspect_that_started_last_is_blamed(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await hold_back(store)
    await say_all(store, 2)
    await kill(store)
    assert (await record(store))["text 2"] == (2, 1, False)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]
    await hold_back(store, -1)
    await later(store, 0.6)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]
    await store.turns.end_leases("w")
    assert await record(store) == {"text 1": (4, 3, True), "text 2": (3, 1, False)}


async def test_a_suspect_is_not_blamed_when_others_began_after_it(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await say_all(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]
    await later(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]
    await store.turns.end_leases("w")
    assert await record(store) == {"text 1": (4, 2, True), "text 2": (2, 0, False)}


async def test_leases_that_end_one_after_another_are_one_death(store: Store) -> None:
    await say_all(store, 1, 2, 3)
    await begin_all(store, "w1")
    # As a dead process leaves them: renewed at different moments of the last third.
    await store.admin.execute("update lanes set lease_until = clock_timestamp() + $1::interval", LEASE * 0.3)
    await store.admin.execute(
        "update lanes set lease_until = clock_timestamp() - interval '1 second'"
        " where id = (select t.lane_id from turns t join inbound i on i.turn_id = t.id where i.text = 'text 2')"
    )
    assert await begin_all(store, "w2")
    assert set((await record(store)).values()) == {(2, 0, False)}
    assert await store.one("select count(*) from lanes where owner like 'w2/%'") == 3


async def test_a_forgotten_lease_of_a_live_process_makes_no_turn_a_suspect(store: Store) -> None:
    await say_all(store, 1, 2)
    await begin_all(store, "w1")
    forget = "update lanes set lease_until = clock_timestamp() - $1::interval where id = (select min(id) from lanes)"
    await store.admin.execute(forget, LEASE / 10)
    assert await store.turns.claim(None, "w2") is None, "it may still renew it"
    await store.admin.execute(forget, LEASE * 1.1)
    assert len(await begin_all(store, "w2")) == 1
    assert sorted((await record(store)).values(), key=str) == [(1, 0, False), (2, 0, False)]


async def test_a_claimed_suspect_keeps_others_from_starting_before_it_begins(store: Store) -> None:
    await say_all(store, 1, 2)
    await kill(store, 2)
    await store.admin.execute("update turns set tried_at = tried_at - interval '1 hour'")
    lease = await store.turns.claim(None, "w2")
    assert lease is not None
    assert await store.turns.claim(None, "w2") is None
    # Nor does it die with a process that never began it.
    await store.turns.end_leases("w2")
    assert set((await record(store)).values()) == {(3, 0, True)}


async def test_a_released_lease_burns_no_attempt_and_waiting_turns_start_afresh(store: Store) -> None:
    await say_all(store, 1)
    [(lease, turn)] = await begin_all(store, "w1")
    await store.turns.end_leases("w1")
    for number in range(4):
        [(lease, turn)] = await begin_all(store, f"w{number + 2}")
        await store.turns.leave(lease, LEASE * 0)
    assert await record(store) == {"text 1": (2, 1, False)}
    [(lease, turn)] = await begin_all(store, "w9")
    await store.finish(lease, turn, state="waiting")
    await store.admin.execute("update turns set ready = true")
    await store.admin.execute("update lanes set pending = true, pending_since = now()")
    await begin_all(store, "w9")
    assert await record(store) == {"text 1": (1, 0, False)}


async def test_concurrent_claims_of_one_process_take_one_suspect(store: Store) -> None:
    await say_all(store, *range(1, 9))
    await kill(store, 2)
    turns: TurnStore = store.turns
    taken = await asyncio.gather(*(turns.claim(None, "w2") for _ in range(8)))
    assert len([one for one in taken if one]) == 1


async def test_a_suspect_waits_for_a_quiet_process_for_a_bounded_time(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await hold_back(store)
    await say_all(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]
    await say_all(store, 3)
    await store.admin.execute(
        "update lanes set not_before = clock_timestamp() - interval '3 seconds' where owner is null"
    )
    assert await begin_all(store, "w") == [], "neither it nor anything else"
    await store.admin.execute(
        "update lanes set not_before = clock_timestamp() - interval '9 seconds' where owner is null"
    )
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]


async def test_a_suspect_that_no_process_can_take_stops_others_briefly(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await store.admin.execute("update turns set deaths = 5")
    await hold_back(store)
    for number in range(2, 8):
        await say_all(store, number)
        await begin_all(store, "w")
    assert await store.column("select count(*) from lanes where owner is not null") == [6]
    await say_all(store, 8)
    await store.admin.execute(
        "update lanes set not_before = clock_timestamp() - interval '3 seconds' where owner is null"
    )
    assert await begin_all(store, "w") == []
    await store.admin.execute(
        "update lanes set not_before = clock_timestamp() - interval '13 seconds' where owner is null"
    )
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 8"]


async def test_the_turn_that_hung_its_worker_alone_is_charged_and_suspected(store: Store) -> None:
    await say_all(store, 1, 2, 3)
    begun = await begin_all(store, "w")
    await store.turns.end_leases("w", next(lease.lane_id for lease, turn in begun if said(turn) == "text 2"))
    assert await record(store) == {"text 1": (2, 0, False), "text 2": (2, 1, True), "text 3": (2, 0, False)}
    # The next worker leaves it to a process of its own, and answers the others.
    apart = TurnStore(store.database, store.make_id, LEASE, suspects=Suspects.APART)
    taken = [await apart.claim(None, "next") for _ in range(3)]
    assert [lease is not None for lease in taken] == [True, True, False]


async def test_all_turns_of_a_hung_worker_are_suspects_where_nobody_knows(store: Store) -> None:
    await say_all(store, 1, 2)
    await begin_all(store, "w")
    await store.turns.end_leases("w", "")
    assert await record(store) == {"text 1": (2, 0, True), "text 2": (2, 0, True)}


async def test_no_turn_is_charged_where_something_else_blocked_the_worker(store: Store) -> None:
    await say_all(store, 1)
    for number in range(4):
        await begin_all(store, f"w{number}")
        await store.turns.end_leases(f"w{number}", "part upkeep")
    assert await record(store) == {"text 1": (5, 0, False)}
