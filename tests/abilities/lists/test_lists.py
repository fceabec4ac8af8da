"""Lists: entries added, ticked off, removed, renamed, deleted; each change undone without harm to any other."""

from dataclasses import replace
from typing import Any, cast

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abilities.lists import shelves
from abilities.lists.list_values import MAX_ITEMS, MAX_LISTS, Change, Item, TickList, named_lists
from abilities.lists.lists import (
    add_to_list,
    delete_list,
    remove_from_list,
    rename_list,
    show_list,
    take_back_list_change,
    tick_off,
)
from core.db.database import Database
from core.tools.storage import Storage
from core.tools.tool import Tool
from onevalet import ToolExecutionContext, ToolFailed, ToolRetry
from onevalet.testing import StandingClock, make_context
from tests.core.builders import a_context
from tests.examples import examples

SHOPPING = "“shopping”:\n1. milk\n2. eggs"


def call(context: ToolExecutionContext, key: str) -> ToolExecutionContext:
    """Return the context of another call of the same person."""
    return replace(make_context(clock=context.clock), storage=context.storage, idempotency_key=key)


async def undo(context: ToolExecutionContext, key: str = "undo") -> str:
    """Take back what a call offered last."""
    return await take_back_list_change(context=call(context, key), **context.undo.offered[-1].arguments)  # type: ignore[arg-type]


@pytest.fixture
async def first() -> ToolExecutionContext:
    """Return the context of the call that began a shopping list with milk and eggs."""
    context = make_context(idempotency_key="first")
    said = await add_to_list("the shopping list", ["milk", " eggs "], context)
    assert said == "Added to “shopping”: milk and eggs"
    return context


async def test_entries_are_added_shown_ticked_off_and_removed(first: ToolExecutionContext) -> None:
    assert await show_list(first) == SHOPPING
    assert await tick_off(["1"], call(first, "a")) == "Ticked off on “shopping”: milk"
    assert await add_to_list("shopping", ["Eggs", "milk"], call(first, "b")) == "Added to “shopping”: milk"
    assert await show_list(first, "my shopping list") == "“shopping”:\n1. milk (done)\n2. eggs\n3. milk"
    assert await tick_off(["#1"], call(first, "c"), done=False) == "Open again on “shopping”: milk"
    assert await tick_off(["eggs", "3"], call(first, "d")) == "Ticked off on “shopping”: eggs and milk"
    assert await remove_from_list(call(first, "e"), all_done=True) == "Removed from “shopping”: eggs and milk"
    assert await remove_from_list(call(first, "f"), all_done=True) == "Nothing has changed on “shopping”."
    assert await remove_from_list(call(first, "g"), ["milk"]) == "Removed from “shopping”: milk"
    assert await show_list(first) == "“shopping” is empty."
    await add_to_list("shopping", ["tea"], call(first, "h"))
    assert await show_list(first) == "“shopping”:\n1. tea"


async def test_each_change_is_undone(first: ToolExecutionContext) -> None:
    await add_to_list("to-do", [], call(first, "other"))
    ways: list[tuple[Tool[..., Any], dict[str, Any]]] = [
        (add_to_list, {"list_name": "shopping", "items": ["tea"]}),
        (tick_off, {"items": ["eggs", "milk"]}),
        (remove_from_list, {"items": ["milk"]}),
        (rename_list, {"list_name": "shopping", "new_name": "the groceries"}),
        (delete_list, {"list_name": "shopping"}),
    ]
    for number, (way, arguments) in enumerate(ways):
        context = call(first, f"way {number}")
        said = await way(context=context, **arguments)
        assert await show_list(context, "shopping" if number < 3 else "") != SHOPPING, said
        for _ in range(2):  # a repeat after a crash changes nothing
            assert await undo(context, f"undo {number}") == f"Undone. {SHOPPING}"
        assert await show_list(context, "shopping") == SHOPPING
    assert await undo(first, "all") == "Undone: the list “shopping” is gone."
    assert await show_list(first) == "“to-do” is empty."


async def test_promise_5_a_call_runs_again_after_others_changed_the_list(first: ToolExecutionContext) -> None:
    said = await remove_from_list(call(first, "crashed"), ["milk"])
    await add_to_list("shopping", ["milk"], call(first, "of another"))
    for number in range(3):
        await add_to_list("shopping", [f"apple {number}"], call(first, f"more {number}"))
    before = await show_list(first)
    again = call(first, "crashed")
    assert await remove_from_list(again, ["milk"]) == said
    assert await show_list(first) == before
    assert again.undo.offered


