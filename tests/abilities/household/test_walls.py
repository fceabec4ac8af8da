"""Promise 11 for households: nobody reads or changes what is another member's, or another household's."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest

from abilities.household.households import Households
from abilities.household.roles import HouseholdRole
from abilities.household.shared import SharedInHousehold
from abilities.household.types import Member
from abilities.lists.lists import (
    add_to_list,
    delete_list,
    remove_from_list,
    rename_list,
    show_list,
    show_shared_list,
    take_back_list_change,
    tick_off,
)
from abilities.lists.notes import add_note, forget_note, list_notes, take_back_note
from abilities.lists.shared_notes import (
    add_shared_note,
    forget_shared_note,
    restore_shared_note,
    show_shared_notes,
    take_back_shared_note,
)
from abilities.memory.momex import Momex
from abilities.memory.shared_tools import forget_for_us, list_shared_memories, remember_for_us, take_back_shared_memory
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.messaging.search import PersonMessages
from core.people.tenant_tables import tenant_tables
from core.tools.context import NO_MEMORY
from core.tools.sharing import Sharing
from core.tools.storage import Storage
from onevalet import ToolExecutionContext
from onevalet.testing import make_context
from operations.tenants.export import Exporter
from tests.abilities.household.test_membership_model import World
from tests.abilities.memory.harness import caught_up, make_momex
from tests.core.harness import Store
from tests.core.people.harness import Harness

ANN, BEN, CLEO, DAN = range(4)


@dataclass(slots=True)
class Street:
    """Two households: Ann and Ben, Cleo and Dan. Each has canaries of their own, and each household has some."""

    world: World
    store: Store
    momex: Momex | None = None

    def context(self, person: int, key: str = "call") -> ToolExecutionContext:
        """Return the context of a call of somebody's."""
        tenant, database = self.world.tenants[person], self.store.database
        households = Households(database, self.world.harness.clock, tenant, key)
        return replace(
            make_context(tenant_id=tenant, idempotency_key=f"{key} {person}"),
            storage=Storage(database).for_tenant(tenant),
            memory=self.momex.for_tenant(tenant) if self.momex else NO_MEMORY,
            services={Sharing: SharedInHousehold(households), Households: households},
        )

    def tenant(self, person: int) -> str:
        return self.world.tenants[person]

    async def home(self, person: int) -> str:
        found = await self.world.by(person).read()
        assert found is not None
        return found.id


def canary(of: int | str) -> str:
    """Return the text that only some may read."""
    return f"canary{of}zq"


def foreign(person: int) -> set[str]:
    """Return the canaries that a person may never see."""
    home, other = ("x", "y") if person in (ANN, BEN) else ("y", "x")
    others: list[int | str] = [one for one in range(4) if one != person]
    return {canary(one) for one in (*others, other)} - {canary(home)}


@pytest.fixture
async def street(store: Store) -> AsyncIterator[Street]:
    world = World(Harness(store))
    await world.begin()
    for owner, member in ((ANN, BEN), (CLEO, DAN)):
        await world.do(("make", owner))
        await world.do(("bring", owner, member, HouseholdRole.ADULT))
    street = Street(world, store, make_momex(store.database, structured=True))
    assert street.momex is not None
    for person in range(4):
        context = street.context(person, "own")
        await add_to_list("secrets", [canary(person)], context)
        await add_note(canary(person), street.context(person, "note"))
        kept = street.context(person, "memory").memory
        assert await kept.remember(f"I keep {canary(person)} under the bed.", f"memory {person}")
        await world.harness.ask(canary(person), world.numbers[person])
    for person, home in ((ANN, "x"), (CLEO, "y")):
        await add_to_list("our shopping", [canary(home)], street.context(person, "shared"))
        await add_shared_note(canary(home), street.context(person, "shared note"))
        await remember_for_us(f"We keep {canary(home)} in the attic.", street.context(person, "shared memory"))
    yield street
    await street.momex.close()


