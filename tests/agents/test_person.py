"""Several accounts of one service: which one is meant is asked (tests/agents/test_email.py), and remembered."""

from dataclasses import replace

import asyncpg
import pytest

from agents.accounts import choose_account, list_accounts
from core.db.database import Database
from onevalet import ToolFailed
from tests.core.builders import a_context
from tests.core.credentials.harness import add_people, new_key, store_with


async def test_two_matching_accounts_are_asked_about_until_a_choice_is_stored(database_url: str) -> None:
    database, admin = Database(database_url), await asyncpg.connect(database_url)
    await add_people(admin, "ann")
    store = store_with(database, new_key())
    for name in ("home", "work"):
        await store.save("ann", "email", {"host": "127.0.0.1", "user": name}, name)
    context = replace(a_context(tenant_id="ann"), credentials=store.for_tenant("ann"))
    assert (await store.accounts("ann", "email")).chosen == ""
    with pytest.raises(ToolFailed, match="There is no account office"):
        await choose_account(service="email", account="office", context=context)
    assert "work is meant" in await choose_account(service="email", account="work", context=context)
    assert (await store.accounts("ann", "email")).chosen == "work"
    assert "email: work (meant when none is named)" in await list_accounts(context=context)
    await admin.close()
    await database.close()
