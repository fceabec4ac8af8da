"""Deleting a person for good, in steps of which each may be repeated: the worker that goes on after a crash ends it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

import structlog

from core.clock import Clock
from core.credentials.choice import shown
from core.db.database import Database
from core.files.store import FileStore
from core.people.tenant_tables import tenant_tables
from core.tools.account_access import PeoplesAccounts
from operations.tenants.copies import CopyEraser, Erased

GRACE = timedelta(minutes=2)
"""How long a person who asked for deletion still gets answers: the last answer confirms it."""
_LEASE = timedelta(minutes=10)
_TIMEOUT = 600.0
"""Seconds that the deletion of all rows may take."""

_log = structlog.get_logger()


class AskedBy(StrEnum):
    """The requester of a person's deletion."""

    PERSON = "person"
    OPERATOR = "operator"


@dataclass(slots=True)
class Deleted:
    """The result of a deletion. `open_grants`: accounts whose grants only their person can end at the service."""

    person: str
    open_grants: list[str] = field(default_factory=list)
    copies: Erased = field(default_factory=Erased)
    """Messages at the providers that were deleted there, and those that were not."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """Delete people who asked for it, or whom the operator deletes. Without `accounts` no grant
    is ended, without `eraser` no message is deleted at a provider."""

    database: Database
    files: FileStore
    clock: Clock
    accounts: PeoplesAccounts | None = None
    eraser: CopyEraser | None = None

    async def ask(self, person: str, by: AskedBy, now: datetime) -> None:
        """Note that a person is to be deleted: when they had their answer, or at once for an operator."""
        await ask_deletion(self.database, person, by, now)

    async def once(self, person: str | None = None) -> Deleted | None:
        """Delete a due person, or this person; None if none is due, or another worker does it."""
        now = await self.clock.sound_now()
        if now is None:
            return None
        claimed = await self.database.call("select person from claim_deletion($1,$2,$3)", person, now, _LEASE)
        if claimed is None:
            return None
        deleted = Deleted(claimed["person"])
        await self._end_grants(deleted)
        if self.eraser is not None:
            deleted.copies = await self.eraser.erase(deleted.person, now)
        async with self.database.tenant(deleted.person) as connection:
            await connection.fetch(
                "select delete_tenant($1,$2)", deleted.person, [*reversed(tenant_tables())], timeout=_TIMEOUT
            )
        while await self.files.delete_bytes():
            pass
        await self.database.rows("select end_deletion($1,$2)", deleted.person, now)
        _log.info(
            "person_deleted",
            tenant=deleted.person,
            open_grants=len(deleted.open_grants),
            copies_deleted=deleted.copies.gone,
            copies_left=deleted.copies.left,
        )
        return deleted

    async def drain(self) -> None:
        """Delete all who are due."""
        try:
            while await self.once():
                pass
        except OSError as error:
            _log.error("file_store_unreachable", cause=type(error).__name__)

    async def _end_grants(self, deleted: Deleted) -> None:
        """Delete all accounts, and end their grants if the service has a way for that."""
        if self.accounts is None:
            return
        for account in await self.accounts.list(deleted.person):
            if not await self.accounts.disconnect(deleted.person, account):
                deleted.open_grants.append(shown(account))


async def ask_deletion(database: Database, person: str, by: AskedBy, now: datetime) -> None:
    """Note that a person is to be deleted: when they had their answer, or at once for an operator."""
    due_at = now + GRACE if by is AskedBy.PERSON else now
    await database.rows("select ask_deletion($1,$2,$3,$4)", person, by.value, now, due_at)
    _log.info("deletion_asked", tenant=person, by=by.value)
