"""Several accounts: which is meant is asked (tests/abilities/mail/test_email.py), and remembered for what it is for."""

from dataclasses import replace

import asyncpg
import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from abilities.accounts.tools import choose_account, list_accounts
from core.db.database import Database
from onevalet import ToolFailed, ToolRetry
from tests.core.builders import a_context
from tests.core.credentials.harness import add_people, new_key, store_with


async def test_two_matching_accounts_are_asked_about_until_a_choice_is_stored(database_url: str) -> None:
    database, admin = Database(database_url), await asyncpg.connect(database_url)
    await add_people(admin, "ann")
    store = store_with(database, new_key())
    accounts = Accounts(store, Services.of()).for_tenant("ann")
    context = replace(a_context(tenant_id="ann"), accounts=accounts)
    with pytest.raises(ToolFailed, match="Nothing is connected"):
        await choose_account("work", context)
    for name in ("home", "work"):
        await store.save("ann", "email", {"host": "127.0.0.1", "user": f"{name}@example.org"}, name)
    await store.save("ann", "airline", {"key": "k"})
    with pytest.raises(ToolRetry, match="Which account"):
        await accounts.open("mail.send")
    with pytest.raises(ToolRetry, match="There is no account office, only primary, home and work"):
        await choose_account("office", context)
    with pytest.raises(ToolRetry, match="offers none of that"):
        await choose_account("work", context, kinds=["calendar"])
    assert "work is used for mail if" in await choose_account("work@example.org", context, kinds=["mail"])
    assert (await accounts.open("mail.send")).account.name == "work"
    assert "is the default account for airline" in await choose_account("airline", context)
    assert (await store.accounts("ann", "airline")).preferred == "primary"
    listed = await list_accounts(context)
    assert "- work (email): I may send mail in your name, each time only after you agree. Used for mail when" in listed
    await admin.close()
    await database.close()
