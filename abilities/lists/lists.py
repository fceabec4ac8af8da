"""Lists with entries to tick off: shopping, to-do, packing. Every change can be undone, entry by entry.

A list is the person's own, or shared. What others wrote on a shared one is shown by `show_shared_list` only, whose
result counts as their words; other tools repeat the person's.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from abilities.lists.list_values import (
    MAX_ITEMS,
    MAX_LISTS,
    MAX_NAME,
    MAX_TEXT,
    Change,
    Item,
    TickList,
    bare_name,
    named_items,
    named_lists,
    says_ours,
)
from abilities.lists.shelves import TRIES, Shelf, own_shelf, shared_shelf, shelf_of
from onevalet import (
    ToolExecutionContext,
    ToolFailed,
    ToolGroup,
    ToolRetry,
    gettext,
    gettext_noop,
    listed,
    ngettext,
    tool,
    undo_word,
)

_GROUP = ToolGroup("lists", gettext_noop("list, lists"))
"""Of the tools that few talks need."""
_DONE = {
    "add": gettext_noop("Added to “{list}”: {entries}"),
    "tick": gettext_noop("Ticked off on “{list}”: {entries}"),
    "untick": gettext_noop("Open again on “{list}”: {entries}"),
    "remove": gettext_noop("Removed from “{list}”: {entries}"),
}
"""The sentence for the person about a change, also its name in undo."""
_SHARED_ONES = "show_shared_list shows it, and which others there are."


class _Found(NamedTuple):
    """A list, and where it is kept."""

    shelf: Shelf
    one: TickList


class _Done(NamedTuple):
    """A change, and where its list is kept."""

    shelf: Shelf
    change: Change

    @property
    def name(self) -> str:
        """Return the list's name for sentences."""
        return self.shelf.label(self.change.names[1] or self.change.name)


@tool(name="add_to_list", effect="idempotent", parallel=False)
async def add_to_list(list_name: str, items: list[str], context: ToolExecutionContext) -> str:
    """Add entries to a list; a new one is begun.

    Args:
        list_name: As they call it: "shopping", "our to-do list" for a shared one.
        items: Each by itself; none begins an empty list.
    """
    texts = [" ".join(item.split()) for item in items]
    if any(not 0 < len(text) <= MAX_TEXT for text in texts):
        raise ToolRetry(gettext("An entry has 1 to {number} characters.", number=MAX_TEXT))

    def add(found: TickList) -> TickList:
        open_texts = {item.text.casefold() for item in found.items if not item.done}
        for number, text in enumerate(texts):
            if text.casefold() not in open_texts:
                found = found.with_item(f"{context.idempotency_key}.{number}", text)
        if len(found.items) > MAX_ITEMS:
            raise ToolRetry(gettext("A list has at most {number} entries.", number=MAX_ITEMS))
        return found

    done = await _made_by(context)
    if done is None:
        shelf, meant = await _find(list_name, context, begins=True)
        done = _Done(shelf, await shelf.change(meant, add, context))
    if not texts:
        return gettext("There is now a list “{list}”.", list=done.name)
    return _told("add", done, done.change.texts, context)


@tool(name="show_list", effect="read")
async def show_list(context: ToolExecutionContext, list_name: str = "") -> str:
    """Show a list, each entry with its number; without a name, which lists there are.

    Args:
        list_name: As they call it.
    """
    lists = await own_shelf(context).lists()
    if list_name.strip():
        shelf, meant = await _find(list_name, context)
        if shelf.home is not None:
            raise ToolRetry(gettext("The list “{list}” is shared.", list=shelf.label(meant.name)), note=_SHARED_ONES)
        return _shown(meant)
    told = gettext("There are no lists.") if not lists else _shown(lists[0]) if len(lists) == 1 else _names(lists)
    shared = await shared_shelf(context)
    return f"{told}\n{gettext('There are shared lists, too.')}" if shared and await shared.lists() else told


@tool(name="show_shared_list", effect="read", outside=True, group=_GROUP)
async def show_shared_list(context: ToolExecutionContext, list_name: str = "") -> str:
    """Show a list that the person shares with others; without a name, which of these there are.

    Args:
        list_name: As they call it.
    """
    shelf = await shared_shelf(context)
    lists = await shelf.lists() if shelf else []
    if shelf is None or not lists:
        return gettext("There are no shared lists.")
    meant = _called(lists, list_name) if list_name.strip() else lists
    if not meant:
        raise ToolRetry(gettext("There is no shared list “{list}”.", list=bare_name(list_name)))
    labelled = [replace(one, name=shelf.label(one.name)) for one in meant]
    return "\n".join(map(_shown, labelled)) if list_name.strip() or len(lists) == 1 else _names(labelled)


