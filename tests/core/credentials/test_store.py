"""The credential store: the seed's four calls, apart by tenant, sealed at rest."""

import asyncio
import json

import asyncpg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from core.credentials.secret_keys import SecretKey
from core.credentials.store import MAX_BYTES, MAX_NAME, CredentialError, CredentialStore
from core.db.database import Database
from core.errors import ToolFailed
from core.json_types import JsonObject
from core.tools.storage import Storage, stored_with
from tests.core.credentials.harness import new_key, store_with
from tests.core.harness import TwiceDatabase
from tests.examples import examples

type Admin = asyncpg.Connection[asyncpg.Record]
TOKEN: JsonObject = {"access_token": "canary-8d1f", "expires_in": 3600, "scopes": ["mail", "calendar"]}

SEALED = r"^The stored data of this service cannot be read at the moment\.$"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


async def test_what_is_saved_is_given_back_replaced_listed_and_deleted(store: CredentialStore) -> None:
    assert await store.get("ann", "google") is None
    await store.save("ann", "google", TOKEN)
    assert await store.get("ann", "google") == await store.get("ann", "google", "primary") == TOKEN
    await store.save("ann", "google", {"access_token": "newer"})
    await store.save("ann", "google", {"access_token": "at work"}, account_name="work")
    await store.save("ann", "amadeus", {"key": "k"})
    assert await store.get("ann", "google") == {"access_token": "newer"}
    assert await store.get("ann", "google", account_name="work") == {"access_token": "at work"}
    listed = [(account["service"], account["account_name"]) for account in await store.list("ann")]
    assert listed == [("amadeus", "primary"), ("google", "primary"), ("google", "work")]
    assert [account["account_name"] for account in await store.list("ann", service="google")] == ["primary", "work"]
    await store.delete("ann", "google")
    await store.delete("ann", "google")
    assert await store.get("ann", "google") is None
    assert await store.get("ann", "google", "work") is not None


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(credentials=st.dictionaries(st.text(st.characters()), values, max_size=4), account=st.text(min_size=1))
async def test_any_json_object_comes_back_as_it_was(
    store: CredentialStore, credentials: JsonObject, account: str
) -> None:
    if len(account) > MAX_NAME or "\0" in account or any("\ud800" <= letter <= "\udfff" for letter in account):
        with pytest.raises(CredentialError):
            await store.save("ann", "any", credentials, account)
        return
    await store.save("ann", "any", credentials, account)
    assert await store.get("ann", "any", account) == credentials
    await store.delete("ann", "any", account)


async def test_a_list_holds_nothing_secret(store: CredentialStore) -> None:
    await store.save("ann", "google", TOKEN)
    [listed] = await store.list("ann")
    assert set(listed) == {"service", "account_name", "preferred", "created_at", "updated_at"}
    assert "canary" not in json.dumps(listed)


async def test_nothing_readable_lies_in_the_database(store: CredentialStore, admin: Admin, key: SecretKey) -> None:
    await store.save("ann", "google", TOKEN)
    for table in ("credentials", "data_keys"):
        [row] = await admin.fetch(f"select * from {table}")  # noqa: S608
        held = b" ".join(value if isinstance(value, bytes) else str(value).encode() for value in row.values())
        assert b"canary" not in held
        assert b"access_token" not in held
        assert key.value not in held


@pytest.mark.parametrize(
    ("move", "where"),
    [
        ("tenant_id = 'bob'", ("bob", "google", "primary")),
        ("service = 'microsoft'", ("ann", "microsoft", "primary")),
        ("account_name = 'work'", ("ann", "google", "work")),
        ("service = 'Google'", ("ann", "Google", "primary")),
    ],
)
async def test_promise_11_a_row_moved_to_another_owner_does_not_decrypt(
    store: CredentialStore, admin: Admin, move: str, where: tuple[str, str, str]
) -> None:
    await store.save("ann", "google", TOKEN)
    await store.save("bob", "slack", {"a": "b"})
    await admin.execute(f"update credentials set {move} where tenant_id = 'ann'")  # noqa: S608
    with pytest.raises(CredentialError, match="do not open") as caught:
        await store.get(*where)
    assert "canary" not in str(caught.value)


