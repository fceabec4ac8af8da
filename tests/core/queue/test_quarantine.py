"""Promise 5: a turn that crashes twice at one place runs alone, only crashes alone count, and nobody waits long."""

import asyncio
import itertools
from datetime import timedelta

from core.journal.types import Lease
from core.queue.quarantine import QuarantineMode, quarantine_waits
from core.turns.store import TurnStore
from core.turns.stored import BegunTurn
from jobs.turns.results import is_poison
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
    await store.admin.execute("update turns set tried_at = tried_at - $1::interval where state = 'running'", passed)
    await store.admin.execute("update lanes set not_before = not_before - $1::interval", passed)


async def hold_back(store: Store, minutes: int = 1) -> None:
    """Let nobody take so long what died, as a back-off does."""
    await store.admin.execute("update lanes set not_before = not_before + make_interval(mins => $1)", minutes)


async def has_waited(store: Store, seconds: float) -> None:
    """Let what nobody holds have waited for so long."""
    passed = timedelta(seconds=seconds)
    await store.admin.execute(
        "update lanes set not_before = clock_timestamp() - $1::interval where owner is null", passed
    )


async def record(store: Store) -> dict[object, tuple[object, ...]]:
    """Return for every turn its attempts, its crashes alone, and whether it is quarantined, by its text."""
    rows = await store.admin.fetch(
        "select i.text, t.attempts, t.solo_crashes, t.quarantined"
        " from turns t join inbound i on i.turn_id = t.id order by i.text"
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


async def test_a_second_crash_at_one_step_quarantines_and_lone_ones_count(store: Store) -> None:
    await say_all(store, 1)
    for number in range(3):
        assert [turn.solo_crashes for _, turn in await begin_all(store, f"w{number}")] == [number]
        await store.turns.end_leases(f"w{number}")
        assert await record(store) == {"text 1": (number + 2, number + 1, number > 0)}


async def test_getting_on_begins_the_count_of_lone_crashes_anew(store: Store) -> None:
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
    # It crashed alone, but elsewhere: it is tried once more.
    await get_on(store, "text 1")
    await kill(store)
    assert await record(store) == {"text 1": (5, 1, True)}
    await kill(store, 2)
    assert await record(store) == {"text 1": (7, 3, True)}


async def test_six_crashes_at_any_step_quarantine_and_twelve_are_poison(store: Store) -> None:
    await say_all(store, 1)
    for number in range(12):
        _, turn = await store.claim_turn(f"w{number}")
        assert (turn.solo_crashes, turn.quarantined) == (min(number, 1), number >= 6)
        assert not is_poison(turn)
        await get_on(store, "text 1")
        await store.turns.end_leases(f"w{number}")
    [(_, turn)] = await begin_all(store, "w")
    assert is_poison(turn)


async def test_what_crashed_among_others_is_quarantined_and_not_counted(store: Store) -> None:
    await say_all(store, 1, 2)
    await kill(store, 2)
    assert await record(store) == {"text 1": (3, 0, True), "text 2": (3, 0, True)}
    begun: list[str] = []
    for number in range(6):
        [(_, turn)] = await begin_all(store, f"w{number}")
        begun.append(said(turn))
        await store.turns.end_leases(f"w{number}")
    assert await record(store) == {"text 1": (6, 3, True), "text 2": (6, 3, True)}
    assert begun[:2] == begun[2:4] == begun[4:], "they are tried in rounds"


async def test_a_quarantined_turn_begins_alone_and_others_go_on_elsewhere(store: Store) -> None:
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


async def test_what_crashed_together_keeps_its_order(store: Store) -> None:
    await say_all(store, 1, 2, 3)
    await kill(store)
    await begin_all(store, "dead")
    for text in ("text 2", "text 1"):
        # A row that was written to again lies behind the others in its table.
        await store.admin.execute(
            "update lanes l set fence = l.fence from inbound i"
            " where i.conversation_id = l.conversation_id and i.text = $1",
            text,
        )
    await store.turns.end_leases("dead")
    for number in (1, 2, 3):
        assert [said(turn) for _, turn in await begin_all(store, f"w{number}")] == [f"text {number}"]


async def test_a_quarantined_turn_that_runs_for_long_lets_others_begin(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await say_all(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]
    await later(store, 9)
    assert await begin_all(store, "w") == []
    await later(store, 1)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]


async def test_a_quarantined_turn_begins_where_nothing_else_runs(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await hold_back(store)
    await say_all(store, 2)
    [(lease, turn)] = await begin_all(store, "w")
    assert said(turn) == "text 2"
    await hold_back(store, -1)
    assert await begin_all(store, "w") == []
    await store.finish(lease, turn, "hi")
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]


async def test_no_crash_is_counted_beside_others(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await say_all(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]
    await later(store, 10)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]
    await store.turns.end_leases("w")
    assert await record(store) == {"text 1": (4, 2, True), "text 2": (2, 0, False)}


async def test_leases_that_end_one_after_another_are_one_crash(store: Store) -> None:
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


async def test_a_forgotten_lease_of_a_live_process_is_no_crash(store: Store) -> None:
    await say_all(store, 1, 2)
    await begin_all(store, "w1")
    forget = "update lanes set lease_until = clock_timestamp() - $1::interval where id = (select min(id) from lanes)"
    await store.admin.execute(forget, LEASE / 10)
    assert await store.turns.claim(None, "w2") is None, "it may still renew it"
    await store.admin.execute(forget, LEASE * 1.1)
    assert len(await begin_all(store, "w2")) == 1
    assert sorted((await record(store)).values(), key=str) == [(1, 0, False), (2, 0, False)]


async def test_a_claimed_quarantined_turn_lets_nothing_start_before_it(store: Store) -> None:
    await say_all(store, 1, 2)
    await kill(store, 2)
    await store.admin.execute("update turns set tried_at = tried_at - interval '1 hour'")
    lease = await store.turns.claim(None, "w2")
    assert lease is not None
    assert await store.turns.claim(None, "w2") is None
    # Nor does it crash with a process that never began it.
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
    await store.db.turns.change({"ready": True})
    await store.admin.execute("update lanes set pending = true, pending_since = now()")
    await begin_all(store, "w9")
    assert await record(store) == {"text 1": (1, 0, False)}


async def test_concurrent_claims_of_a_process_take_one_quarantined_turn(store: Store) -> None:
    await say_all(store, *range(1, 9))
    await kill(store, 2)
    turns: TurnStore = store.turns
    taken = await asyncio.gather(*(turns.claim(None, "w2") for _ in range(8)))
    assert len([one for one in taken if one]) == 1


async def test_waiting_for_an_idle_process_is_bounded(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    await hold_back(store)
    await say_all(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]
    await say_all(store, 3)
    await has_waited(store, 3)
    assert await begin_all(store, "w") == [], "neither it nor anything else"
    await has_waited(store, 11)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]


async def test_a_quarantined_turn_that_waits_stops_others_briefly(store: Store) -> None:
    await say_all(store, 1, 2)
    await kill(store, 2)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 1"]
    await later(store, 10)
    await say_all(store, 3)
    await has_waited(store, 3)
    assert await begin_all(store, "w") == []
    # Text 2 goes first, and the next one after a while.
    await has_waited(store, 11)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 2"]
    await later(store, 10)
    assert [said(turn) for _, turn in await begin_all(store, "w")] == ["text 3"]


async def test_a_worker_leaves_quarantined_turns_to_others_only_for_a_time(store: Store) -> None:
    await say_all(store, 1)
    await kill(store, 2)
    leaving, private = (
        TurnStore(store.database, store.make_id, LEASE, (), mode)
        for mode in (QuarantineMode.LEAVE, QuarantineMode.ONLY)
    )
    assert await leaving.claim(None, "w") is None
    await say_all(store, 2)
    assert await quarantine_waits(store.database)
    [lease] = [lease for lease in [await private.claim(None, "p"), await private.claim(None, "p")] if lease]
    assert not await quarantine_waits(store.database)
    await private.leave(lease, LEASE * 0)
    await has_waited(store, 11)
    idle = await leaving.claim(None, "w")
    assert idle is not None, "an idle one takes it after ten seconds"
    assert idle.lane_id == lease.lane_id
    await leaving.leave(idle, LEASE * 0)
    assert await leaving.claim(None, "w") is not None
    await has_waited(store, 50)
    assert await leaving.claim(None, "w") is None, "a busy one after a minute"
    await has_waited(store, 61)
    busy = await leaving.claim(None, "w")
    assert busy is not None
    assert busy.lane_id == lease.lane_id


async def test_only_the_turn_that_hung_its_worker_is_quarantined(store: Store) -> None:
    await say_all(store, 1, 2, 3)
    begun = await begin_all(store, "w")
    await store.turns.end_leases("w", next(lease.lane_id for lease, turn in begun if said(turn) == "text 2"))
    assert await record(store) == {"text 1": (2, 0, False), "text 2": (2, 1, True), "text 3": (2, 0, False)}
    # The next worker leaves it to a private process, and answers the others.
    leaving = TurnStore(store.database, store.make_id, LEASE, quarantine=QuarantineMode.LEAVE)
    taken = [await leaving.claim(None, "next") for _ in range(3)]
    assert [lease is not None for lease in taken] == [True, True, False]


async def test_a_turn_that_hung_is_quarantined_though_its_lease_ran_out_first(store: Store) -> None:
    await say_all(store, 1, 2, 3)
    begun = await begin_all(store, "w")
    await store.expire()
    leaving = TurnStore(store.database, store.make_id, LEASE, quarantine=QuarantineMode.LEAVE)
    taken = await leaving.claim(None, "other")
    assert taken is not None
    hung = next(lease.lane_id for lease, _ in begun if lease.lane_id != taken.lane_id)
    await has_waited(store, 20)  # nobody was there to take it
    await store.turns.end_leases("w", hung)
    quarantined = await store.admin.fetch("select lane_id from turns where quarantined")
    assert [row[0] for row in quarantined] == [hung]
    assert [await leaving.claim(None, f"next{number}") is not None for number in range(2)] == [True, False]


async def test_a_turn_that_another_worker_has_taken_over_is_left_to_it(store: Store) -> None:
    await say_all(store, 1)
    await begin_all(store, "w")
    await store.expire()
    [(lease, _)] = await begin_all(store, "other")
    await store.turns.end_leases("w", lease.lane_id)
    assert await record(store) == {"text 1": (2, 1, False)}


async def test_all_turns_of_a_hung_worker_are_quarantined_if_none_is_known(store: Store) -> None:
    await say_all(store, 1, 2)
    await begin_all(store, "w")
    await store.turns.end_leases("w", "")
    assert await record(store) == {"text 1": (2, 0, True), "text 2": (2, 0, True)}


async def test_no_turn_crashes_where_something_else_blocked_the_worker(store: Store) -> None:
    await say_all(store, 1)
    for number in range(13):
        [(_, turn)] = await begin_all(store, f"w{number}")
        assert not is_poison(turn)
        await store.turns.end_leases(f"w{number}", "part upkeep")
    assert await record(store) == {"text 1": (14, 0, False)}