@tool(name="tick_off", effect="idempotent", parallel=False, group=_GROUP)
async def tick_off(items: list[str], context: ToolExecutionContext, list_name: str = "", done: bool = True) -> str:
    """Tick entries of a list off, or with done=false set them back to not done.

    Args:
        items: Their numbers, as show_list gives them, or words of them.
        list_name: As the person calls it; empty where there is only one, or the entries tell which.
        done: False for entries that are not done after all.
    """
    made = await _made_by(context)
    if made is None:
        shelf, meant = await _find(list_name, context, items)

        def tick(found: TickList) -> TickList:
            return found.ticked([item.key for item in _meant(found, items, shelf)], done=done)

        made = _Done(shelf, await shelf.change(meant, tick, context))
    return _told("tick" if done else "untick", made, items, context)


@tool(name="remove_from_list", effect="idempotent", parallel=False, group=_GROUP)
async def remove_from_list(
    context: ToolExecutionContext, items: Sequence[str] = (), list_name: str = "", all_done: bool = False
) -> str:
    """Remove entries from a list, or all that are ticked off.

    Args:
        items: Their numbers, as show_list gives them, or words of them.
        list_name: As the person calls it; empty where there is only one, or the entries tell which.
        all_done: Remove all entries that are ticked off.
    """
    made = await _made_by(context)
    if made is None:
        shelf, meant = await _find(list_name, context, items)

        def remove(found: TickList) -> TickList:
            gone = [item for item in found.items if item.done] if all_done else _meant(found, items, shelf)
            return found.without([item.key for item in gone])

        made = _Done(shelf, await shelf.change(meant, remove, context))
    number = len(made.change.items)
    return _told("remove", made, items or [ngettext("{number} entry", "{number} entries", number)], context)


@tool(name="rename_list", effect="idempotent", parallel=False, group=_GROUP)
async def rename_list(list_name: str, new_name: str, context: ToolExecutionContext) -> str:
    """Rename one of the person's lists.

    Args:
        list_name: As the person calls it.
        new_name: Its new name.
    """
    made = await _made_by(context)
    if made is None:
        (shelf, meant), name = await _find(list_name, context), _checked(new_name)
        if any(one.key != meant.key for one in named_lists(await shelf.lists(), name) if one.name == name):
            raise ToolRetry(gettext("There is a list “{list}” already.", list=shelf.label(name)))
        made = _Done(shelf, await shelf.change(meant, lambda found: replace(found, name=name), context))
    before, after = made.shelf.label(made.change.name), made.name
    _offer(gettext("Renamed list “{list}”", list=before), made.change, context)
    return gettext("“{before}” is now called “{after}”.", before=before, after=after)


@tool(name="delete_list", effect="idempotent", parallel=False, group=_GROUP)
async def delete_list(list_name: str, context: ToolExecutionContext) -> str:
    """Delete one of the person's lists with all its entries.

    Args:
        list_name: As the person calls it.
    """
    made = await _made_by(context)
    if made is None:
        shelf, meant = await _find(list_name, context)
        made = _Done(shelf, await shelf.change(meant, lambda _: None, context))
    _offer(gettext("Deleted list “{list}”", list=made.name), made.change, context)
    count = ngettext("{number} entry", "{number} entries", len(made.change.items))
    told = gettext("The list “{list}” with {count} is deleted.", list=made.name, count=count)
    return f"{told} {gettext('To take it back, write “{word}”.', word=undo_word())}"


@tool(name="take_back_list_change", effect="idempotent", inverse=True)
async def take_back_list_change(change: dict[str, Any], context: ToolExecutionContext) -> str:
    """Take back a change of a list.

    Args:
        change: The changes, entry by entry.
    """
    wanted = Change.from_json(change)
    shelf = await shelf_of(wanted, context)
    name = shelf.label(wanted.name)
    for _ in range(TRIES):
        stored, now = await shelf.read(wanted.key)
        same = [one for one in await shelf.lists() if one.key != wanted.key and one.name == wanted.name]
        if now is None and wanted.names[0] is not None and same:
            raise ToolFailed(gettext("There is a list “{list}” already.", list=name))
        then = wanted.taken_back(now)
        back = replace(Change.between(now, then), home=wanted.home)
        if await shelf.swap(context, wanted.key, then, back, stored):
            if then is None:
                return gettext("Undone: the list “{list}” is gone.", list=name)
            return gettext("Undone. {list}", list=f"“{name}”" if shelf.home else _shown(then))
    raise ToolFailed(gettext("“{list}” is being changed at the moment; try again.", list=name))


