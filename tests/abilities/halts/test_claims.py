"""Each claim takes nothing during a halt, and all of it afterwards."""

import pytest

from tests.core.db.test_claims import CLAIMS, prepare
from tests.core.harness import Store


@pytest.mark.parametrize(("table", "claim"), CLAIMS[:-1], ids=[table for table, _ in CLAIMS[:-1]])
async def test_a_claim_takes_nothing_during_a_halt_and_all_of_it_later(store: Store, table: str, claim: str) -> None:
    await prepare(store.admin, table)
    await store.admin.execute("select begin_halt('a test')")
    assert await store.one(claim) == 0
    await store.admin.execute("select end_halt('a test')")
    assert await store.one(claim) == 1


_ROWS = {
    "claim_talk": (
        "insert into profile_jobs (tenant_id, turn_id, not_before) values ('ann', 't', now() - interval '1 hour')",
        "select count(*) from claim_talk('w1', '1 minute', 9, '1 minute', 9)",
    ),
    "claim_event": (
        "insert into event_work (tenant_id, source, event_id, group_name) values ('ann', 's', 'e', 'g');"
        "insert into events (tenant_id, source, id, type, data, occurred_at)"
        " values ('ann', 's', 'e', 't', '{}', now())",
        "select count(*) from claim_event('ann', 's', 'e', 'g', 'w1', '20 seconds')",
    ),
    "claim_mail_watches": (
        "insert into mail_watches (tenant_id, id, service, account_name) values ('ann', 'k', 's', 'a')",
        "select count(*) from claim_mail_watches('w1', '20 seconds', 9)",
    ),
    "claim_deletion": (
        "insert into deletions (person, asked_by, asked_at, due_at) values ('ann', 'operator', now(), now())",
        "select count(*) from claim_deletion(null, now(), '20 seconds')",
    ),
}


@pytest.mark.parametrize("claim", _ROWS)
async def test_other_claims_take_nothing_during_a_halt_either(store: Store, claim: str) -> None:
    rows, call = _ROWS[claim]
    await store.admin.execute("set session_replication_role = replica")  # rows without those that they belong to
    await store.admin.execute(rows)
    await store.admin.execute("set session_replication_role = origin")
    await store.admin.execute("select begin_halt('a test')")
    assert await store.one(call) == 0
    await store.admin.execute("select end_halt('a test')")
    assert await store.one(call) == 1
