"""What stalls, as the database tells it: an old head, a message that no worker takes, no worker, a poll that stands."""

import pytest

from channels.poll_lease import PollLease
from core.db.database import Database
from core.messaging.stalls import FRESH, Stalls, read_stalls
from tests.core.harness import Store

BACK = "clock_timestamp() - interval '10 minutes'"


@pytest.fixture
async def staffed(store: Store) -> Store:
    """Return a store in which a worker was just seen."""
    await store.database.call("select note_worker($1,$2,$3)", "w1", 0.0, [])
    return store


async def test_nothing_stalls_where_messages_are_young_and_a_worker_is_there(staffed: Store) -> None:
    await staffed.enqueue("hello")
    await staffed.say("one more")
    assert await read_stalls(staffed.database) == ()


async def test_a_head_that_does_not_move_is_told(staffed: Store) -> None:
    await staffed.enqueue("hello")
    await staffed.admin.execute(f"update outbound set created_at = {BACK}")  # noqa: S608
    [stall] = await read_stalls(staffed.database)
    assert stall.startswith("the oldest message to be sent is 60")


async def test_a_message_that_no_worker_takes_is_told(store: Store) -> None:
    await store.say("anybody there?")
    await store.admin.execute(f"update lanes set pending_since = {BACK} where pending")  # noqa: S608
    nobody, waits = await read_stalls(store.database)
    assert nobody == "no worker was seen in the last minute"
    assert waits.startswith("the oldest message has waited for a worker for 60")


async def test_a_poll_whose_process_died_is_told(staffed: Store) -> None:
    await PollLease(staffed.database, channel="telegram", account="7", owner="web-1").claim()
    assert await read_stalls(staffed.database) == ()
    await staffed.admin.execute(f"update channel_state set lease_until = {BACK}")  # noqa: S608
    assert await read_stalls(staffed.database) == ("telegram: nobody polls it",)


async def test_who_asks_again_within_seconds_is_told_the_same(staffed: Store) -> None:
    now = 0.0
    stalls = Stalls(staffed.database, lambda: now)
    assert await stalls.known() == ()
    await staffed.admin.execute("delete from worker_health")
    assert await stalls.known() == ()
    now = FRESH + 1
    assert await stalls.known() == ("no worker was seen in the last minute",)


async def test_while_postgres_is_away_no_stall_is_made_up() -> None:
    nowhere = Database("postgresql://onevalet@127.0.0.1:1/onevalet", patience=0.1)
    assert await Stalls(nowhere).known() == ()
    await nowhere.close()
