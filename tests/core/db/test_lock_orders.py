"""A decision and the sending of its card meet without a deadlock: no row is locked against what points to it."""

import re

from core.db.database import Database
from onevalet.migrating import all_functions
from tests.core.db.test_row_security import two_people
from tests.core.harness import Store

_LOCKED = re.compile(
    r"from (conversations|lanes|approvals|outbound) \w+\b(?:(?!\bfrom\b)[^;])*?\bfor update(?! of d\b)"
)
_COMMENT = re.compile(r"--[^\n]*")


async def test_a_decision_does_not_wait_for_the_card_that_is_being_sent(store: Store) -> None:
    await two_people(store)
    card = await store.admin.fetchrow("select tenant_id, outbound_id, approval_id from approval_cards limit 1")
    assert card is not None
    tenant, outbound, approval = card
    await store.db.approval_cards.change({"role": "card"}, outbound_id=outbound)
    await store.db.outbound.change({"owner": "w1", "fence": 7}, id=outbound)
    await store.db.redraws.delete()
    deciding = Database(store.url, patience=5, size=2)
    try:
        async with store.database.tenant(tenant) as sending, deciding.tenant(tenant) as decision:
            await sending.execute("select lock_outbound($1, $2, 7)", tenant, outbound)
            # The channel's row is locked here, and the delivery asks for it next: whoever waits now waits for ever.
            await decision.execute("set local lock_timeout = '2s'")
            await decision.execute("select draw_outcome($1, $2, 'approved', now())", tenant, approval)
    finally:
        await deciding.close()
    assert await store.db.redraws.count() == 1


def test_no_function_locks_rows_against_what_points_to_them() -> None:
    found = {
        (f"{file.name}.sql", lock[1])
        for file in all_functions()
        for lock in _LOCKED.finditer(_COMMENT.sub("", file.sql))
    }
    # These delete what they lock, or change its keys.
    assert found == {
        ("retention.sql", "outbound"), ("strangers.sql", "outbound"), ("tasks/tasks.sql", "lanes"),
        ("unlinking.sql", "conversations"),
    }  # fmt: skip
