"""Lists with entries to tick off: shopping, to-do, packing. Every change can be undone, entry by entry.

A list is a single stored value. It keeps the last change with the call that made it, so that a call that runs again
after a crash finds its own change, and offers the same undo.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

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
)
from onevalet import (
    StoredValue,
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

_LISTS = "lists"
_TRIES = 5
_KEPT = timedelta(hours=1)
"""How long a deleted list can be undone; then its row goes."""
_GROUP = ToolGroup("lists", gettext_noop("list, lists"))
"""Of the tools that few talks need."""
_DONE = {
    "add": gettext_noop("Added to “{list}”: {entries}"),
    "tick": gettext_noop("Ticked off on “{list}”: {entries}"),
    "untick": gettext_noop("Not done on “{list}”: {entries}"),
    "remove": gettext_noop("Removed from “{list}”: {entries}"),
}
"""The sentence for the person about a change, also its name in undo."""


@tool(name="add_to_list", effect="idempotent", parallel=False)
async def add_to_list(list_name: str, items: list[str], context: ToolExecutionContext) -> str:
    """Add entries to one of the person's lists; a new one is begun.

    Args:
        list_name: As they call it: "shopping", "the to-do list".
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

    change = await _made_by(context) or await _change(await _find(list_name, context, begins=True), add, context)
    if not texts:
        return gettext("There is a list “{list}” now.", list=change.names[1])
    return _told("add", change, context)


@tool(name="show_list", effect="read")
async def show_list(context: ToolExecutionContext, list_name: str = "") -> str:
    """Show one of the person's lists, each entry with its number; without a name, which lists there are.

    Args:
        list_name: As they call it.
    """
    lists = await _all(context)
    if not lists:
        return gettext("There are no lists.")
    return _shown(await _find(list_name, context)) if list_name.strip() or len(lists) == 1 else _names(lists)


@tool(name="tick_off", effect="idempotent", parallel=False, group=_GROUP)
async def tick_off(items: list[str], context: ToolExecutionContext, list_name: str = "", done: bool = True) -> str:
    """Tick entries of a list off, or with done=false set them back to not done.

    Args:
        items: Their numbers, as show_list gives them, or words of them.
        list_name: As the person calls it; empty where there is only one, or the entries tell which.
        done: False for entries that are not done after all.
    """

    def tick(found: TickList) -> TickList:
        return found.ticked([item.key for item in _meant(found, items)], done=done)

    change = await _made_by(context) or await _change(await _find(list_name, context, items), tick, context)
    return _told("tick" if done else "untick", change, context)


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

    def remove(found: TickList) -> TickList:
        gone = [item for item in found.items if item.done] if all_done else _meant(found, items)
        return found.without([item.key for item in gone])

    change = await _made_by(context) or await _change(await _find(list_name, context, items), remove, context)
    return _told("remove", change, context)


@tool(name="rename_list", effect="idempotent", parallel=False, group=_GROUP)
async def rename_list(list_name: str, new_name: str, context: ToolExecutionContext) -> str:
    """Rename one of the person's lists.

    Args:
        list_name: As the person calls it.
        new_name: What it shall be called.
    """
    made = await _made_by(context)
    if made is None:
        meant, name = await _find(list_name, context), _checked(new_name)
        if any(one.key != meant.key for one in named_lists(await _all(context), name) if one.name == name):
            raise ToolRetry(gettext("There is a list “{list}” already.", list=name))
        made = await _change(meant, lambda found: TickList(found.key, name, found.items, found.last), context)
    before, after = made.names
    _offer(gettext("Renamed list “{list}”", list=before), made, context)
    return gettext("“{before}” is called “{after}” now.", before=before, after=after)


@tool(name="delete_list", effect="idempotent", parallel=False, group=_GROUP)
async def delete_list(list_name: str, context: ToolExecutionContext) -> str:
    """Delete one of the person's lists with all its entries.

    Args:
        list_name: As the person calls it.
    """
    made = await _made_by(context)
    if made is None:
        made = await _change(await _find(list_name, context), lambda _: None, context)
    _offer(gettext("Deleted list “{list}”", list=made.name), made, context)
    count = ngettext("{number} entry", "{number} entries", len(made.items))
    told = gettext("The list “{list}” with {count} is deleted.", list=made.name, count=count)
    return f"{told} {gettext('To take it back, write “{word}”.', word=undo_word())}"


