"""Mailboxes that nobody watches are due, as all work of a worker is."""

from tests.core.harness import Store


async def test_a_mailbox_that_nobody_watches_is_due_until_it_is_claimed(store: Store) -> None:
    await store.say("hello")
    assert await _waits(store) == []
    await store.admin.execute("set session_replication_role = replica")  # the row alone, without its account
    await store.admin.execute(
        "insert into mail_watches (tenant_id, service, account_name) select tenant_id, 'email', 'primary' from tenants"
    )
    [wait] = await _waits(store)
    assert wait <= 0
    await store.admin.execute("update mail_watches set lease_until = clock_timestamp() + interval '1 minute'")
    [wait] = await _waits(store)
    assert 30 < wait <= 60


async def _waits(store: Store) -> list[float]:
    rows = await store.database.rows("select wait from what_is_due(now()) where work = 'mail'")
    return [row["wait"] for row in rows]
