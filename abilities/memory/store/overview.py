"""The overview of a person's memory, which a recall reads first. In a turn, it is read with the turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from abilities.memory.types import Kind, Memory, Version
from core.db.database import Database
from core.json_types import Json

_TIMES = ("said_at", "valid_from", "valid_to")
ABILITY = "memory"
"""The name under which turns bring it."""


@dataclass(frozen=True, slots=True)
class Overview:
    """How far a memory has come, the tenants of its shared collections by name, and statements of a moment ago.

    `unread`: those in other conversations that no model has read yet, the newest first; a turn is given them in any
    case, in whatever words it asks.
    """

    version: Version
    shared: Mapping[str, str]
    unread: tuple[Memory, ...]

    @classmethod
    def from_json(cls, read: Json) -> "Overview":
        values = cast("dict[str, Any]", read)
        version = values["version"] or {"version": 0, "epoch": 0}
        return cls(
            Version(version["version"], version["epoch"], values["settled"] or 0),
            dict(sorted(values["shared"].items())),
            tuple(map(memory_in, values["unread"])),
        )


async def read_overview(database: Database, tenant_id: str, turn_id: str | None = None) -> Overview:
    """Read it for a turn that does not bring it, or for no turn."""
    return Overview.from_json((await database.one("select read_memory($1,$2) as read", tenant_id, turn_id))["read"])


def memory_in(row: Mapping[str, Any]) -> Memory:
    """Return the memory of a row in JSON, which may have further columns, and need not have all."""
    known = {name: row[name] for name in Memory.__slots__ if name in row}
    times = {name: datetime.fromisoformat(row[name]) for name in _TIMES if row.get(name)}
    return Memory(**known | times | {"kind": Kind(row["kind"])})
