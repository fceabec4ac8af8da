"""The values of lists, the names of their entries, and the undo of changes. Pure."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onevalet import ToolFailed, gettext

MAX_ITEMS, MAX_LISTS, MAX_TEXT, MAX_NAME = 100, 50, 200, 60
_OURS = frozenset(
    {"our", "ours", "unser", "unsere", "unserer", "unserem", "unseren", "nuestro", "nuestra", "notre", "nos"}
    | {"nosso", "nossa", "household's", "household’s"}
)
"""Words that mark a list as shared."""
_OURS_IN_CHINESE = "我们的"
_FILLERS = frozenset(
    {"the", "my", "a", "an", "list", "lists"}
    | {"der", "die", "das", "meine", "meiner", "liste", "la", "el", "mi", "lista", "le", "ma", "o", "minha"}
    | _OURS
)
"""Words around a list's name that name nothing: "the shopping list"."""
_NUMBERED = re.compile(r"(?:(?:number|no|nr|entry|item)\.? ?)?#?0*(\d{1,6})\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """An entry. `number` counts from 1 in its list, and means another only once the list was empty."""

    key: str
    number: int
    text: str
    done: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "number": self.number, "text": self.text, "done": self.done}


@dataclass(frozen=True, slots=True)
class TickList:
    """A list with its entries, by number. `last` is the highest number that was given since it was empty."""

    key: str
    name: str
    items: tuple[Item, ...] = ()
    last: int = 0

    @classmethod
    def from_json(cls, key: str, value: dict[str, Any]) -> "TickList":
        return cls(key, str(value["name"]), tuple(Item(**item) for item in value["items"]), int(value["last"]))

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "items": [item.to_json() for item in self.items], "last": self.last}

    def by_key(self, key: str) -> Item | None:
        return next((item for item in self.items if item.key == key), None)

    def with_item(self, key: str, text: str) -> "TickList":
        """Return the list with a further entry at its end, once."""
        if self.by_key(key):
            return self
        number = (self.last if self.items else 0) + 1
        return replace(self, items=(*self.items, Item(key, number, text)), last=number)

    def ticked(self, keys: Collection[str], *, done: bool) -> "TickList":
        items = (replace(item, done=done) if item.key in keys else item for item in self.items)
        return replace(self, items=tuple(items))

    def without(self, keys: Collection[str]) -> "TickList":
        return replace(self, items=tuple(item for item in self.items if item.key not in keys))

    def put(self, old: Item) -> "TickList":
        """Return the list with an entry as it was, under its number unless another has that by now."""
        others = tuple(item for item in self.items if item.key != old.key)
        if any(item.number == old.number for item in others):
            old = replace(old, number=max(item.number for item in others) + 1)
        items = tuple(sorted((*others, old), key=lambda item: item.number))
        return replace(self, items=items, last=max(self.last, old.number))


@dataclass(frozen=True, slots=True)
class Change:
    """A call's change to a list: its name and each entry, before and after; None where the list does not exist.

    `home` is the tenant of those who share the list; empty for the person's own.
    """

    key: str
    names: tuple[str | None, str | None]
    items: tuple[tuple[Item | None, Item | None], ...] = ()
    home: str = ""

    @classmethod
    def between(cls, before: TickList | None, after: TickList | None) -> "Change":
        """Return the difference; at least one of the two exists."""
        olds = {item.key: item for item in before.items} if before else {}
        news = {item.key: item for item in after.items} if after else {}
        keys = [key for key in dict.fromkeys([*olds, *news]) if olds.get(key) != news.get(key)]
        names = (before.name if before else None, after.name if after else None)
        one = before or after
        return cls(one.key if one else "", names, tuple((olds.get(key), news.get(key)) for key in keys))

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Change":
        pairs = ((Item(**old) if old else None, Item(**new) if new else None) for old, new in value["items"])
        home = str(value.get("home", ""))
        return cls(str(value["key"]), (value["names"][0], value["names"][1]), tuple(pairs), home)

    def to_json(self) -> dict[str, Any]:
        pairs = [[old.to_json() if old else None, new.to_json() if new else None] for old, new in self.items]
        shared = {"home": self.home} if self.home else {}
        return {"key": self.key, "names": list(self.names), "items": pairs, **shared}

    @property
    def name(self) -> str:
        """Return the name before the change, or of the new list."""
        return self.names[0] or self.names[1] or ""

    @property
    def texts(self) -> list[str]:
        """Return the entries that were changed, in words."""
        return [one.text for old, new in self.items if (one := new or old)]

    def taken_back(self, now: TickList | None) -> TickList | None:
        """Return the list before the change, with all other changes since; None if there was no list.

        Raise `ToolFailed` if a changed entry has been changed again: that is not overwritten.
        """
        before, after = self.names
        if after is None:
            if now is not None:
                return now  # taken back already
            return TickList(self.key, before or "", tuple(old for old, _ in self.items if old), self._highest())
        if now is None:
            if before is None:
                return None
            raise ToolFailed(gettext("The list “{list}” is gone.", list=self.name))
        then = now
        for old, new in self.items:
            then = self._entry(then, old, new)
        if before is None:
            return then if then.items or now.name != after else None
        if before != after and now.name not in (before, after):
            raise ToolFailed(gettext("“{list}” has changed since.", list=now.name))
        return replace(then, name=before if before != after else now.name)

    def _entry(self, now: TickList, old: Item | None, new: Item | None) -> TickList:
        one = old or new
        here = now.by_key(one.key) if one else None
        if _same(here, old):
            return now  # taken back already
        if not _same(here, new):
            raise ToolFailed(gettext("“{entry}” has changed since.", entry=(here or one or Item("", 0, "")).text))
        return now.put(old) if old else now.without([one.key] if one else [])

    def _highest(self) -> int:
        return max((old.number for old, _ in self.items if old), default=0)


def _same(one: Item | None, other: Item | None) -> bool:
    """Return whether two entries say the same; an entry that was put back may have a new number."""
    if one is None or other is None:
        return one is other
    return (one.text, one.done) == (other.text, other.done)


def bare_name(text: str) -> str:
    """Return a list's name without the words around it: "the shopping list" is "shopping"."""
    text = " ".join(text.split())
    words = [word for word in text.removeprefix(_OURS_IN_CHINESE).strip(" .!?“”\"'").split() if not _is_filler(word)]
    return " ".join(words) or text


def says_ours(text: str) -> bool:
    """Return whether a list's name says that it is shared: "our shopping list"."""
    return text.strip().startswith(_OURS_IN_CHINESE) or any(word.casefold() in _OURS for word in text.split())


def _is_filler(word: str) -> bool:
    return word.casefold() in _FILLERS


def named_lists(lists: Sequence[TickList], name: str) -> list[TickList]:
    """Return the lists that a name may mean: those called so, or else those whose names have all its words."""
    wanted = bare_name(name).casefold()
    if exact := [one for one in lists if bare_name(one.name).casefold() == wanted]:
        return exact
    return [one for one in lists if set(wanted.split()) <= set(one.name.casefold().split())]


def named_items(items: Sequence[Item], name: str) -> list[Item]:
    """Return the entries that a number or words may mean."""
    words = " ".join(name.casefold().split()).strip(" .!?“”\"'")
    if numbered := _NUMBERED.fullmatch(words):
        return [item for item in items if item.number == int(numbered[1])]
    if exact := [item for item in items if item.text.casefold() == words]:
        return exact
    return [item for item in items if set(words.split()) <= set(item.text.casefold().split())]
