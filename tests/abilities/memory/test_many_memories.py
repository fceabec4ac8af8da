"""What each message asks of memory does not grow with it: counted in rows that are read, as times tell less."""

import pytest

from core.db.database import Database
from tests.core.harness import Store

_READ = "select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables where relname = 'memories'"
_MANY = """
insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from, extractor)
select 'ann', 'm' || n, n, 'The crate ' || n || ' is in the cellar.', 'person', 'told', 's' || n,
       '2026-01-01', '2026-01-01', case when n = 10 then 'rules, until read' else 'm' end
from generate_series(1, 8000) n
"""
_SAID = {
    "id": "new",
    "collection": "",
    "text": "the crate 7 is in the cellar",
    "speaker": "person",
    "kind": "told",
    "source_key": "history:new",
    "turn_id": "t",
    "said_at": "2026-11-01T12:00:00Z",
    "slot": "",
    "knowledge": {},
    "extractor": "m",
    "held": False,
    "same_words": True,
}


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("select read_memory('ann', 't') ->> 'settled'", "9"),
        ("select j.known[1] from read_memory_job('ann', 'j') j", None),
        ("select cardinality(added) from keep_memories('ann', $1, 'e', null, null)", 0),
    ],
)
async def test_what_a_message_asks_of_memory_reads_few_of_many_memories(
    store: Store, asked: str, read: str | int | None
) -> None:
    await store.admin.execute("insert into tenants (tenant_id) values ('ann')")
    await store.admin.execute(_MANY)
    await store.admin.execute("insert into memory_jobs (tenant_id, id, turn_id) select 'ann', 'j', null")
    await store.admin.execute("analyze memories")
    database = Database(store.url, size=1)
    try:
        async with database.tenant("ann") as connection:
            before = await connection.fetchval(_READ)
            arguments = [[_SAID]] if "$1" in asked else []
            assert await connection.fetchval(asked, *arguments) == read
            assert await connection.fetchval(_READ) - before <= 50
    finally:
        await database.close()
    repeated = await store.one("select repeated from memories where number = 7")
    assert repeated == (1 if "keep_memories" in asked else 0)
