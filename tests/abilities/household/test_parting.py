"""What stays and what goes when somebody is deleted, becomes one with another, or parts from them again."""

import pytest

from abilities.household.merge import HouseholdMerge
from abilities.household.roles import HouseholdRole
from abilities.household.types import Member
from abilities.lists.lists import add_to_list, show_shared_list
from abilities.tasks.merge import WishMerge
from core.people.chat_names import masked
from core.people.tenant_tables import tenant_tables
from tests.abilities.household.test_membership_model import World
from tests.abilities.household.test_walls import Street
from tests.core.harness import Store
from tests.core.people.harness import Harness

ANN, BEN, CLEO, DAN = range(4)


@pytest.fixture
async def street(store: Store) -> Street:
    """Return Ann and Ben, who live together, and Cleo and Dan, who live alone."""
    world = World(Harness(store, hooks=(HouseholdMerge(), WishMerge())))
    await world.begin()
    await world.do(("make", ANN))
    await world.do(("bring", ANN, BEN, HouseholdRole.ADULT))
    return Street(world, store)


async def unlink(street: Street, person: int) -> None:
    assert (await street.world.harness.ask("UNLINK", street.world.numbers[person])).startswith("Taken back")


async def homes(street: Street) -> dict[str, str]:
    """Return who is in which household."""
    rows = await street.store.admin.fetch("select tenant_id, household_id from household_members")
    return {row["tenant_id"]: row["household_id"] for row in rows}


async def test_what_somebody_put_on_a_shared_list_stays_when_they_are_deleted(street: Street) -> None:
    await add_to_list("our shopping", ["milk"], street.context(ANN, "a"))
    ann = street.tenant(ANN)
    await street.world.do(("delete", ANN))
    assert "1. milk" in await show_shared_list(street.context(BEN))
    # Their name and id are nowhere any more, but for the news that they left.
    for table in (table for table in tenant_tables() if table != "household_news"):
        left = await street.store.column(f"select x::text from {table} x where x::text like '%' || $1 || '%'", ann)  # noqa: S608
        assert left == [], table


async def test_a_deed_keeps_of_anothers_address_only_what_is_shown(street: Street) -> None:
    deed = await street.world.by(ANN, "removal").remove(Member(street.tenant(BEN)))
    again = await street.world.by(ANN, "removal").done()
    assert again is not None
    assert again.who is not None
    assert deed.who is not None
    assert again.who.shown == deed.who.shown == f"SMS {masked(street.world.numbers[BEN])}"
    assert street.world.numbers[BEN] not in str(await street.store.db.household_deeds.column("answer"))


@pytest.mark.parametrize("key", ["+15550000042", "+1555004", "U0423", "U04235", "ada@example.org", "+15•••0042", ""])
async def test_an_address_is_masked_in_sql_as_it_is_shown(store: Store, key: str) -> None:
    kept = str(await store.one("select masked_address($1)", key))
    assert masked(kept) == masked(key)
    assert kept == (masked(key) if key else "")


@pytest.mark.parametrize("merged", [False, True])
async def test_who_left_before_their_deletion_is_in_nobodys_deeds(street: Street, merged: bool) -> None:
    ben, number = street.tenant(BEN), street.world.numbers[BEN]
    await street.world.do(("change", ANN, BEN, None))
    if merged:
        await street.world.do(("merge", CLEO, BEN))
        await street.world.harness.settle()
    await street.world.do(("delete", CLEO if merged else BEN))
    left = str(await street.store.db.household_deeds.column("answer"))
    assert ben not in left
    assert number[-4:] not in left


async def test_the_words_of_reminders_for_others_go_with_who_wanted_them(street: Street) -> None:
    ann, ben, database = street.tenant(ANN), street.tenant(BEN), street.store.database
    wish = {"id": "w", "name": "Ann", "text": "CANARY", "at": "2030-01-01T10:00:00Z"}
    now = street.world.harness.clock.now()
    assert (await database.one("select wish_reminder($1,$2,$3,$4,5) as state", ann, ben, wish, now))["state"] == "asked"
    await street.world.do(("delete", ANN))
    assert await street.store.db.reminder_wishes.count() == 0
    assert await street.store.db.reminder_permits.count() == 0


