"""The rights of viewers in the console: people see their own data, operators all people's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncpg

from core.db.database import Connection, Database
from operations.paths.rows import find_turn


class NothingHere(Exception):
    """Nothing is at an address, or it is not the viewer's to see: a page answers both with the same 404."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """The person who looks at the console. An operator sees all people's data."""

    tenant_id: str
    operator: bool
    name: str = ""
    timezone: str | None = None

    def sees(self, tenant_id: str) -> bool:
        return self.operator or self.tenant_id == tenant_id


@dataclass(frozen=True, slots=True)
class Scope:
    """The data that a viewer may see, and the only way from a page to the database.

    Whatever it is asked about anybody else raises `NothingHere`.
    """

    viewer: Viewer
    _database: Database = field(repr=False)

    def theirs(self, tenant_id: str) -> str:
        """Return the id of a person whom the viewer may see."""
        if not self.viewer.sees(tenant_id):
            raise NothingHere
        return tenant_id

    def own(self, tenant_id: str) -> str:
        """Return the id of the viewer: there are things that an operator does for nobody else."""
        if self.viewer.tenant_id != tenant_id:
            raise NothingHere
        return tenant_id

    def only_operators(self) -> None:
        """Raise `NothingHere` unless the viewer is an operator."""
        if not self.viewer.operator:
            raise NothingHere

    def everybody(self) -> Database:
        """Return the database with all people's data, for an operator."""
        self.only_operators()
        return self._database

    @asynccontextmanager
    async def tenant(self, tenant_id: str) -> AsyncIterator[Connection]:
        """Yield a connection inside a transaction that sees a person's rows only."""
        async with self._database.tenant(self.theirs(tenant_id)) as connection:
            yield connection

    async def tenant_rows(self, tenant_id: str, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run a statement as a person, with the person as its `$1`; return its rows."""
        return await self._database.tenant_rows(self.theirs(tenant_id), statement, *args)

    async def tenant_row(self, tenant_id: str, statement: str, *args: object) -> asyncpg.Record | None:
        """Run a statement as a person, with the person as its `$1`; return its first row."""
        return await self._database.tenant_row(self.theirs(tenant_id), statement, *args)

    async def listed(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run a statement over all people, with the person to whom it is limited as its `$1`: empty for operators."""
        return await self._database.rows(statement, "" if self.viewer.operator else self.viewer.tenant_id, *args)

    async def turn(self, wanted: str) -> tuple[str, str]:
        """Return the person and the turn to which an id belongs."""
        found = await find_turn(self._database, wanted)
        if found is None:
            raise NothingHere
        tenant_id, turn_id = found
        return self.theirs(tenant_id), turn_id