async def _made_by(context: ToolExecutionContext) -> _Done | None:
    """Return the change that this call made before a crash; None if it runs for the first time."""
    for shelf in (own_shelf(context), await shared_shelf(context)):
        if shelf and (change := await shelf.made_by(context.idempotency_key)):
            return _Done(shelf, change)
    return None


async def _find(name: str, context: ToolExecutionContext, items: Sequence[str] = (), *, begins: bool = False) -> _Found:
    """Return the list that is meant; raise `ToolRetry` with the names of the person's own if none or several may be.

    The person's own comes first, unless they say that they share it. A shared one must be called exactly so.
    """
    own = own_shelf(context)
    lists = await own.lists()
    shared = await shared_shelf(context) if name.strip() else None
    if shared is not None and (says_ours(name) or not _called(lists, name)):
        if found := _called(kept := await shared.lists(), name):
            return _Found(shared, found[0])
        if begins and says_ours(name):
            return _Found(shared, _begun(name, len(kept), context))
    found = named_lists(lists, name) if name.strip() else lists
    if not name.strip() and len(found) > 1:
        found = [one for one in lists if items and all(named_items(one.items, item) for item in items)]
    if len(found) == 1:
        return _Found(own, found[0])
    if begins and not found:
        return _Found(own, _begun(name, len(lists), context))
    if not lists:
        raise ToolRetry(gettext("There are no lists."))
    raise ToolRetry(gettext("Which list is meant?\n{lists}", lists=_names(lists)))


def _begun(name: str, number: int, context: ToolExecutionContext) -> TickList:
    """Return a new list; raise `ToolRetry` if there are too many."""
    if number >= MAX_LISTS:
        raise ToolRetry(gettext("There are {number} lists already: delete one first.", number=MAX_LISTS))
    return TickList(context.idempotency_key, _checked(name))


def _called(lists: Sequence[TickList], name: str) -> list[TickList]:
    """Return the lists that are called exactly so; words around the name do not count."""
    return [one for one in lists if bare_name(one.name).casefold() == bare_name(name).casefold()]


def _meant(found: TickList, names: Sequence[str], shelf: Shelf) -> list[Item]:
    """Return the entries that are meant; raise `ToolRetry` with the list if any is missing or ambiguous."""
    meant: list[Item] = []
    for name in names:
        matches = named_items(found.items, name)
        if len(matches) != 1:
            known = f"“{shelf.label(found.name)}”" if shelf.home else _shown(found)
            note = _SHARED_ONES if shelf.home else ""
            raise ToolRetry(gettext("“{entry}” is not one entry. {list}", entry=name, list=known), note=note)
        meant += matches
    return meant


def _told(what: str, done: _Done, said: Sequence[str], context: ToolExecutionContext) -> str:
    """Return the sentence about a change for the person, and offer to take it back.

    `said`: the entries as the person named them, for a list on which others write.
    """
    if not done.change.items:
        return gettext("Nothing has changed on “{list}”.", list=done.shelf.label(done.change.name))
    entries = listed(list(said) if done.shelf.home else done.change.texts)
    sentence = gettext(_DONE[what], list=done.name, entries=entries)
    _offer(sentence, done.change, context)
    return sentence


def _offer(title: str, change: Change, context: ToolExecutionContext) -> None:
    context.undo.offer(title, take_back_list_change.name, {"change": change.to_json()})


def _checked(name: str) -> str:
    name = bare_name(name)
    if not 0 < len(name) <= MAX_NAME:
        raise ToolRetry(gettext("A list's name has 1 to {number} characters.", number=MAX_NAME))
    return name


def _shown(one: TickList) -> str:
    if not one.items:
        return gettext("“{list}” is empty.", list=one.name)
    done = gettext("done")
    lines = [f"{item.number}. {item.text}{f' ({done})' if item.done else ''}" for item in one.items]
    return "\n".join([gettext("“{list}”:", list=one.name), *lines])


def _names(lists: Sequence[TickList]) -> str:
    lines = []
    for one in lists:
        number = sum(not item.done for item in one.items)
        lines.append(
            ngettext("- {list}: {number} open entry", "- {list}: {number} open entries", number, list=one.name)
        )
    return "\n".join([gettext("The lists:"), *lines])
