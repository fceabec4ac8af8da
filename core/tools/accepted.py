"""The definitions of others that the operator accepted: the model gets no newer version of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from core.db.database import Database
from core.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class Accepted:
    """A definition that was accepted; `hash` is that of the definition as it came."""

    source: str
    name: str
    hash: str
    definition: JsonObject


class AcceptedDefinitions:
    """The accepted definitions of a kind, which the table's check names."""

    def __init__(self, database: Database, kind: str) -> None:
        self._database = database
        self._kind = kind

    async def list(self) -> Sequence[Accepted]:
        """Return all that is accepted, by source and name."""
        rows = await self._database.rows(
            "select source, name, hash, definition from accepted_definitions where kind = $1 order by source, name",
            self._kind,
        )
        return [Accepted(row["source"], row["name"], row["hash"], cast(JsonObject, row["definition"])) for row in rows]

    async def accept(self, accepted: Accepted) -> None:
        """Accept a definition in place of the earlier definition."""
        await self._database.rows(
            "insert into accepted_definitions (kind, source, name, hash, definition) values ($1, $2, $3, $4, $5)"
            " on conflict (kind, source, name) do update set hash = excluded.hash, definition = excluded.definition,"
            " accepted_at = clock_timestamp()",
            self._kind,
            accepted.source,
            accepted.name,
            accepted.hash,
            accepted.definition,
        )

    async def withdraw(self, source: str, name: str) -> bool:
        """Withdraw the acceptance of a definition; return False if it was not accepted."""
        rows = await self._database.rows(
            "delete from accepted_definitions where kind = $1 and source = $2 and name = $3 returning 1",
            self._kind,
            source,
            name,
        )
        return bool(rows)