async def test_a_list_keeps_its_last_changes_for_a_day_and_not_too_many(first: ToolExecutionContext) -> None:
    for number in range(30):
        await rename_list("shopping", "shopping" if number % 2 else "the big shopping", call(first, f"n{number}"))
        await tick_off(["1"], call(first, f"t{number}"), done=number % 2 == 0)
    [kept] = await first.storage.list(shelves.LISTS)
    assert isinstance(kept.value, dict)
    earlier = cast("list[dict[str, str]]", kept.value["earlier"])
    assert len(earlier) == shelves.MAX_CHANGES
    cast(StandingClock, first.clock).at += shelves.REPEATED
    await add_to_list("shopping", ["tea"], call(first, "later"))
    [kept] = await first.storage.list(shelves.LISTS)
    assert isinstance(kept.value, dict)
    assert kept.value["earlier"] == []


@pytest.mark.parametrize("way", [add_to_list, tick_off, remove_from_list, rename_list, delete_list])
async def test_promise_5_a_call_that_runs_again_offers_the_same(first: ToolExecutionContext, way: Any) -> None:
    given_to: dict[str, dict[str, Any]] = {
        "add_to_list": {"list_name": "shopping", "items": ["tea"]},
        "tick_off": {"items": ["milk"]},
        "remove_from_list": {"items": ["milk"]},
        "rename_list": {"list_name": "shopping", "new_name": "groceries"},
        "delete_list": {"list_name": "shopping"},
    }
    arguments = given_to[way.name]
    calls = [call(first, "crashed"), call(first, "crashed")]
    said = [await way(context=context, **arguments) for context in calls]
    assert said[0] == said[1]
    offers = [[(offer.title, offer.arguments) for offer in context.undo.offered] for context in calls]
    assert offers[0] == offers[1] != []
    await undo(calls[1])
    assert await show_list(first) == SHOPPING


async def test_what_changed_since_is_kept_and_not_overwritten(first: ToolExecutionContext) -> None:
    ticking = call(first, "tick")
    await tick_off(["milk", "eggs"], ticking)
    await add_to_list("shopping", ["tea"], call(first, "add"))
    await tick_off(["tea"], call(first, "tea"))
    assert await undo(ticking) == "Undone. “shopping”:\n1. milk\n2. eggs\n3. tea (done)"
    adding = call(first, "again")
    await add_to_list("shopping", ["bread"], adding)
    await tick_off(["bread"], call(first, "bread"))
    with pytest.raises(ToolFailed, match="“bread” has changed since"):
        await undo(adding)
    deleting = call(first, "delete")
    await delete_list("shopping", deleting)
    await add_to_list("shopping", ["jam"], call(first, "anew"))
    with pytest.raises(ToolFailed, match="There is a list “shopping” already"):
        await undo(deleting)


async def test_a_deleted_lists_row_goes(first: ToolExecutionContext) -> None:
    await delete_list("shopping", call(first, "delete"))
    assert await show_list(first) == "There are no lists."
    assert len(await first.storage.list("lists")) == 1
    assert isinstance(first.clock, StandingClock)
    first.clock.at += shelves.KEPT * 2
    await add_to_list("to-do", ["rest"], call(first, "later"))
    assert [stored.key for stored in await first.storage.list("lists")] == ["later"]


async def test_what_is_not_one_is_asked_back(first: ToolExecutionContext) -> None:
    await add_to_list("to-do", ["call the bank", "call mum"], call(first, "b"))
    for items, name in ((["call"], "to-do"), (["9"], "to-do"), (["bread"], "shopping"), (["milk"], "garden")):
        with pytest.raises(ToolRetry):
            await tick_off(items, call(first, "c"), name)
    with pytest.raises(ToolRetry, match="Which list is meant"):
        await remove_from_list(call(first, "d"), all_done=True)
    assert await tick_off(["mum"], call(first, "e")) == "Ticked off on “to-do”: call mum"
    with pytest.raises(ToolRetry, match="already"):
        await rename_list("to-do", "shopping", call(first, "f"))


async def test_lists_have_limits(first: ToolExecutionContext) -> None:
    for items in ([""], ["x" * 201]):
        with pytest.raises(ToolRetry, match="An entry has"):
            await add_to_list("shopping", items, call(first, "a"))
    with pytest.raises(ToolRetry, match="at most"):
        await add_to_list("shopping", [f"{number}" for number in range(MAX_ITEMS)], call(first, "b"))
    await add_to_list("shopping", [f"{number} {'é' * 190}" for number in range(3, MAX_ITEMS + 1)], call(first, "c"))
    deleting = call(first, "d")
    await delete_list("shopping", deleting)
    assert "Undone." in await undo(deleting), "as large as they come"
    for number in range(MAX_LISTS - 1):
        await add_to_list(f"number {number}", [], call(first, f"list {number}"))
    with pytest.raises(ToolRetry, match="lists already"):
        await add_to_list("one more", [], call(first, "e"))


