"""Children of a household have the limits that the operator's settings have for them, until an adult lifts them."""

import asyncio
import json
from collections.abc import AsyncIterator
from decimal import Decimal

import pytest

from abilities.household.children import CHILDREN, ChildTier
from abilities.household.merge import HouseholdMerge
from abilities.household.roles import HouseholdRole
from core.people.tiers import read_tiers
from core.turns.store import TurnStore
from tests.abilities.household.living import TIER as WORLDS
from tests.abilities.household.living import Living, open_living, services_of
from tests.abilities.household.test_membership_model import World
from tests.core.builders import FakeModel, says
from tests.core.harness import LEASE, Store
from tests.core.people.harness import Harness
from tests.locks import until_blocked

TIER = ChildTier(CHILDREN, ("member", "guest", "gold"))


@pytest.fixture
async def home(database_url: str) -> AsyncIterator[Living]:
    """Yield the assistant of Ada, who has invited Grace as a child, where children have a tier."""
    async with open_living("sms", database_url) as system:
        system.options = {"services": services_of(system.delivery.store.database, system.clock, TIER)}
        await system.ask("household create Rose Cottage")
        await tier(system, "gold")
        yield system


async def tier(system: Living, given: str = "") -> str:
    """Return Grace's tier, after giving her one."""
    tenants, grace = system.delivery.store.db.tenants, system.tenants["grace"]
    if given:
        await tenants.change({"tier": given}, tenant_id=grace)
    return str(await tenants.one("tier", tenant_id=grace))


async def test_who_is_invited_as_a_child_reads_of_its_limits_and_has_them(home: Living) -> None:
    code = await home.invited(role="child")
    assert "the limits that are set for children" in await home.ask(f"household join {code}", "grace")
    assert await tier(home) == "gold"
    await home.ask(f"household join {code} agree", "grace")
    assert await tier(home) == "child"
    adult = await home.invited()
    assert "limits" not in await home.ask(f"household join {adult}", "lena")


@pytest.mark.parametrize("word", ["household make grace adult", "household remove grace", "household end agree"])
async def test_an_adults_word_lifts_the_limits(home: Living, word: str) -> None:
    await home.joins("grace", role="child")
    await home.ask(word)
    assert await tier(home) == "gold"


async def test_a_child_who_leaves_keeps_the_limits(home: Living) -> None:
    await home.joins("grace", role="child")
    assert "You have left" in await home.ask("household leave", "grace")
    assert await tier(home) == "child"


async def test_a_child_who_comes_back_can_be_freed_of_the_limits(home: Living) -> None:
    await home.joins("grace", role="child")
    await home.ask("household leave", "grace")
    await home.joins("grace", role="child")
    await home.ask("household make grace adult")
    assert await tier(home) == "gold"


async def test_a_tier_that_the_operator_gave_since_is_not_lost(home: Living) -> None:
    await home.joins("grace", role="child")
    home.model = FakeModel([says("Hello.")])
    await tier(home, "silver")
    await home.ask("household make grace adult")
    assert await tier(home) == "silver"


async def test_joining_as_a_child_loosens_no_stricter_tier(home: Living) -> None:
    await tier(home, "locked")
    code = await home.invited(role="child")
    assert "limits" not in await home.ask(f"household join {code}", "grace")
    await home.ask(f"household join {code} agree", "grace")
    assert await home.roles() == {"Ada": "owner", "Grace": "child"}
    await home.ask("household make grace adult")
    assert await tier(home) == "locked"


@pytest.mark.parametrize(
    ("other", "replaced"),
    [
        ({}, True),
        ({"tools": ["add_note", "get_weather"]}, True),
        ({"tools": ["get_weather"]}, False),
        ({"tools": []}, False),
        ({"budget_a_day": 2}, True),
        ({"budget_a_day": 0.5}, False),
        ({"messages_a_minute": 4}, False),
        ({"hours": "06:00-21:00"}, True),
        ({"hours": "08:00-21:00"}, False),
    ],
    ids=str,
)
def test_a_tier_is_replaced_by_that_of_children_only_if_it_is_no_stricter(
    other: dict[str, object], replaced: bool
) -> None:
    child = {"tools": ["add_note"], "budget_a_day": 1, "messages_a_minute": 5, "hours": "07:00-20:00"}
    found = ChildTier.among(read_tiers(json.dumps({"child": child, "other": other}), 30), None)
    assert found is not None
    assert ("other" in found.instead_of) is replaced
    assert "member" in found.instead_of


def test_the_daily_budget_counts_for_tiers_without_dollars() -> None:
    tiers = read_tiers(json.dumps({"child": {"messages_a_minute": 5}, "other": {"budget_a_day": 2}}), 30)
    for budget, replaced in ((None, False), (Decimal(3), False), (Decimal(2), True)):
        found = ChildTier.among(tiers, budget)
        assert found is not None
        assert ("other" in found.instead_of) is replaced, budget
    assert ChildTier.among(read_tiers("", 30), None) is None


ANN, BEN, CLEO, DAN = range(4)
ADULT, CHILD = HouseholdRole.ADULT, HouseholdRole.CHILD


@pytest.fixture
async def world(store: Store) -> World:
    """Return Ann, who has a household, Ben and Cleo and Dan, who have none."""
    world = World(Harness(store, hooks=(HouseholdMerge(),)))
    await world.begin()
    await world.do(("make", ANN))
    return world


async def zone(world: World, person: int, own: str = "") -> str:
    """Return the zone of the hours of somebody, whose own is set before."""
    if own:
        await world.harness.preferences.set(world.tenants[person], "timezone", own)
    return str(await world.harness.store.one("select hours_zone_of($1)", world.tenants[person]))


