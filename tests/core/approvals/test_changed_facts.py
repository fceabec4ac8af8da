"""A decision counts only if its facts are still so when it is written (promise 9)."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import asyncpg
import pytest

from core.approvals.exact_replies import Verb, button
from core.approvals.store import ApprovalStore
from core.db.database import Database
from core.db.decided import MOST_DECISIONS
from core.errors import StoreUnavailable
from core.inbox.inbox import Inbox
from core.messaging.messages import Address, Press
from tests.core.db.locking_calls import ANN, make_moment
from tests.core.harness import ACCOUNT, CHANNEL, OPEN, Store, message

TOKEN = "t" * 22
CANCEL = "update approvals set state = 'cancelled', decided_channel = 'slack', decided_at = now() where id = 'apr'"
TRY = "update approvals set confirm_tries = confirm_tries + 1 where id = 'apr'"

type Decide = Callable[[Store, Database, str], Awaitable[object]]


class Meanwhile(Database):
    """A database in which something happens after facts were read, as often as `times` says."""

    def __init__(self, store: Store, change: str, times: int) -> None:
        super().__init__(store.url)
        self._admin, self._change, self.times = store.admin, change, times

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run the statement; then let it happen, if these were facts."""
        rows = await super().rows(statement, *args)
        if "_facts(" in statement and self.times:
            self.times -= 1
            await self._admin.execute(self._change)
        return rows


async def _said(store: Store, database: Database, tenant: str) -> object:
    approvals = ApprovalStore(database, store.wakeups)
    return await approvals.decide(
        tenant, "apr", Verb.APPROVE, how="operator", channel="operator", now=datetime.now(UTC), said_in="op_1"
    )


async def _typed(store: Store, database: Database, tenant: str) -> object:
    del tenant
    return await Inbox(database, store.wakeups, store.make_id, OPEN).accept(message("OK 7K", ANN, "SM-decides"))


async def _pressed(store: Store, database: Database, tenant: str) -> object:
    del tenant
    press = Press(Address(CHANNEL, ACCOUNT, ANN, ""), ANN, ("SM-decides",), button(Verb.APPROVE, TOKEN))
    return await Inbox(database, store.wakeups, store.make_id, OPEN).accept(press)


WAYS = pytest.mark.parametrize("decide", [_said, _typed, _pressed], ids=["said", "typed", "pressed"])


async def _moment(store: Store) -> str:
    tenant = str((await make_moment(store))["tenant"])
    await store.admin.execute("update approvals set token = $1 where id = 'apr'", TOKEN)
    await store.admin.execute("update outbound set state = 'sent' where id = 'out_card'")
    await store.admin.execute("update outbound_parts set state = 'sent' where outbound_id = 'out_card'")
    return tenant


async def _approved(store: Store) -> object:
    return await store.one("select count(*) from approval_audit where approval_id = 'apr' and what = 'approved'")


@WAYS
async def test_promise_9_what_was_cancelled_meanwhile_is_not_approved(store: Store, decide: Decide) -> None:
    tenant = await _moment(store)
    database = Meanwhile(store, CANCEL, 1)
    try:
        result = await decide(store, database, tenant)
    finally:
        await database.close()
    assert result is not True
    decided = await store.column("select outcome from inbound where outcome is not null")
    assert decided in ([], ["already_cancelled"])
    assert await store.one("select state from approvals where id = 'apr'") == "cancelled"
    assert await _approved(store) == 0


@WAYS
async def test_promise_9_what_still_is_open_is_decided_by_new_facts(store: Store, decide: Decide) -> None:
    tenant = await _moment(store)
    database = Meanwhile(store, TRY, 3)
    try:
        await decide(store, database, tenant)
    finally:
        await database.close()
    assert database.times == 0
    assert await store.one("select state from approvals where id = 'apr'") == "approved"
    assert await _approved(store) == 1


@WAYS
async def test_promise_9_facts_that_keep_changing_leave_nothing_behind(store: Store, decide: Decide) -> None:
    tenant = await _moment(store)
    database = Meanwhile(store, TRY, 2 * MOST_DECISIONS)
    try:
        with pytest.raises(StoreUnavailable):
            await decide(store, database, tenant)
    finally:
        await database.close()
    assert database.times == MOST_DECISIONS
    assert await store.one("select state from approvals where id = 'apr'") == "pending"
    assert await store.one("select count(*) from inbox_keys where key = 'SM-decides'") == 0