async def seen_by(street: Street, person: int) -> str:
    """Return all that a person gets to see: tools, search, an export, and every table under their own wall."""
    context, database, tenant = street.context(person), street.store.database, street.tenant(person)
    seen: list[object] = [await show_list(context), await show_shared_list(context), await list_notes(context)]
    seen += [
        await show_shared_notes(context),
        await list_shared_memories(context),
        await street.world.by(person).read(),
    ]
    momex = street.momex
    assert momex is not None
    await caught_up(momex, tenant)
    for of in (*range(4), "x", "y"):
        # In their own words, and by what the memory's index holds.
        seen += [await momex.search(tenant, f"What about {canary(of)}?"), await context.memory.search(canary(of))]
    seen += await context.memory.overview()
    said = PersonMessages(database, tenant)
    everybody: tuple[int | str, ...] = (*range(4), "x", "y")
    seen += [await said.search(canary(of)) for of in everybody]
    keys = CredentialStore(database, SecretKeys([SecretKey("k", b"k" * 32)]))
    archive = BytesIO()
    async for piece in Exporter(database, NoBlobs(), street.world.harness.clock, "1", keys).pieces(tenant):  # type: ignore[arg-type]
        archive.write(piece)
    with ZipFile(archive) as files:
        seen += [files.read(name).decode() for name in files.namelist()]
    async with database.tenant(tenant) as connection:
        for table in tenant_tables():
            rows = await connection.fetch(f"select * from {table}")  # noqa: S608
            seen += [tuple(row.values()) for row in rows]
    return repr(seen)


class NoBlobs:
    """A store without files."""

    async def get(self, key: str) -> None:
        """Return nothing."""


async def test_promise_11_canaries_of_members_and_homes_are_seen_by_no_others(street: Street) -> None:
    for person in range(4):
        seen = await seen_by(street, person)
        assert canary(person) in seen
        assert canary("x" if person in (ANN, BEN) else "y") in seen
        assert [one for one in foreign(person) if one in seen] == [], person


async def test_a_household_counts_as_nobody_where_people_are_listed(street: Street) -> None:
    listed = {row["tenant_id"] for row in await street.store.database.rows("select * from find_tenants(100)")}
    assert listed == set(street.world.tenants.values())
    assert await street.store.db.tenants.count() == 6