async def test_promise_11_a_row_moved_together_with_its_data_key_does_not_open(
    store: CredentialStore, admin: Admin
) -> None:
    await store.save("ann", "google", TOKEN)
    await admin.execute(
        "insert into data_keys select 'bob', version, secret_key_id, wrapped from data_keys where tenant_id = 'ann'"
    )
    await admin.execute("update credentials set tenant_id = 'bob'")
    with pytest.raises(CredentialError, match="data key was changed"):
        await store.get("bob", "google")


async def test_a_row_under_another_version_of_the_data_key_does_not_open(store: CredentialStore, admin: Admin) -> None:
    await store.save("ann", "google", TOKEN)
    await admin.execute("insert into data_keys select tenant_id, 2, secret_key_id, wrapped from data_keys")
    await admin.execute("update credentials set key_version = 2")
    with pytest.raises(CredentialError, match="not open"):
        await store.get("ann", "google")


async def test_without_its_secret_key_it_says_which_setting_lacks_it(
    store: CredentialStore, database: Database
) -> None:
    await store.save("ann", "google", TOKEN)
    other = store_with(database, new_key())
    for attempt in (other.get("ann", "google"), other.save("ann", "slack", {})):
        with pytest.raises(CredentialError, match="not in ONEVALET_SECRET_KEYS"):
            await attempt


async def test_first_saves_that_come_together_share_one_data_key(store: CredentialStore, admin: Admin) -> None:
    await asyncio.gather(*(store.save("ann", f"service {n}", {"n": n}) for n in range(20)))
    assert await admin.fetchval("select count(*) from data_keys") == 1
    for n in range(20):
        assert await store.get("ann", f"service {n}") == {"n": n}


async def test_a_lost_answer_changes_nothing(
    database_url: str, database: Database, key: SecretKey, admin: Admin
) -> None:
    twice = TwiceDatabase(database_url)
    try:
        store = store_with(twice, key)
        await store.save("ann", "google", TOKEN)
        await store.save("ann", "google", TOKEN, "work")
        await store.prefer("ann", "google", "work")
        assert await store.get("ann", "google") == TOKEN
        await store.delete("ann", "google")
        assert [account["account_name"] for account in await store.list("ann")] == ["work"]
        assert twice.differing == []
    finally:
        await twice.close()


async def test_a_tenant_that_is_not_there_is_refused(store: CredentialStore) -> None:
    with pytest.raises(CredentialError, match="no tenant carl"):
        await store.save("carl", "google", TOKEN)


@pytest.mark.parametrize("name", ["", "x" * 201, "a\0b", "\ud800"])
async def test_a_name_that_cannot_be_stored_is_refused(store: CredentialStore, name: str) -> None:
    for attempt in (
        store.save("ann", name, {}),
        store.save("ann", "google", {}, name),
        store.get("ann", name),
        store.delete("ann", "google", name),
        store.list("ann", name),
        store.prefer("ann", "google", name),
    ):
        with pytest.raises(CredentialError, match="1 to 200 characters"):
            await attempt


async def test_too_much_is_refused(store: CredentialStore) -> None:
    with pytest.raises(CredentialError, match="at most 64 KiB"):
        await store.save("ann", "google", {"a": "x" * MAX_BYTES})


async def test_names_that_differ_only_in_case_are_different_accounts(store: CredentialStore) -> None:
    await store.save("ann", "google", {"a": 1}, "Work")
    assert await store.get("ann", "google", "work") is None


