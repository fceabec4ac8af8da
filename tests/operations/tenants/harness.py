"""Ann and Bob with rows in every table, Ann's file on disk, and what exports, deletes and imports them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.files.blobs import FolderStore
from core.files.kinds import FileKind
from core.files.store import FileStore
from core.files.types import FileContent
from core.messaging.messages import Media
from core.people.tenant_tables import tenant_tables
from operations.tenants.archive import Archive, open_archive
from operations.tenants.deletion import AskedBy, Deleted, Deletion
from operations.tenants.export import Exporter
from operations.tenants.importing import Importer
from tests.clocks import StandingClock
from tests.core.db.test_row_security import two_people
from tests.core.harness import Store

LETTER = b"Dear Ann, the lease ends in May."
OURS = ["files.key", "inbox_keys.channel", "inbox_keys.account"]
"""Texts that are not the person's: where bytes lie, and our own accounts."""
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass(slots=True)
class Installation:
    """One database with a folder of files."""

    store: Store
    folder: Path
    clock: StandingClock = field(default_factory=lambda: StandingClock(NOW))
    secrets: list[SecretKey] = field(default_factory=lambda: [SecretKey("k", b"k" * 32)])
    ann: str = ""
    bob: str = ""

    @property
    def files(self) -> FileStore:
        """Return the store of files."""
        return FileStore(self.store.database, FolderStore(self.folder / "files"))

    @property
    def accounts(self) -> Accounts:
        """Return people's accounts, whose grants nobody can end."""
        return Accounts(self.credentials, Services.of([]))

    @property
    def credentials(self) -> CredentialStore:
        """Return what opens them, with the keys that sign archives."""
        return CredentialStore(self.store.database, self.keys)

    @property
    def keys(self) -> SecretKeys:
        """Return what signs its archives."""
        return SecretKeys(self.secrets)

    @property
    def deletion(self) -> Deletion:
        """Return the deletion."""
        return Deletion(self.store.database, self.files, self.clock, self.accounts)

    @property
    def importer(self) -> Importer:
        """Return the import."""
        return Importer(self.store.database, self.files.blobs, self.store.make_id)

    async def fill(self) -> None:
        """Bring in Ann and Bob, with rows in every table, and a file of each."""
        self.ann, self.bob = await two_people(self.store)
        for person in (self.ann, self.bob):
            await self.keep_file(person, LETTER)

    async def keep_file(self, person: str, data: bytes) -> str:
        """Store a file; return its id."""
        content, media = FileContent(("the lease",)), Media("", "text/plain", "letter.txt")
        file_id = await self.files.keep(person, data, FileKind.TEXT, content, media, NOW)
        await self.files.keep_made(person, file_id, "letter.txt", NOW)
        return file_id

    async def export(self, person: str = "") -> Path:
        """Export somebody, Ann by default; return where the archive is."""
        path = self.folder / "archive.zip"
        exporter = Exporter(self.store.database, self.files.blobs, self.clock, "0.0.1", self.credentials, self.accounts)
        with path.open("wb") as out:
            async for piece in exporter.pieces(person or self.ann):
                out.write(piece)
        return path

    async def archive(self) -> Archive:
        """Export Ann, and check the archive."""
        return open_archive(await self.export(), self.keys)

    async def delete(self) -> Deleted | None:
        """Delete Ann, as the operator does."""
        await self.deletion.ask(self.ann, AskedBy.OPERATOR, self.clock.now())
        return await self.deletion.once(self.ann)

    async def rows(self, person: str) -> dict[str, list[str]]:
        """Return all rows of a person as JSON, by their tables, in one order."""
        return {
            table: [
                str(row)
                for row in await self.store.column(
                    f"select to_jsonb(t)::text from {table} t where tenant_id = $1 order by 1",  # noqa: S608
                    person,
                )
            ]
            for table in tenant_tables()
        }

    async def plant(self, person: str, mark: str) -> dict[str, str]:
        """Write a mark of its own into each text of a person that takes one; return the columns by the marks."""
        columns = await self.store.admin.fetch(
            "select c.relname::text as of, a.attname::text as name, a.atttypid = 'jsonb'::regtype as json"
            " from pg_attribute a join pg_class c on c.oid = a.attrelid"
            " where c.relname = any ($1) and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped"
            " and a.attgenerated = '' and a.attname <> 'tenant_id' and a.atttypid::regtype::text in ('text', 'jsonb')"
            " and c.relname || '.' || a.attname <> all ($2) order by 1, 2",
            list(tenant_tables()),
            OURS,
        )
        planted: dict[str, str] = {}
        for column in columns:
            sign = f"{mark}{len(planted):03d}zq"
            value = "jsonb_build_object('said', $2::text)" if column["json"] else "$2"
            try:
                async with self.store.admin.transaction():
                    await self.store.admin.execute(
                        f'update {column["of"]} set "{column["name"]}" = {value} where tenant_id = $1',  # noqa: S608
                        person,
                        sign,
                    )
            except Exception as error:
                # A key, a state, or what another row refers to.
                if type(error).__module__ != "asyncpg.exceptions":
                    raise
                continue
            planted[sign] = f"{column['of']}.{column['name']}"
        return planted