async def attempts(street: Street) -> list[tuple[str, Any]]:
    """Return the calls by which Ben, an adult, tries to get at what is Ann's, and at another household, by name."""
    ben, database = street.world.by(BEN), street.store.database
    ann, cleo, ben_id, momex = street.tenant(ANN), street.tenant(CLEO), street.tenant(BEN), street.momex
    assert momex is not None
    homes = await street.home(ANN), await street.home(CLEO)
    context = street.context(BEN, "attempt")
    own, shared = Storage(database).for_tenant(street.tenant(BEN)), context.services[Sharing].storage  # type: ignore[attr-defined]
    theirs = await Storage(database).for_tenant(ann).list("lists")
    note = (await Storage(database).for_tenant(ann).list("notes"))[0]
    notes = {home: (await Storage(database).for_tenant(home).list("notes"))[0] for home in homes}
    own_numbers = [one.number for one in await momex.for_tenant(ann).overview()]
    change = {"key": theirs[0].key, "names": ["secrets", "secrets"], "items": []}
    gone = {**change, "names": [None, "secrets"]}

    tools: list[tuple[str, Any]] = [
        ("show her list", lambda: show_list(context, "secrets of ann")),
        ("show a shared list of hers", lambda: show_shared_list(context, "secrets")),
        ("tick her entry off", lambda: tick_off(["1"], context, "our secrets")),
        ("tick it off by name", lambda: tick_off(["1"], context)),
        ("remove it", lambda: remove_from_list(context, ["1"], "her secrets")),
        ("remove it by name", lambda: remove_from_list(context, ["1"])),
        ("rename onto a shared one", lambda: rename_list("our secrets of ann", "mine", context)),
        ("delete her list", lambda: delete_list("secrets of ann", context)),
        ("undo her change", lambda: take_back_list_change(gone, context)),
        ("undo it in her wall", lambda: take_back_list_change({**gone, "home": ann}, context)),
        ("undo it in the other household", lambda: take_back_list_change({**gone, "home": homes[1]}, context)),
        ("forget her note", lambda: forget_note(99, context)),
        ("take her note back", lambda: take_back_note(note.key, context)),
        ("get her list by key", lambda: own.get("lists", theirs[0].key)),
        ("get it among the shared", lambda: shared.get("lists", theirs[0].key)),
        ("get her note among the shared", lambda: shared.get("notes", note.key)),
        ("delete it among the shared", lambda: shared.delete("lists", theirs[0].key)),
        ("swap it", lambda: own.swap("lists", theirs[0].key, {}, theirs[0].value)),
        (
            "take a note of the other household back",
            lambda: take_back_shared_note(notes[homes[1]].key, homes[1], context),
        ),
        ("take it back as one of his own", lambda: take_back_shared_note(notes[homes[1]].key, homes[0], context)),
        ("restore it", lambda: restore_shared_note(notes[homes[1]].key, homes[1], context)),
        ("take her own note back as a shared one", lambda: take_back_shared_note(note.key, ann, context)),
        ("forget a shared note that is not there", lambda: forget_shared_note(99, context)),
        ("open the other household's memory", lambda: context.memory.shared(homes[1])),
        ("open her memory as a shared one", lambda: context.memory.shared(ann)),
        ("search her memory", lambda: context.memory.search(canary(ANN))),
        ("search the other household's memory", lambda: context.memory.search(canary("y"))),
        ("search it by its collection", lambda: momex.search(ben_id, canary("y"), collections=["household:ours"])),
        ("add to a household of his own making", lambda: momex.add(ben_id, [], collection="household:mine")),
        ("forget her memory by its line", lambda: forget_for_us([f"1. I keep {canary(ANN)} under the bed."], context)),
        ("take her memory back", lambda: take_back_shared_memory(own_numbers, ann, context)),
        ("take the other household's back", lambda: take_back_shared_memory([1], homes[1], context)),
        ("swap it among the shared", lambda: shared.swap("lists", theirs[0].key, {}, theirs[0].value)),
    ]
    deeds: list[tuple[str, Any]] = [
        ("put the owner out", lambda: ben.remove(Member(ann))),
        ("make her a child", lambda: ben.change(Member(ann), HouseholdRole.CHILD)),
        ("make himself the owner", lambda: ben.change(Member(street.tenant(BEN)), HouseholdRole.OWNER)),
        ("put a stranger out", lambda: ben.remove(Member(cleo))),
        ("make a stranger an adult", lambda: ben.change(Member(cleo), HouseholdRole.ADULT)),
        ("end it", lambda: ben.end(agreed=True)),
        ("put the household out", lambda: ben.remove(Member(homes[0]))),
        ("make another", lambda: ben.make("Mine")),
        ("join by a made-up code", lambda: ben.join("ABC-DEF-GH2", agreed=True)),
        ("read the answer to her deed", lambda: street.world.by(BEN, "turn 1").done()),
    ]
    rows: list[tuple[str, Any]] = []
    for table in (
        "stored_values",
        "household_members",
        "household_invitations",
        "household_deeds",
        "household_limits",
        "memories",
        "inbound",
        "tenants",
    ):
        for other in (ann, homes[0], homes[1]):
            rows.append((f"read {table} of {other}", _rows(database, street.tenant(BEN), table, other)))
            rows.append((f"change {table} of {other}", _updates(database, street.tenant(BEN), table, other)))
    shown = "update household_members set calendar = 'titles' where tenant_id = $2 and $1 <> '' returning tenant_id"
    rows.append(("show her calendar", lambda: database.tenant_rows(street.tenant(BEN), shown, ann)))
    moved = "update household_members set household_id = $2 where tenant_id = $3 and $1 <> '' returning tenant_id"
    rows.append(("move her", lambda: database.tenant_rows(street.tenant(BEN), moved, homes[1], ann)))
    return [*tools, *deeds, *rows]


def _rows(database: Database, tenant: str, table: str, other: str) -> Any:
    statement = f"select x.* from {table} x where x.tenant_id = $2 and x.tenant_id <> $1"  # noqa: S608
    return lambda: database.tenant_rows(tenant, statement, other)


def _updates(database: Database, tenant: str, table: str, other: str) -> Any:
    statement = f"update {table} set tenant_id = $1 where tenant_id = $2 and tenant_id <> $1 returning tenant_id"  # noqa: S608
    return lambda: database.tenant_rows(tenant, statement, other)


async def of_others(street: Street) -> dict[str, object]:
    """Return all that is not Ben's own: the rows of the others and of both households."""
    rows: dict[str, object] = {}
    own = street.tenant(BEN)
    tables = ("stored_values", "household_members", "household_deeds", "tenants", "profile_facts", "memories")
    for table in (*tables, "tasks", "reminder_permits", "reminder_wishes", "approvals", "joint_consents", "receipts"):
        found = await street.store.admin.fetch(
            f"select to_jsonb(x) as row from {table} x where tenant_id <> $1 order by to_jsonb(x)::text",  # noqa: S608
            own,
        )
        rows[table] = json.dumps([row["row"] for row in found], default=str)
    rows["members"] = await street.store.column(
        "select tenant_id || household_id || role || calendar from household_members order by 1"
    )
    return rows
