"""A look into the database that is repeated: a new connection for each costs fifty times as much as the look."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import asyncpg


@dataclass(slots=True)
class Eye:
    """Looks by a connection that is kept as long as there is a database."""

    connect: "Callable[[], Awaitable[asyncpg.Connection[asyncpg.Record]]]"
    _connection: "asyncpg.Connection[asyncpg.Record] | None" = None

    async def look(self, statement: str, *arguments: object) -> list[Any] | None:
        """Return the column that a statement returns, None while there is no database."""
        try:
            self._connection = self._connection or await self.connect()
            return [row[0] for row in await self._connection.fetch(statement, *arguments, timeout=10)]
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self.close()
            return None

    def close(self) -> None:
        """Drop the connection."""
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None
