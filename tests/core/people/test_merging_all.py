"""A merge with rows in every table of both people: nothing stays behind, whoever owns the table."""

import re

from abilities.events.merge import EventSourceMerge
from abilities.household.merge import HouseholdMerge
from abilities.memory.merge import MemoryMerge
from core.approvals.store import ApprovalMerge
from core.consents.store import ConsentMerge
from core.people.profile import ProfileMerge
from core.people.table_rules import Merge
from core.people.tenant_tables import kept_apart, merge_rules, parting_rules, tenant_tables
from notify.merge import MutedMerge
from tests.core.db.test_row_security import KEPT
from tests.core.people.harness import CHAT, PHONE, Harness

_VERSION = "memory_versions (tenant_id, version) values ($1, 1)"
_IDS = re.compile(r"'(m|t|r|j|f|apr|ntf|a|k|turn|lnk|rcp|w)'")
ANN, ANN_CHAT = "+15550000001", "7001"
LATER = {
    "event_work", "events", "memory_jobs", "profile_jobs", "reservations", "pool_entries", "approval_codes",
    "household_members", "household_limits",
}  # fmt: skip
"""What ends by itself, or where two equal rows had become one; nobody was in two households meanwhile."""


async def test_two_who_have_rows_in_every_table_become_one(harness: Harness) -> None:
    harness.hooks = (
        HouseholdMerge(),
        MemoryMerge(),
        ProfileMerge(),
        ApprovalMerge(harness.clock),
        ConsentMerge(harness.clock),
        EventSourceMerge(harness.credentials),
        MutedMerge(),
    )
    for number, (sender, account) in enumerate(((ANN, PHONE), (ANN_CHAT, CHAT))):
        await harness.ask("hello", sender, account)
        tenant = await harness.tenant(sender, account)
        await harness.credentials.save(tenant, "calendar", {"token": "t"})  # a data key that opens
        async with harness.store.database.tenant(tenant) as connection:
            for kept_row in KEPT:
                if "add_data_key" in kept_row or "save_credentials" in kept_row:
                    continue
                statement = kept_row.replace("memory_versions (tenant_id) values ($1)", _VERSION)
                # Two households would each be left without an adult.
                statement = statement.replace("'hh' || $1", "'hh'")
                # Ids of ours are never the same twice.
                await connection.execute(
                    _IDS.sub(rf"'\g<1>{number}'", statement).replace("{m}", f"{{m{number}}}"), tenant
                )
    # The one who stays has told numbers far beyond those of the other.
    await harness.store.db.memories.change({"number": 5}, id="m0")
    await harness.store.db.memory_versions.change({"version": 5}, tenant_id=await harness.tenant(ANN))
    for sender, account, muted in ((ANN, PHONE, ["price", "mail"]), (ANN_CHAT, CHAT, ["mail", "*"])):
        await harness.store.db.tenants.change({"muted": muted}, tenant_id=await harness.tenant(sender, account))
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    kept, gone = await harness.tenant(ANN), await harness.tenant(ANN_CHAT, CHAT)
    before = {
        table: await harness.store.one(f"select count(*) from {table}")  # noqa: S608
        for table in tenant_tables()
    }
    had = {
        table: await harness.store.column(f"select distinct tenant_id from {table} order by 1")  # noqa: S608
        for table in (*parting_rules(), "stored_values", "credentials", "data_keys")
    }
    asked = await harness.ask(f"LINK {code}", ANN)
    assert "1 task" in asked
    assert (await harness.ask(f"LINK {code} AGREE", ANN)).startswith("Linked")
    for table in tenant_tables():
        owners = set(await harness.store.column(f"select tenant_id from {table}"))  # noqa: S608
        assert owners <= {kept}, table
        if merge_rules()[table].how in (Merge.MOVE, Merge.NUMBER) and not table.startswith("memory_"):
            now = await harness.store.one(f"select count(*) from {table}")  # noqa: S608
            assert (table, int(str(now))) >= (table, int(str(before[table])))
    assert await harness.store.db.memories.column("number", order="number") == [5, 6]
    assert await harness.store.db.tasks.column("number", order="number") == [1, 2]
    assert await harness.store.db.tenants.one("muted", tenant_id=kept) == ["*", "mail", "price"]
    assert await harness.store.db.tenants.count(tenant_id=gone) == 0
    assert await harness.ask("hello again", ANN_CHAT, CHAT) == "re hello again"
    # And apart again: each has what it had, under its own numbers.
    assert (await harness.ask("UNLINK", ANN_CHAT, CHAT)).startswith("Taken back")
    assert (await harness.tenant(ANN), await harness.tenant(ANN_CHAT, CHAT)) == (kept, gone)
    for table in sorted(set(had) - LATER):
        parted = await harness.store.column(f"select distinct tenant_id from {table} order by 1")  # noqa: S608
        assert parted == had[table], table
    for table, numbers in (("memories", [1, 5]), ("tasks", [1, 1])):
        assert await harness.store.column(f"select number from {table} order by 1") == numbers, table  # noqa: S608
    for tenant in (kept, gone):
        assert await harness.credentials.get(tenant, "calendar") == {"token": "t"}
    assert await harness.ask("and again", ANN_CHAT, CHAT) == "re and again"
    assert await harness.ask("and I", ANN) == "re and I"


def test_every_table_of_a_tenants_says_what_a_parting_does_with_it() -> None:
    assert set(tenant_tables()) == set(parting_rules()) | kept_apart()
    assert not set(parting_rules()) & kept_apart()


def test_a_parting_moves_parents_before_what_follows_them() -> None:
    place = {table: number for number, table in enumerate(parting_rules())}
    assert [
        (table, parent)
        for table, parents in parting_rules().items()
        for _, parent, _ in parents
        if parent in place and place[parent] > place[table]
    ] == []
