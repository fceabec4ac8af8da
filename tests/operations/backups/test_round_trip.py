"""A backup is taken while everything runs, and restored: every row, every file and every right is there again."""

from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from core.db.database import Database
from core.errors import ConfigError
from core.files.store import FileStore
from onevalet.migrating import check_database, migrate
from operations.backups.restoring import Restorer
from operations.backups.taking import BackupTaker
from operations.backups.types import BackupFailed, open_backup
from tests.operations.backups.harness import Backups, Target, all_rows
from tests.operations.tenants.harness import LETTER, NOW


async def test_every_row_and_file_is_there_again(backups: Backups, target: Target) -> None:
    ours = backups.installation
    before = await all_rows(ours.store.url)
    assert [table for table, rows in before.items() if rows and table == "steps"] == ["steps"]
    backup = await backups.take()
    assert backup.rows == sum(map(len, before.values()))
    await target.restorer.restore(backup, target.files, replace=False)
    assert await target.tables() == before
    assert (await check_database(target.url)).is_current
    # Who serves sees one person, as before: rows, files, and what functions may be called.
    database = Database(target.url)
    try:
        restored = FileStore(database, target.files)
        [letter] = [file for file in await restored.list(ours.ann) if file.name == "letter.txt"]
        assert await restored.bytes_of(ours.ann, letter.id) == LETTER
        assert len(await database.rows("select * from find_groups()")) == 2
        assert await database.rows("select * from tenants") == []
        assert len(await database.tenant_rows(ours.ann, "select 1 from tenants where tenant_id = $1")) == 1
    finally:
        await database.close()


async def test_its_new_owner_backs_it_up_again_and_migrates(backups: Backups, target: Target) -> None:
    await target.restorer.restore(await backups.take(), target.files, replace=False)
    assert await migrate(target.url) == []
    again = await BackupTaker(target.url, target.files, "0.0.1").take(target.folder / "again.zip", NOW)
    assert again.manifest.tables == open_backup(backups.installation.folder / "backup.zip").manifest.tables
    assert set(again.files) == set((await backups.take("third.zip")).files)