async def test_promise_11_two_peoples_lists_are_apart(database_url: str) -> None:
    admin = await asyncpg.connect(database_url)
    await admin.execute("insert into tenants (tenant_id) values ('ann'), ('bob')")
    await admin.close()
    database = Database(database_url)
    people = {
        name: replace(a_context(tenant_id=name), storage=Storage(database).for_tenant(name)) for name in ("ann", "bob")
    }
    await add_to_list("shopping", ["milk"], people["ann"])
    assert await show_list(people["bob"]) == "There are no lists."
    await add_to_list("shopping", ["tea"], people["bob"])
    await tick_off(["milk"], replace(people["ann"], idempotency_key="tick"))
    assert await show_list(people["ann"]) == "“shopping”:\n1. milk (done)"
    assert await show_list(people["bob"]) == "“shopping”:\n1. tea"
    await database.close()


async def test_a_value_is_swapped_only_where_the_old_one_is(database_url: str) -> None:
    admin = await asyncpg.connect(database_url)
    await admin.execute("insert into tenants (tenant_id) values ('ann')")
    await admin.close()
    database = Database(database_url)
    for storage in (Storage(database).for_tenant("ann"), make_context().storage):
        assert await storage.swap("c", "k", {"n": 1}, None)
        assert await storage.swap("c", "k", {"n": 1}, None), "a repeat"
        assert not await storage.swap("c", "k", {"n": 2}, None)
        assert not await storage.swap("c", "k", {"n": 3}, {"n": 2})
        assert await storage.swap("c", "k", {"n": 2}, {"n": 1})
        assert [(one.number, one.value) for one in await storage.list("c")] == [(1, {"n": 2})]
    await database.close()


@pytest.mark.parametrize("name", ["the shopping list", "Shopping", "my shopping", "die Shopping Liste"])
def test_a_list_is_found_as_people_name_it(name: str) -> None:
    known = [TickList("a", "shopping"), TickList("b", "shopping for Ann"), TickList("c", "to-do")]
    assert [one.key for one in named_lists(known, name)] == ["a"]
    assert [one.key for one in named_lists(known, "Ann")] == ["b"]


WORKS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.text("abc", min_size=1, max_size=2)),
        st.tuples(st.sampled_from(["tick", "untick", "remove"]), st.integers(0, 5)),
        st.tuples(st.just("rename"), st.sampled_from("xyz")),
    ),
    max_size=12,
)


def worked(one: TickList, work: tuple[str, Any], key: str) -> TickList:
    """Return a list after one piece of work."""
    kind, what = work
    if kind == "add":
        return one.with_item(key, what)
    if kind == "rename":
        return replace(one, name=what)
    keys = [item.key for item in one.items[what : what + 2]]
    return one.without(keys) if kind == "remove" else one.ticked(keys, done=kind == "tick")


def said(one: TickList | None) -> object:
    """Return what a person sees of a list."""
    return one and (one.name, [(item.number, item.text, item.done) for item in one.items])


@given(WORKS)
@examples(200)
def test_changes_undone_from_the_last_to_the_first_leave_nothing(works: list[tuple[str, Any]]) -> None:
    now = TickList("k", "list")
    seen: list[tuple[object, Change]] = []
    for number, work in enumerate(works):
        after = worked(now, work, f"{number}")
        seen.append((said(now), Change.from_json(Change.between(now, after).to_json())))
        now = after
        numbers = [item.number for item in now.items]
        assert numbers == sorted(set(numbers))
    for before, change in reversed(seen):
        undone = change.taken_back(now)
        assert undone is not None
        assert said(undone) == before
        assert said(change.taken_back(undone)) == before, "and a repeat changes nothing"
        now = undone


@given(WORKS, WORKS)
@examples(200)
def test_an_undo_touches_only_what_its_change_touched(before: list[Any], since: list[Any]) -> None:
    old = TickList("k", "list", (Item("one", 1, "one"), Item("two", 2, "two")), 2)
    new = old
    for number, work in enumerate(before):
        new = worked(new, work, f"{number}")
    change = Change.between(old, new)
    now = new
    for number, work in enumerate(since):
        now = worked(now, work, f"since {number}")
    touched = {(was or then).key for was, then in change.items if was or then}  # type: ignore[union-attr]
    try:
        undone = change.taken_back(now)
    except ToolFailed:
        return
    assert undone is not None
    others = [(item.key, item.text, item.done) for item in now.items if item.key not in touched]
    assert [(item.key, item.text, item.done) for item in undone.items if item.key not in touched] == others
