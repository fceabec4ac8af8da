"""What a recall reads first of a person's memory. A turn brings it along: it is read with the turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from abilities.memory.types import Kind, Memory, Version
from core.db.database import Database
from core.json_types import Json

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
        version = values["version"]
        return cls(
            Version(version.get("version", 0), version.get("epoch", 0)),
            dict(sorted(values["shared"].items())),
            tuple(map(_memory, values["unread"])),
        )


async def read_overview(database: Database, tenant_id: str, turn_id: str | None = None) -> Overview:
    """Read it for a turn that does not bring it, or for no turn."""
    return Overview.from_json((await database.one("select read_memory($1,$2) as read", tenant_id, turn_id))["read"])


def _memory(row: dict[str, Any]) -> Memory:
    times = {name: datetime.fromisoformat(row[name]) for name in ("said_at", "valid_from")}
    return Memory(**row | times | {"kind": Kind(row["kind"])})
