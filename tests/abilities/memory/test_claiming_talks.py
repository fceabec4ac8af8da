"""A talk that is to be read is found whoever else waits: counted in rows that are read, as times tell less."""

import pytest

from core.db.database import Database
from tests.core.harness import Store

_LOOK = "select turn_id from claim_talk('w1', '1 minute', 40, '5 minutes', 10)"
_READ = "select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables where relname = 'profile_jobs'"
_PUT = "insert into profile_jobs (tenant_id, turn_id, not_before, attempts, unread) "
_SEVERAL = "from generate_series(0, 3999) n"
_OTHERS = {
    "they still speak": f"select 'other' || n % 1000, 't' || n, now(), 0, 1 + n / 1000 {_SEVERAL}",
    "read again later": f"select 'other' || n % 1000, 't' || n, now() + interval '1 hour', 1, 1 {_SEVERAL}",
}
_DUE = {
    "quiet": "select 'ann', 't', now() - interval '6 minutes', 0, 1",
    "failed before": "select 'ann', 't', now() - interval '1 second', 1, 1",
    "has said much": "select 'ann', 't' || n, now() - interval '1 second', 0, n from generate_series(1, 10) n",
}


async def put(store: Store, rows: str) -> None:
    """Store unread turns, without the rows that they belong to."""
    await store.admin.execute("set session_replication_role = replica")
    await store.admin.execute(_PUT + rows)
    await store.admin.execute("set session_replication_role = origin")
    await store.admin.execute("analyze profile_jobs")


async def look(store: Store) -> tuple[int, int]:
    """Claim a talk; return its number of turns, and the number of rows that were read."""
    database = Database(store.url, size=1)
    try:
        async with database.tenant("") as connection:
            before = await connection.fetchval(_READ)
            claimed = await connection.fetch(_LOOK)
            return len(claimed), await connection.fetchval(_READ) - before
    finally:
        await database.close()


@pytest.mark.parametrize("others", _OTHERS.values(), ids=_OTHERS)
async def test_other_peoples_turns_are_not_read_by_a_look_for_nothing(store: Store, others: str) -> None:
    await put(store, others)
    claimed, read = await look(store)
    assert claimed == 0
    assert read <= 50, "by the planner, which looks at the ends of indexes"


@pytest.mark.parametrize("others", _OTHERS.values(), ids=_OTHERS)
@pytest.mark.parametrize("due", _DUE.values(), ids=_DUE)
async def test_a_talk_is_claimed_for_each_reason_without_other_peoples_turns(
    store: Store, due: str, others: str
) -> None:
    await put(store, others)
    await put(store, due)
    claimed, read = await look(store)
    assert claimed == (10 if due == _DUE["has said much"] else 1)
    assert read <= 100


async def test_the_first_of_many_who_are_quiet_is_claimed_without_the_rest(store: Store) -> None:
    await put(store, "select 'other' || n, 't', now() - interval '1 hour', 0, 1 from generate_series(1, 4000) n")
    await put(store, "select 'ann', 't' || n, now() - interval '2 hours', 0, 1 from generate_series(1, 3) n")
    claimed, read = await look(store)
    assert claimed == 3
    assert read <= 50


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("select 'ann', 't' || n, now() - n * interval '4 minutes', 0, 1 from generate_series(1, 3) n", "speaks"),
        ("select 'ann', 't' || n, now(), 0, n + 5 from generate_series(1, 9) n", "has said nine, of more before"),
        ("select 'ann', 't', now() + interval '1 second', 1, 1", "waits for another attempt"),
    ],
)
async def test_a_talk_is_left_that_has_no_reason_to_be_read(store: Store, rows: str, why: str) -> None:
    await put(store, rows)
    claimed, _ = await look(store)
    assert claimed == 0, why


async def test_a_talk_that_a_worker_reads_holds_up_nobody_else(store: Store) -> None:
    await put(store, "select 'ann', 't' || n, now() - interval '2 hours', 0, n from generate_series(1, 50) n")
    await put(store, "select 'ben', 't', now() - interval '1 hour', 0, 1")
    assert [(await look(store))[0] for _ in range(3)] == [40, 1, 0]


async def test_each_unread_turn_is_stored_with_its_number(store: Store) -> None:
    await store.admin.execute("insert into tenants (tenant_id) values ('ann'), ('ben')")
    await store.admin.execute("set session_replication_role = replica")
    for tenant, turn in (("ann", "t1"), ("ann", "t2"), ("ben", "t3"), ("ann", "t2"), ("ann", "t4")):
        await store.admin.execute("select put_unread($1, $2)", tenant, turn)
    numbers = await store.admin.fetch("select turn_id, unread from profile_jobs order by turn_id")
    assert [tuple(row) for row in numbers] == [("t1", 1), ("t2", 2), ("t3", 1), ("t4", 3)]
