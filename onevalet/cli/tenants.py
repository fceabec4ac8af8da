"""`tenants export|delete|import`: a person's data as a whole."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.errors import ConfigError
from core.files.store import FileStore
from core.language.counted import counted
from core.people.access_policy import PersonRole
from core.people.tenant_tables import tenant_tables
from core.tools.account_access import PeoplesAccounts
from onevalet.cli.runner import say
from onevalet.cli.session import known_tenant, open_database, system_keys
from onevalet.settings import Settings
from onevalet.wiring.accounts import open_accounts
from onevalet.wiring.file_store import open_file_store
from onevalet.wiring.tenants import build_exporter, build_importer, open_deletion
from operations.archives.written import written
from operations.archives.zips import ArchiveRefused
from operations.tenants.archive import Unconfirmed, open_archive
from operations.tenants.deletion import AskedBy


@dataclass(frozen=True, slots=True)
class _System:
    database: Database
    files: FileStore
    credentials: CredentialStore
    accounts: PeoplesAccounts | None
    clock: Clock


async def export_person(settings: Settings, person: str, file: Path) -> None:
    """Write a person's archive, readable only by the operator. An existing file is not replaced."""
    _check_is_new(file)
    async with _system(settings) as system:
        person = await known_tenant(system.database, person)
        exporter = build_exporter(system.database, system.files, system.clock, system.credentials, system.accounts)
        size = 0
        try:
            async with aclosing(exporter.pieces(person)) as pieces:
                with written(file) as out:
                    async for piece in pieces:
                        out.write(piece)
                        size += len(piece)
        except OSError as error:
            raise ConfigError(f"{file} cannot be written: {error.strerror or type(error).__name__}.") from error
        await system.database.rows("select note_export($1,$2)", person, "exported")
    say(f"{file}: all that is kept of {person}, {size} bytes.")


async def delete_person(settings: Settings, person: str, *, yes: bool) -> None:
    """Delete a person for good; without `yes`, raise `ConfigError` with the number of rows."""
    async with _system(settings) as system:
        if not yes:
            person = await known_tenant(system.database, person)
            rows = await _count(system.database, person)
            raise ConfigError(f"{person} has {counted(rows, 'row')}; --yes deletes all of it for good, and all files.")
        open_ones = await system.database.call(
            "select person from deletions where person = $1 and finished_at is null", person
        )
        if not open_ones:
            person = await known_tenant(system.database, person)
        async with open_deletion(settings, system.database, system.files, system.clock, system.accounts) as deletion:
            await deletion.ask(person, AskedBy.OPERATOR, system.clock.now())
            deleted = await deletion.once(person)
    if deleted is None:
        say(f"A worker deletes {person} already.")
        return
    say(f"Deleted: {person}.")
    if deleted.copies.gone or deleted.copies.left:
        say(f"Of their messages at the providers {deleted.copies.gone} were deleted there, {deleted.copies.left} stay.")
    if deleted.open_grants:
        say(f"Only the person can end what they allowed there: {', '.join(deleted.open_grants)}.")


async def import_person(settings: Settings, file: Path, role: PersonRole | None, admit: Sequence[str]) -> None:
    """Import a person from an archive; raise `ConfigError`, and change nothing, if it does not fit.

    `admit`: the addresses, such as `sms:+15551234567`, that the operator confirms.
    """
    async with _system(settings) as system:
        try:
            archive = await asyncio.to_thread(open_archive, file, system_keys(settings))
            imported = await build_importer(system.database, system.files).take_in(archive, role, admit)
        except Unconfirmed as error:
            _list_unconfirmed(error.addresses)
            raise ConfigError(
                f"{error} Nothing was changed. Import it again with `--admit ADDRESS` for each that you know as theirs."
            ) from error
        except ArchiveRefused as error:
            raise ConfigError(str(error)) from error
    held = f"{counted(imported.rows, 'row')}, {counted(imported.files, 'file')}"
    say(f"{imported.tenant_id} is here as {imported.role}: {held}.")
    if imported.left:
        _list_unconfirmed(imported.left)
        say(
            "What was said there is kept. They link one that is theirs by `/link` at an address that is confirmed. Or"
            f" delete them by `tenants delete {imported.tenant_id} --yes`, and import again with `--admit` for it too."
        )
    say("Their accounts and sources of events are to be connected again.")


def _list_unconfirmed(addresses: Sequence[str]) -> None:
    """Print addresses as arguments to type, without terminal control characters."""
    for address in addresses:
        shown = "".join(letter if letter.isprintable() else "?" for letter in address)
        say(f"Not confirmed, so not theirs here: --admit {shlex.quote(shown)}")


def _check_is_new(file: Path) -> None:
    if file.exists():
        raise ConfigError(f"{file} is there already.")


@asynccontextmanager
async def _system(settings: Settings) -> AsyncIterator[_System]:
    clock = Clock(settings.onevalet_clock)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings, "tenants", size=2))
        files = await stack.enter_async_context(open_file_store(settings, database))
        credentials = CredentialStore(database, system_keys(settings))
        accounts = open_accounts(stack, settings, database, credentials, clock)
        yield _System(database, files, credentials, accounts, clock)


async def _count(database: Database, person: str) -> int:
    async with database.tenant(person) as connection:
        counts = [
            await connection.fetchval(f"select count(*) from {table} where tenant_id = $1", person)  # noqa: S608
            for table in tenant_tables()
        ]
    return sum(counts)