async def test_a_childs_hours_are_by_the_clock_of_the_owner(world: World) -> None:
    await zone(world, ANN, "Europe/Lisbon")
    await zone(world, DAN, "Asia/Tokyo")
    assert await zone(world, BEN) == "None"
    await world.do(("bring", ANN, BEN, HouseholdRole.CHILD))
    await world.do(("bring", ANN, DAN, HouseholdRole.ADULT))
    assert await zone(world, BEN, "Pacific/Auckland") == "Europe/Lisbon"
    assert await zone(world, DAN) == await zone(world, ANN) == "None"
    await world.do(("change", ANN, DAN, HouseholdRole.OWNER))
    assert await zone(world, BEN) == "Asia/Tokyo"
    await world.do(("leave", BEN))
    assert await zone(world, BEN, "Pacific/Apia") == "Asia/Tokyo"
    await world.do(("bring", DAN, BEN, HouseholdRole.CHILD))
    await world.do(("change", DAN, BEN, HouseholdRole.ADULT))
    assert await zone(world, BEN) == "None"


async def test_hours_are_by_the_zone_that_a_turn_brings(world: World) -> None:
    await zone(world, ANN, "Asia/Tokyo")
    await world.do(("bring", ANN, BEN, HouseholdRole.CHILD))
    await world.harness.say("hello", world.numbers[BEN])
    store = world.harness.store
    lease = await TurnStore(store.database, store.make_id, LEASE).claim(None, "w1")
    assert lease is not None
    rows = await store.database.rows(
        "select brought from open_turn($1,$2,$3,'tried',10)", lease.tenant_id, lease.lane_id, lease.fence
    )
    assert rows[0]["brought"]["hours_zone"] == "Asia/Tokyo"


async def test_a_place_that_starts_again_takes_a_childs_limits_along(world: World) -> None:
    await zone(world, ANN, "Asia/Tokyo")
    await world.do(("merge", CLEO, DAN))
    await world.do(("bring", ANN, CLEO, HouseholdRole.CHILD))
    await world.harness.store.db.links.delete()
    await world.harness.settle()
    await world.harness.ask("UNLINK", world.numbers[DAN])
    world.tenants[DAN] = await world.harness.tenant(world.numbers[DAN])
    assert world.tenants[DAN] != world.tenants[CLEO]
    assert await world.harness.store.db.tenants.one("tier", tenant_id=world.tenants[DAN]) == WORLDS.name
    assert await zone(world, DAN, "Pacific/Auckland") == "Asia/Tokyo"


LINKS: dict[str, list[tuple[object, ...]]] = {
    "made a child, then parted": [("merge", CLEO, DAN), ("bring", ANN, CLEO, CHILD), ("part", CLEO)],
    "linked as a child, then parted": [("bring", ANN, BEN, CHILD), ("merge", CLEO, BEN), ("part", CLEO)],
    "freed while linked": [
        ("bring", ANN, BEN, CHILD),
        ("merge", CLEO, BEN),
        ("change", ANN, CLEO, ADULT),
        ("part", CLEO),
    ],
    "a child anew while linked": [
        ("bring", ANN, BEN, CHILD),
        ("merge", CLEO, BEN),
        ("change", ANN, CLEO, None),
        ("bring", ANN, CLEO, CHILD),
        ("part", CLEO),
    ],
    "both of them children": [
        ("bring", ANN, BEN, CHILD),
        ("bring", ANN, CLEO, CHILD),
        ("merge", CLEO, BEN),
        ("part", CLEO),
        ("change", ANN, CLEO, ADULT),
    ],
}


@pytest.mark.parametrize("name", LINKS)
async def test_no_link_and_no_unlink_changes_a_childs_limits(world: World, name: str) -> None:
    for deed in LINKS[name]:
        await world.do(deed)
        await world.assert_same()


async def test_a_child_gets_rid_of_no_limits_by_a_link_with_a_guest(world: World) -> None:
    tenants = world.harness.store.db.tenants
    await tenants.change({"role": "guest"}, tenant_id=world.tenants[CLEO])
    await world.do(("bring", ANN, BEN, CHILD))
    await world.do(("merge", CLEO, BEN))
    await world.assert_same()
    assert await tenants.one("tier", tenant_id=world.tenants[CLEO]) == WORLDS.name


async def test_a_tier_that_the_operator_gave_stays_over_a_link_and_its_undoing(world: World) -> None:
    tenants = world.harness.store.db.tenants
    await world.do(("merge", CLEO, DAN))
    await world.do(("bring", ANN, CLEO, HouseholdRole.CHILD))
    await tenants.change({"tier": "silver"}, tenant_id=world.tenants[CLEO])
    await world.do(("merge", CLEO, BEN))
    assert await tenants.one("tier", tenant_id=world.tenants[CLEO]) == "silver"
    await world.do(("part", CLEO))
    assert await tenants.one("tier", tenant_id=world.tenants[CLEO]) == "silver"


@pytest.mark.parametrize(
    "deed", [("change", ANN, BEN, None), ("change", ANN, BEN, HouseholdRole.ADULT), ("end", ANN)], ids=str
)
async def test_an_adults_word_waits_for_nothing_that_waits_for_it(world: World, deed: tuple[object, ...]) -> None:
    await world.do(("bring", ANN, BEN, HouseholdRole.CHILD))
    database = world.harness.store.database
    async with database.tenant(world.tenants[BEN]) as deleting:
        # As a deletion and a link lock a person; the word may do its part now, or wait for them.
        await deleting.execute("select lock_person($1,true)", world.tenants[BEN])
        word = asyncio.create_task(world.do(deed))
        await until_blocked(world.harness.store.one)
        await deleting.execute("select lock_household($1)", world.tenants[BEN])
    await word
    await world.assert_same()