@tool(name="take_back_list_change", effect="idempotent", inverse=True)
async def take_back_list_change(change: dict[str, Any], context: ToolExecutionContext) -> str:
    """Take back a change of a list.

    Args:
        change: What was changed, entry by entry.
    """
    wanted = Change.from_json(change)
    for _ in range(_TRIES):
        stored = await context.storage.get(_LISTS, wanted.key)
        now = _list(stored)
        same = [one for one in await _all(context) if one.key != wanted.key and one.name == wanted.name]
        if now is None and wanted.names[0] is not None and same:
            raise ToolFailed(gettext("There is a list “{list}” already.", list=wanted.name))
        then = wanted.taken_back(now)
        if await _swap(context, wanted.key, then, Change.between(now, then), stored):
            if then is None:
                return gettext("Undone: the list “{list}” is gone.", list=wanted.name)
            return gettext("Undone. {list}", list=_shown(then))
    raise ToolFailed(gettext("“{list}” is being changed at the moment; try again.", list=wanted.name))


async def _change(
    meant: TickList, work: Callable[[TickList], TickList | None], context: ToolExecutionContext
) -> Change:
    """Store the result of `work` on a list, retrying after concurrent changes, and return the change."""
    await _drop_deleted(context)
    for _ in range(_TRIES):
        stored = await context.storage.get(_LISTS, meant.key)
        now = _list(stored)
        change = Change.between(now, after := work(now or meant))
        changes = change.items or change.names[0] != change.names[1]
        if not changes or await _swap(context, meant.key, after, change, stored):
            return change
    raise ToolFailed(gettext("“{list}” is being changed at the moment; try again.", list=meant.name))


async def _swap(
    context: ToolExecutionContext, key: str, then: TickList | None, change: Change, stored: StoredValue | None
) -> bool:
    """Store a list with the change that made it, unless another call has changed it since it was read."""
    value: dict[str, Any] = then.to_json() if then else {"deleted_at": context.clock.now().isoformat()}
    value["by"], value["change"] = context.idempotency_key, change.to_json()
    return await context.storage.swap(_LISTS, key, value, stored.value if stored else None)


async def _made_by(context: ToolExecutionContext) -> Change | None:
    """Return the change that this call made before a crash; None if it runs for the first time."""
    for stored in await context.storage.list(_LISTS):
        if isinstance(stored.value, dict) and stored.value.get("by") == context.idempotency_key:
            change = stored.value["change"]
            return Change.from_json(change) if isinstance(change, dict) else None
    return None


async def _drop_deleted(context: ToolExecutionContext) -> None:
    """Delete the rows of lists whose deletion can no longer be undone."""
    now = context.clock.now()
    for stored in await context.storage.list(_LISTS):
        deleted = stored.value.get("deleted_at") if isinstance(stored.value, dict) else None
        if deleted and now - datetime.fromisoformat(str(deleted)) > _KEPT:
            await context.storage.delete(_LISTS, stored.key)


async def _all(context: ToolExecutionContext) -> list[TickList]:
    return [one for stored in await context.storage.list(_LISTS) if (one := _list(stored))]


def _list(stored: StoredValue | None) -> TickList | None:
    value = stored.value if stored else None
    return TickList.from_json(stored.key, value) if stored and isinstance(value, dict) and "name" in value else None


async def _find(
    name: str, context: ToolExecutionContext, items: Sequence[str] = (), *, begins: bool = False
) -> TickList:
    """Return the list that is meant; raise `ToolRetry` with all names if none or several may be."""
    lists = await _all(context)
    found = named_lists(lists, name) if name.strip() else lists
    if not name.strip() and len(found) > 1:
        found = [one for one in lists if items and all(named_items(one.items, item) for item in items)]
    if len(found) == 1:
        return found[0]
    if begins and not found:
        if len(lists) >= MAX_LISTS:
            raise ToolRetry(gettext("There are {number} lists already: delete one first.", number=MAX_LISTS))
        return TickList(context.idempotency_key, _checked(name))
    if not lists:
        raise ToolRetry(gettext("There are no lists."))
    raise ToolRetry(gettext("Which list is meant?\n{lists}", lists=_names(lists)))


def _meant(found: TickList, names: Sequence[str]) -> list[Item]:
    """Return the entries that are meant; raise `ToolRetry` with the list if any is missing or ambiguous."""
    meant: list[Item] = []
    for name in names:
        matches = named_items(found.items, name)
        if len(matches) != 1:
            known = _shown(found)
            raise ToolRetry(gettext("“{entry}” is not one entry. {list}", entry=name, list=known))
        meant += matches
    return meant


def _told(what: str, change: Change, context: ToolExecutionContext) -> str:
    """Return the sentence about a change for the person, and offer to take it back."""
    if not change.items:
        return gettext("Nothing has changed on “{list}”.", list=change.name)
    sentence = gettext(_DONE[what], list=change.names[1] or change.name, entries=listed(change.texts))
    _offer(sentence, change, context)
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