async def test_a_sole_account_is_chosen_and_a_choice_between_two_is_remembered(
    store: CredentialStore,
) -> None:
    assert (await store.accounts("ann", "google")).chosen == ""
    await store.save("ann", "google", {}, "work")
    assert (await store.accounts("ann", "google")).chosen == "work"
    await store.save("ann", "google", {}, "home")
    asked = await store.accounts("ann", "google")
    assert (asked.names, asked.chosen) == (("home", "work"), "")
    for choice in ("work", "home", "home"):
        await store.prefer("ann", "google", choice)
        assert (await store.accounts("ann", "google")).chosen == choice
    with pytest.raises(CredentialError, match="no account third of google"):
        await store.prefer("ann", "google", "third")
    assert (await store.accounts("ann", "google")).chosen == "home"
    await store.delete("ann", "google", "home")
    assert (await store.accounts("ann", "google")).chosen == "work"


async def test_choices_that_come_together_leave_one(store: CredentialStore) -> None:
    names = [f"account {n}" for n in range(6)]
    for name in names:
        await store.save("ann", "google", {}, name)
    await asyncio.gather(*(store.prefer("ann", "google", name) for name in names * 3))
    assert (await store.accounts("ann", "google")).preferred in names


async def test_promise_11_a_tool_reaches_its_own_tenants_credentials(store: CredentialStore) -> None:
    await store.save("bob", "google", {"of": "bob"})
    anns = store.for_tenant("ann")
    await anns.save("ann", "google", TOKEN)
    assert await anns.get("ann", "google") == TOKEN
    assert [account["service"] for account in await anns.list("ann")] == ["google"]
    assert (await anns.accounts("ann", "google")).chosen == "primary"
    await anns.prefer("ann", "google", "primary")
    for attempt in (
        anns.get("bob", "google"),
        anns.save("bob", "google", {}),
        anns.list("bob"),
        anns.delete("bob", "google"),
        anns.accounts("bob", "google"),
        anns.prefer("bob", "google", "primary"),
        anns.get("", "google"),
        anns.get("Ann", "google"),
    ):
        with pytest.raises(ToolFailed, match="Only this person's own"):
            await attempt
    assert await store.get("bob", "google") == {"of": "bob"}
    await anns.delete("ann", "google")
    assert await anns.get("ann", "google") is None


async def test_promise_14_what_a_tool_is_told_has_no_internals(
    store: CredentialStore, database: Database, admin: Admin
) -> None:
    await store.save("ann", "google", TOKEN)
    with pytest.raises(ToolFailed, match=SEALED):
        await store_with(database, new_key()).for_tenant("ann").get("ann", "google")
    await admin.execute("update credentials set credentials_json = 'x'")
    with pytest.raises(ToolFailed, match=SEALED):
        await store.for_tenant("ann").get("ann", "google")


async def test_promise_11_the_serving_role_sees_only_one_tenants_secrets(
    store: CredentialStore, database: Database
) -> None:
    for tenant in ("ann", "bob"):
        await store.save(tenant, "google", TOKEN)
    for table in ("credentials", "data_keys"):
        assert await database.rows(f"select * from {table}") == []  # noqa: S608
        async with database.tenant("ann") as connection:
            rows = await connection.fetch(f"select tenant_id from {table}")  # noqa: S608
            assert [row["tenant_id"] for row in rows] == ["ann"]


async def test_what_was_read_from_an_account_goes_with_it(store: CredentialStore, database: Database) -> None:
    read = Storage(database).for_tenant("ann")
    names = ("work", "home", "w" * 200)
    for name in names:
        await store.save("ann", "google", TOKEN, account_name=name)
        await read.put(stored_with("google", name), "card", {"name": "Sam"})
    for name in ("work", "w" * 200):
        await store.delete("ann", "google", name)
    assert [len(await read.list(stored_with("google", name))) for name in names] == [0, 1, 0]


async def test_a_deleted_tenant_leaves_neither_key_nor_secret(store: CredentialStore, admin: Admin) -> None:
    await store.save("ann", "google", TOKEN)
    await admin.execute("delete from tenants where tenant_id = 'ann'")
    assert await admin.fetchval("select count(*) from credentials") == 0
    assert await admin.fetchval("select count(*) from data_keys") == 0