async def wish(street: Street, person: int, other: int, id: str) -> str:
    """Let somebody want a reminder for another; return what the permit says."""
    wish = {"id": id, "name": "Ann", "text": "CANARY", "at": "2030-01-01T10:00:00Z"}
    ids, now = (street.tenant(person), street.tenant(other)), street.world.harness.clock.now()
    row = await street.store.database.one("select wish_reminder($1,$2,$3,$4,5) as state", *ids, wish, now)
    return str(row["state"])


async def test_a_reminder_for_another_is_wanted_by_the_one_who_stays(street: Street) -> None:
    cleo = street.tenant(CLEO)
    await wish(street, ANN, BEN, "w")
    await street.world.do(("merge", CLEO, ANN))
    assert await wish(street, CLEO, BEN, "again") == "asked"
    permits, wishes = street.store.db.reminder_permits, street.store.db.reminder_wishes
    assert await permits.column("from_id") == [cleo]
    assert await wishes.column("from_id") == [cleo, cleo]
    await street.world.do(("delete", CLEO))
    assert (await permits.count(), await wishes.count()) == (0, 0)


@pytest.mark.parametrize("states", [("refused", "allowed"), ("allowed", "refused")], ids=str)
async def test_the_stricter_word_counts_when_two_who_wish_become_one(street: Street, states: tuple[str, str]) -> None:
    permits = street.store.db.reminder_permits
    for person, state in zip((ANN, CLEO), states, strict=True):
        await wish(street, person, BEN, state)
        await permits.change({"state": state}, from_id=street.tenant(person))
    await street.world.do(("merge", CLEO, ANN))
    assert await wish(street, CLEO, BEN, "again") == "refused"
    assert await permits.count() == 1


async def test_the_stricter_word_counts_when_two_who_decided_become_one(street: Street) -> None:
    permits = street.store.db.reminder_permits
    for person, state in ((BEN, "refused"), (CLEO, "allowed")):
        await wish(street, ANN, person, state)
        await permits.change({"state": state}, tenant_id=street.tenant(person))
    await street.world.do(("merge", CLEO, BEN))
    assert await wish(street, ANN, CLEO, "again") == "refused"


async def test_nobody_is_asked_about_themselves_when_they_become_one(street: Street) -> None:
    await wish(street, ANN, BEN, "w")
    await street.world.do(("merge", BEN, ANN))
    assert await street.store.db.reminder_permits.count() == 0
    assert await street.store.db.reminder_wishes.column("text") == [""]


async def permits(street: Street) -> set[tuple[str, str, str]]:
    """Return who decided what about whom."""
    rows = await street.store.admin.fetch("select tenant_id, from_id, state from reminder_permits")
    return {tuple(row) for row in rows}


async def test_reminders_go_back_when_a_link_is_undone(street: Street) -> None:
    ann, ben, cleo = (street.tenant(one) for one in (ANN, BEN, CLEO))
    await wish(street, ANN, BEN, "of Ann")
    await wish(street, BEN, ANN, "for Ann")
    await wish(street, CLEO, BEN, "of Cleo")
    await street.store.db.reminder_permits.change({"state": "allowed"}, tenant_id=ann)
    before = await permits(street)
    await street.world.do(("merge", CLEO, ANN))
    assert ann not in {one for pair in await permits(street) for one in pair}
    await street.world.harness.settle()
    await unlink(street, CLEO)
    assert await permits(street) == before
    rows = await street.store.admin.fetch("select id, tenant_id, from_id from reminder_wishes order by id")
    assert [tuple(row) for row in rows] == [("for Ann", ann, ben), ("of Ann", ben, ann), ("of Cleo", ben, cleo)]


