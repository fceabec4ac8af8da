"""Where lists are kept: among the person's own values, or among those that they share with others.

A list is a single stored value. It keeps the last changes with the calls that made them, so that a call that runs again
after a crash finds its own change, whatever others have changed since, and offers the same undo.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

from abilities.lists.list_values import Change, TickList
from core.tools.context import TenantStorage
from core.tools.sharing import SharedHome, sharing_among
from onevalet import StoredValue, ToolExecutionContext, ToolFailed, gettext

LISTS = "lists"
_LONG_AGO = "2000-01-01T00:00:00+00:00"
TRIES = 5
MAX_CHANGES, MAX_OF_CHANGES = 20, 20_000
"""Earlier changes that a list keeps for a day, and the characters of them all."""
REPEATED = timedelta(days=1)
"""How long after a crash a call may run again."""
KEPT = timedelta(hours=1)
"""How long a deleted list can be undone; then its row goes."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The lists of one place. `home`: those with whom the person shares them; None for the person's own."""

    storage: TenantStorage
    home: SharedHome | None = None

    def label(self, name: str) -> str:
        """Return a list's name for sentences, with that of the place if others read it too."""
        return f"{name} ({self.home.name})" if self.home else name

    async def lists(self) -> list[TickList]:
        return [one for stored in await self.storage.list(LISTS) if (one := _list(stored))]

    async def read(self, key: str) -> tuple[StoredValue | None, TickList | None]:
        """Return the value under a key, and the list in it, which is None once it was deleted."""
        stored = await self.storage.get(LISTS, key)
        return stored, _list(stored)

    async def swap(
        self, context: ToolExecutionContext, key: str, then: TickList | None, change: Change, was: StoredValue | None
    ) -> bool:
        """Store a list with the change that made it, unless another call has changed it since it was read."""
        now = context.clock.now()
        value: dict[str, Any] = then.to_json() if then else {"deleted_at": now.isoformat()}
        value |= {"by": context.idempotency_key, "change": change.to_json(), "at": now.isoformat()}
        value["earlier"] = [made for made in _made(was) if now - datetime.fromisoformat(made["at"]) < REPEATED]
        while len(value["earlier"]) > MAX_CHANGES or len(json.dumps(value["earlier"])) > MAX_OF_CHANGES:
            value["earlier"].pop()
        return await self.storage.swap(LISTS, key, value, was.value if was else None)

    async def change(
        self, meant: TickList, work: Callable[[TickList], TickList | None], context: ToolExecutionContext
    ) -> Change:
        """Store the result of `work` on a list, retrying after concurrent changes, and return the change."""
        await self._drop_deleted(context.clock.now())
        for _ in range(TRIES):
            stored, now = await self.read(meant.key)
            change = replace(Change.between(now, after := work(now or meant)), home=self.home.id if self.home else "")
            changes = change.items or change.names[0] != change.names[1]
            if not changes or await self.swap(context, meant.key, after, change, stored):
                return change
        raise ToolFailed(gettext("“{list}” is being changed at the moment; try again.", list=self.label(meant.name)))

    async def made_by(self, call: str) -> Change | None:
        """Return the change that a call made before a crash; None if it runs for the first time."""
        for stored in await self.storage.list(LISTS):
            for made in _made(stored):
                if made["by"] == call:
                    return Change.from_json(made["change"])
        return None

    async def _drop_deleted(self, now: datetime) -> None:
        """Delete the rows of lists whose deletion can no longer be undone."""
        for stored in await self.storage.list(LISTS):
            deleted = stored.value.get("deleted_at") if isinstance(stored.value, dict) else None
            if deleted and now - datetime.fromisoformat(str(deleted)) > KEPT:
                await self.storage.delete(LISTS, stored.key)


def own_shelf(context: ToolExecutionContext) -> Shelf:
    """Return the place of the person's own lists."""
    return Shelf(context.storage)


async def shared_shelf(context: ToolExecutionContext) -> Shelf | None:
    """Return the place of the lists that the person shares; None if they share nothing."""
    sharing = sharing_among(context.services)
    home = await sharing.home() if sharing else None
    return Shelf(sharing.storage, home) if sharing and home else None


async def shelf_of(change: Change, context: ToolExecutionContext) -> Shelf:
    """Return the place of a change. Raises `ToolFailed` if the person no longer shares it."""
    if not change.home:
        return own_shelf(context)
    shelf = await shared_shelf(context)
    if shelf is None or shelf.home is None or shelf.home.id != change.home:
        raise ToolFailed(gettext("You no longer share the list “{list}”.", list=change.name))
    return shelf


def _made(stored: StoredValue | None) -> list[dict[str, Any]]:
    """Return the last changes of a list, the newest first: each with the call that made it."""
    value = stored.value if stored else None
    if not isinstance(value, dict) or "by" not in value:
        return []
    # Of a list that an earlier version stored nobody knows when.
    newest = {"by": value["by"], "change": value["change"], "at": value.get("at", _LONG_AGO)}
    return [newest, *cast("list[dict[str, Any]]", value.get("earlier", []))]


def _list(stored: StoredValue | None) -> TickList | None:
    value = stored.value if stored else None
    return TickList.from_json(stored.key, value) if stored and isinstance(value, dict) and "name" in value else None