async def test_rows_written_meanwhile_are_in_no_part_of_it(
    backups: Backups, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, real = backups.installation, BackupTaker._dump

    async def dump(self: BackupTaker, *args: object) -> None:
        # After the moment of the backup, before the dump begins: what comes now is in neither part of it.
        await ours.store.say("too late")
        await ours.keep_file(ours.bob, b"later than the rows")
        [gone] = await ours.store.column("select key from files where tenant_id = $1 and state = 'kept'", ours.ann)
        await ours.store.admin.execute("delete from files where key = $1", gone)
        await ours.files.blobs.delete(str(gone))
        await real(self, *args)  # type: ignore[arg-type]

    rows = len((await all_rows(ours.store.url))["inbound"])
    monkeypatch.setattr(BackupTaker, "_dump", dump)
    backup = await backups.take()
    assert {table.name: table.rows for table in backup.manifest.tables}["inbound"] == rows
    assert (len(backup.files), len(backup.manifest.gone), backup.manifest.lost) == (1, 1, ())
    # The dump is of the moment of the sums: restoring compares the two.
    await target.restorer.restore(backup, target.files, replace=False)
    assert await target.column("select 1 from inbound where text = 'too late'") == []


async def test_a_file_deleted_meanwhile_is_named_by_no_row(
    backups: Backups, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, real = backups.installation, BackupTaker._files

    async def files(self: BackupTaker, *args: object) -> object:
        await ours.store.admin.execute("delete from files where tenant_id = $1", ours.ann)
        while await ours.files.delete_bytes():
            pass
        return await real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(BackupTaker, "_files", files)
    backup = await backups.take()
    await target.restorer.restore(backup, target.files, replace=False)
    assert await target.column("select tenant_id from files where state = 'kept'") == [ours.bob]


async def test_bytes_that_the_store_has_lost_are_told(backups: Backups) -> None:
    ours = backups.installation
    [key] = await ours.store.column("select key from files where tenant_id = $1 and state = 'kept'", ours.ann)
    await ours.files.blobs.delete(str(key))
    assert (await backups.take()).manifest.lost == (key,)


async def test_a_login_that_serves_takes_no_backup(backups: Backups) -> None:
    ours = backups.installation
    await ours.store.admin.execute(
        "do $$ begin create role backup_server login; exception when duplicate_object then null; end $$;"
        "grant onevalet_app to backup_server; alter role backup_server password 'x'"
    )
    url = ours.store.url.replace("//", "//backup_server:x@").replace("@onevalet", "@")
    host = ours.store.url.rpartition("@")[2]
    url = f"postgresql://backup_server:x@{host}"
    with pytest.raises(ConfigError, match="backup_server may not read everybody's rows"):
        await BackupTaker(url, ours.files.blobs, "0").take(ours.folder / "none.zip", NOW)
    assert list(ours.folder.glob("*none*")) == []


async def test_verify_restores_into_a_database_that_goes_again(
    backups: Backups, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup, made = await backups.take(), list[str]()
    real = Restorer._verify

    async def verify(self: Restorer, *args: Any) -> None:
        made.append(urlsplit(self.url).path.strip("/"))
        await real(self, *args)

    monkeypatch.setattr(Restorer, "_verify", verify)
    await Restorer(target.admin_url).verify(backup)
    names = await target.column("select datname::text from pg_database")
    assert len(made) == 1
    assert made[0] not in names  # other workers of this run verify at the same time
    assert await target.tables() == {}


async def test_other_rows_than_were_backed_up_are_refused(backups: Backups, target: Target) -> None:
    backup = await backups.take()
    sums = tuple(
        table.model_copy(update={"hashes": "1"}) if table.name == "history" else table
        for table in backup.manifest.tables
    )
    changed = type(backup)(backup.path, backup.manifest.model_copy(update={"tables": sums}))
    with pytest.raises(BackupFailed, match="table history is not what was backed up"):
        await Restorer(target.admin_url).verify(changed)
    with pytest.raises(BackupFailed, match="table history is not what was backed up"):
        await target.restorer.restore(changed, target.files, replace=False)
    assert await target.tables() == {}


async def test_a_database_with_rows_is_replaced_only_where_it_is_told(backups: Backups, target: Target) -> None:
    backup = await backups.take()
    await migrate(target.url)
    with pytest.raises(ConfigError, match="not empty: give an empty one, or --replace"):
        await target.restorer.restore(backup, target.files, replace=False)
    at_work = await asyncpg.connect(target.url, server_settings={"application_name": "onevalet worker"})
    with pytest.raises(ConfigError, match="in use by 1 other sessions: stop every web and worker"):
        await target.restorer.restore(backup, target.files, replace=True)
    await at_work.close()
    await target.restorer.restore(backup, target.files, replace=True)
    assert await target.tables() == await all_rows(backups.installation.store.url)


async def test_a_replacement_that_fails_leaves_what_was_there(backups: Backups, target: Target) -> None:
    await target.restorer.restore(await backups.take(), target.files, replace=False)
    before = await target.tables()
    await backups.installation.store.say("more")
    backup = await backups.take("second.zip")
    sums = tuple(table.model_copy(update={"rows": table.rows + 1}) for table in backup.manifest.tables)
    changed = type(backup)(backup.path, backup.manifest.model_copy(update={"tables": sums}))
    with pytest.raises(BackupFailed, match="Nothing was restored"):
        await target.restorer.restore(changed, target.files, replace=True)
    assert await target.tables() == before


async def test_a_backup_of_newer_code_is_refused(backups: Backups, target: Target) -> None:
    backup = await backups.take()
    newer = type(backup)(backup.path, backup.manifest.model_copy(update={"schema_version": 9999}))
    with pytest.raises(ConfigError, match="of migration 9999, this code ends with"):
        await Restorer(target.url).restore(newer, target.files, replace=False)
