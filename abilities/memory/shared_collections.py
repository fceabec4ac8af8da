"""Shared collections: a household's or a team's memory is a tenant of its own, open to its members."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from abilities.memory.recall.search import Scope
from core.db.database import Database
from core.errors import ToolFailed
from core.ids import IdMaker
from core.language.catalogue import gettext


@dataclass(frozen=True, slots=True)
class SharedCollections:
    """Who may see which shared collection. The same name may be another collection for another person."""

    database: Database
    make_id: IdMaker

    async def make(self, owner: str, name: str) -> str:
        """Create a collection that this person owns; return its tenant. The same name again returns the same tenant."""
        row = await self.database.call(
            "select shared_id from make_shared_collection($1, $2, $3)", owner, name, self.make_id("col")
        )
        return str(row["shared_id"]) if row else ""

    async def let_in(self, owner: str, name: str, member: str) -> bool:
        """Add a member, who may see a collection and add to it; refuse by False unless its owner asks."""
        return await self._change(owner, name, member, inside=True)

    async def put_out(self, owner: str, name: str, member: str) -> bool:
        """End someone's membership; refuse by False unless its owner asks."""
        return await self._change(owner, name, member, inside=False)

    async def names(self, tenant_id: str) -> dict[str, str]:
        """Return the tenants of the shared collections that a person may see, by name."""
        rows = await self.database.tenant_rows(tenant_id, "select name, home_id from shared_homes($1) order by name")
        return {row["name"]: row["home_id"] for row in rows}

    async def home_of(self, tenant_id: str, collection: str) -> tuple[str, str]:
        """Return the tenant that stores a collection's memories, and the collection's name there.

        A collection below a shared collection (`team:eng:plans` below `team:eng`) is stored with it; any other is the
        person's own. Raises `ToolFailed` for a collection that only members may use.
        """
        shared = await self.names(tenant_id)
        for name, home in sorted(shared.items(), key=lambda item: -len(item[0])):
            if collection == name or collection.startswith(f"{name}:"):
                return home, collection
        if is_shared(collection):
            raise ToolFailed(gettext("You are not a member of {collection}.", collection=collection))
        return tenant_id, collection

    async def _change(self, owner: str, name: str, member: str, *, inside: bool) -> bool:
        row = await self.database.call("select shared_id from change_member($1,$2,$3,$4)", owner, name, member, inside)
        return row is not None


def is_shared(collection: str) -> bool:
    """Return whether a collection's name is for shared ones only."""
    return collection.startswith(("team:", "household:"))


def scopes_of(tenant_id: str, shared: Mapping[str, str], collections: Sequence[str] = ()) -> list[Scope]:
    """Return the ranges of a search: everything that a person may see, or the collections under some prefixes.

    `shared`: the tenants of the shared collections that the person may see, by name.
    """
    if not collections:
        return [Scope(tenant_id), *(Scope(home, payer=tenant_id) for home in dict.fromkeys(shared.values()))]
    scopes = [Scope(tenant_id, tuple(collections))]
    for name, home in shared.items():
        if any(name == prefix or name.startswith(f"{prefix}:") for prefix in collections):
            scopes.append(Scope(home, payer=tenant_id))
        elif below := tuple(prefix for prefix in collections if prefix.startswith(f"{name}:")):
            scopes.append(Scope(home, below, tenant_id))
    return scopes
