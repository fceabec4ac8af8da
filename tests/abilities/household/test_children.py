"""Children of a household have the limits that the operator's settings have for them, until an adult lifts them."""

from collections.abc import AsyncIterator

import pytest

from abilities.household.households import CHILDREN
from tests.abilities.household.living import Living, open_living, services_of
from tests.core.builders import FakeModel, says


@pytest.fixture
async def home(database_url: str) -> AsyncIterator[Living]:
    """Yield the assistant of Ada, who has invited Grace as a child, where children have a tier."""
    async with open_living("sms", database_url) as system:
        system.options = {"services": services_of(system.delivery.store.database, system.clock, CHILDREN)}
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
    assert await tier(home) == ""


async def test_a_tier_that_the_operator_gave_since_is_not_lost(home: Living) -> None:
    await home.joins("grace", role="child")
    home.model = FakeModel([says("Hello.")])
    await tier(home, "silver")
    await home.ask("household make grace adult")
    assert await tier(home) == "silver"