async def test_what_was_decided_apart_counts_again_after_a_link(street: Street) -> None:
    ann, ben, cleo = (street.tenant(one) for one in (ANN, BEN, CLEO))
    decided = {(ben, cleo): "allowed", (ben, ann): "refused", (ann, cleo): "refused", (cleo, ann): "allowed"}
    people = {ann: ANN, ben: BEN, cleo: CLEO}
    for (decides, wants), state in decided.items():
        await wish(street, people[wants], people[decides], f"{decides} {wants}")
        await street.store.db.reminder_permits.change({"state": state}, tenant_id=decides, from_id=wants)
    await street.world.do(("merge", CLEO, ANN))
    assert await permits(street) == {(ben, cleo, "refused")}
    await street.world.harness.settle()
    await unlink(street, CLEO)
    # The stricter word about both of them stays with the one who stayed.
    assert await permits(street) == {(*pair, state) for pair, state in (decided | {(ben, cleo): "refused"}).items()}


async def test_a_membership_that_came_with_a_link_goes_back_with_it(street: Street) -> None:
    ben, cleo = street.tenant(BEN), street.tenant(CLEO)
    home = (await homes(street))[ben]
    await street.world.do(("merge", CLEO, BEN))
    assert (await homes(street))[cleo] == home
    await street.world.harness.settle()
    await unlink(street, CLEO)
    assert (await homes(street))[ben] == home
    assert cleo not in await homes(street)


async def test_a_membership_of_later_does_not_go_with_a_link_that_is_undone(street: Street) -> None:
    ben, cleo = street.tenant(BEN), street.tenant(CLEO)
    await street.world.do(("merge", CLEO, BEN))
    await street.world.do(("leave", CLEO))
    await street.world.do(("make", CLEO))
    await street.world.harness.settle()
    await unlink(street, CLEO)
    assert cleo in await homes(street)
    assert ben not in await homes(street)


async def news(street: Street) -> set[tuple[str, str]]:
    """Return who is to be told of what kind of news."""
    return {(row["tenant_id"], row["kind"]) for row in await street.store.admin.fetch("select * from household_news")}


async def test_whoever_a_link_takes_out_of_a_household_is_told(street: Street) -> None:
    await street.world.do(("make", CLEO))
    await street.store.db.household_news.delete()
    await street.world.do(("merge", CLEO, BEN))
    assert await news(street) == {(street.tenant(ANN), "left"), (street.tenant(CLEO), "merged")}


async def test_all_are_told_whom_a_link_makes_a_child(street: Street) -> None:
    await street.world.do(("bring", ANN, CLEO, HouseholdRole.ADULT))
    await street.world.do(("bring", ANN, DAN, HouseholdRole.CHILD))
    await street.store.db.household_news.delete()
    await street.world.do(("merge", CLEO, DAN))
    assert await news(street) == {(street.tenant(one), "child") for one in (ANN, BEN, CLEO)}


@pytest.mark.parametrize("role", [None, HouseholdRole.CHILD], ids=str)
async def test_no_link_ends_a_household_and_loses_what_is_shared(street: Street, role: HouseholdRole | None) -> None:
    await street.world.do(("make", CLEO))
    if role:
        await street.world.do(("bring", CLEO, DAN, role))
    await add_to_list("our shopping", ["milk"], street.context(CLEO, "a"))
    await street.store.db.household_news.delete()
    kept = DAN if role else BEN
    before = await homes(street)
    await street.world.do(("merge", kept, CLEO))
    assert await homes(street) == before
    assert "1. milk" in await show_shared_list(street.context(CLEO))
    assert await news(street) == set()
    # Once another adult is there, it may be.
    await street.world.do(
        ("change", CLEO, DAN, HouseholdRole.ADULT) if role else ("bring", CLEO, DAN, HouseholdRole.ADULT)
    )
    await street.world.do(("merge", kept, CLEO))
    assert "1. milk" in await show_shared_list(street.context(DAN))
