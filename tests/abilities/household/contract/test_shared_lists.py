"""Lists of a household over every channel: all members read and write them, nobody else, and what one leaves stays."""

import pytest

from tests.abilities.household.living import Living


@pytest.fixture
async def home(system: Living) -> Living:
    """Return the assistant of Ada and Grace, who live together, and of Lena, who does not."""
    await system.ask("household create Rose Cottage")
    await system.joins("grace")
    return system


async def test_what_one_puts_on_our_list_the_other_sees_and_ticks_off(home: Living) -> None:
    added = await home.call("ada", "add_to_list", list_name="our shopping list", items=["milk", "eggs"])
    assert added == "Added to “shopping (Rose Cottage)”: milk and eggs"
    shown = await home.call("grace", "show_shared_list", list_name="shopping")
    assert "“shopping (Rose Cottage)”:" in shown
    assert "1. milk" in shown
    ticked = await home.call("grace", "tick_off", list_name="our shopping list", items=["milk"])
    assert ticked == "Ticked off on “shopping (Rose Cottage)”: milk"
    assert "1. milk (done)" in await home.call("ada", "show_shared_list")
    assert "There are no lists." in await home.call("ada", "show_list")
    assert "milk" not in await home.call("lena", "show_shared_list")


async def test_ones_own_list_of_the_same_name_stays_ones_own(home: Living) -> None:
    await home.call("ada", "add_to_list", list_name="shopping", items=["perfume"])
    await home.call("ada", "add_to_list", list_name="our shopping", items=["milk"])
    assert "“shopping”: ring" in await home.call("ada", "add_to_list", list_name="shopping list", items=["ring"])
    own, shared = await home.call("ada", "show_list"), await home.call("grace", "show_shared_list")
    assert "1. perfume" in own
    assert "2. ring" in own
    assert "milk" not in own
    assert "1. milk" in shared
    assert "perfume" not in shared
    # Grace has none of her own: the shared one is meant, whether she says so or not.
    assert "(Rose Cottage)" in await home.call("grace", "add_to_list", list_name="the shopping list", items=["tea"])


async def test_what_others_wrote_counts_as_words_of_others(home: Living) -> None:
    await home.call("ada", "add_to_list", list_name="our shopping", items=["ZEBRA7"])
    for tool, given in (
        ("show_list", {}),
        ("show_list", {"list_name": "our shopping"}),
        ("tick_off", {"list_name": "our shopping", "items": ["1"]}),
        ("tick_off", {"list_name": "our shopping", "items": ["horse"]}),
        ("remove_from_list", {"list_name": "our shopping", "all_done": True}),
    ):
        assert "ZEBRA7" not in await home.call("grace", tool, **given), tool
    await home.call("ada", "add_to_list", list_name="our shopping", items=["ZEBRA7"])
    shown = await home.call("grace", "show_shared_list")
    assert "ZEBRA7" in shown
    assert "written by others" in shown


async def test_who_leaves_takes_their_own_along_and_leaves_what_is_shared(home: Living) -> None:
    await home.call("grace", "add_to_list", list_name="books", items=["Emma"])
    await home.call("grace", "add_to_list", list_name="our shopping", items=["milk"])
    await home.ask("household leave", "grace")
    assert "1. Emma" in await home.call("grace", "show_list")
    assert "There are no shared lists." in await home.call("grace", "show_shared_list")
    assert "1. milk" in await home.call("ada", "show_shared_list")
    # What Grace could undo before is no longer hers to change.
    said = await home.ask("undo", "grace")
    assert "You no longer share the list “shopping”." in said
    assert "1. milk" in await home.call("ada", "show_shared_list")


async def test_a_change_of_a_shared_list_is_undone_by_who_made_it(home: Living) -> None:
    await home.call("ada", "add_to_list", list_name="our shopping", items=["milk"])
    await home.call("grace", "add_to_list", list_name="our shopping", items=["tea"])
    await home.ask("undo", "grace")
    shown = await home.call("ada", "show_shared_list")
    assert "1. milk" in shown
    assert "tea" not in shown


async def test_two_households_see_nothing_of_each_other(home: Living) -> None:
    await home.ask("household create Elm House", "lena")
    await home.call("lena", "add_to_list", list_name="our shopping", items=["CANARY_LENA"])
    await home.call("ada", "add_to_list", list_name="our shopping", items=["CANARY_ADA"])
    for person, theirs, others in (("ada", "CANARY_ADA", "CANARY_LENA"), ("lena", "CANARY_LENA", "CANARY_ADA")):
        shown = await home.call(person, "show_shared_list")
        assert theirs in shown
        assert others not in shown
