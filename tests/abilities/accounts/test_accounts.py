"""Which accounts a person has, and what opens the one that is meant."""

import asyncpg
import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from core.credentials.secret_keys import SecretKey
from core.credentials.store import CredentialStore
from core.credentials.types import Ability
from core.db.database import Database
from core.errors import AccountMissing, ToolFailed, ToolRetry
from core.json_types import JsonObject
from tests.core.credentials.harness import new_key, store_with

MAIL: JsonObject = {
    "host": "smtp.example.org",
    "user": "ann",
    "password": "canary-77",
    "from": "Ann <ann@example.org>",
    "imap": {"host": "imap.example.org"},
}
SENDS_ONLY: JsonObject = {"host": "::1", "port": 587, "user": "bob@example.org", "password": "canary-78"}
DAV: JsonObject = {"caldav": "https://dav.example.org/", "user": "ann@example.org", "password": "canary-79"}


async def test_an_account_by_password_opens_each_of_its_servers(store: CredentialStore, accounts: Accounts) -> None:
    await store.save("ann", "email", MAIL)
    await store.save("ann", "caldav", DAV | {"carddav": "https://contacts.example.org/"})
    opened = await accounts.for_tenant("ann").open("mail.read")
    assert (opened.login, opened.secret, opened.bearer) == ("ann", "canary-77", False)
    assert opened.servers == {"smtp": "smtps://smtp.example.org:465", "imap": "imaps://imap.example.org:993"}
    assert opened.account.address == "ann@example.org"
    assert "canary" not in repr(opened)
    calendar = await accounts.open("ann", "caldav:calendar.change")
    assert calendar.servers == {"caldav": "https://dav.example.org/", "carddav": "https://contacts.example.org/"}
    assert [account.service for account in await accounts.list("ann")] == ["caldav", "email"]
    assert await accounts.list("bob") == []


async def test_an_account_that_sends_only_cannot_read(store: CredentialStore, accounts: Accounts) -> None:
    await store.save("ann", "email", SENDS_ONLY)
    (account,) = await accounts.list("ann", "mail.send")
    assert account.abilities == {Ability.MAIL_SEND}
    assert (await accounts.open("ann", "mail.send")).servers == {"smtp": "smtp+starttls://[::1]:587"}
    assert await accounts.list("ann", "mail.read") == []
    with pytest.raises(AccountMissing, match=r"^No account is connected whose mail I can read\.$") as missing:
        await accounts.open("ann", "mail.read")
    assert (missing.value.need, missing.value.account) == ("mail.read", None)
    with pytest.raises(AccountMissing, match="does not let me do this yet") as too_little:
        await accounts.open("ann", "mail.read", "bob@example.org")
    assert too_little.value.account == "primary"


async def test_of_several_accounts_the_named_or_preferred_is_opened(store: CredentialStore, accounts: Accounts) -> None:
    for name in ("home", "work"):
        await store.save("ann", "email", MAIL | {"from": f"{name}@example.org"}, name)
    with pytest.raises(ToolRetry, match=r"^Which account: home or work\?$"):
        await accounts.open("ann", "mail.read")
    for named in ("work", "WORK ", "work@example.org", "email work"):
        assert (await accounts.open("ann", "mail.read", named)).account.name == "work"
    with pytest.raises(ToolRetry, match="There is no account school, only home and work"):
        await accounts.open("ann", "mail.read", "school")
    with pytest.raises(ToolRetry, match="Which account"):
        await accounts.open("ann", "mail.read", "email")
    await store.prefer("ann", "email", "work")
    assert (await accounts.open("ann", "mail.read")).account.name == "work"
    assert [account.name for account in await accounts.list("ann")] == ["work", "home"]


async def test_a_revoked_account_asks_to_be_connected_again(
    store: CredentialStore, accounts: Accounts, admin: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await store.save("ann", "email", MAIL, "work")
    await admin.execute("update credentials set revoked_at = now()")
    assert [account.revoked for account in await accounts.list("ann")] == [True]
    with pytest.raises(AccountMissing, match="work has to be connected again") as missing:
        await accounts.open("ann", "mail.read")
    assert missing.value.account == "work"
    await store.save("ann", "email", MAIL, "work")
    assert (await accounts.open("ann", "mail.read")).account.revoked is False


async def test_promise_11_what_does_not_open_is_told_and_listed(
    store: CredentialStore, accounts: Accounts, database: Database, key: SecretKey
) -> None:
    await store.save("ann", "email", MAIL)
    other = Accounts(store_with(database, new_key()), Services.of())
    (account,) = await other.list("ann")
    assert (account.service, account.abilities) == ("email", frozenset())
    with pytest.raises(ToolFailed, match="cannot be read at the moment"):
        await other.for_tenant("ann").open("mail.read")
    assert (await accounts.open("ann", "mail.read")).secret == "canary-77"
    assert key.id


async def test_a_service_that_only_its_own_tools_know_is_listed(store: CredentialStore, accounts: Accounts) -> None:
    await store.save("ann", "airline", {"key": "k"})
    (account,) = await accounts.list("ann")
    assert (account.service, account.address, account.abilities) == ("airline", "", frozenset())
    with pytest.raises(AccountMissing):
        await accounts.open("ann", "mail.read")


@pytest.mark.parametrize("need", ["mail", "google:", "mail.read:google"])
async def test_a_need_that_is_none_is_the_tools_fault(accounts: Accounts, need: str) -> None:
    with pytest.raises(ValueError, match="is not a valid Ability"):
        await accounts.open("ann", need)
