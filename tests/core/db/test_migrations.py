"""Migrations, applied once in order by the database's owner and never edited; functions, applied again when edited."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from core.db import migrate as migrations
from core.db.database import Database
from core.db.migrate import check_database, migrate
from core.db.sql_files import load_functions, load_migrations
from core.errors import ConfigError
from onevalet.servers.postgres import Postgres
from tests.core.harness import opened
from tests.services import RunServices, empty_database, private_postgres


def use_files(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Migrate with the numbered files of a folder, and the functions of its folder `functions`."""
    monkeypatch.setattr(migrations, "load_migrations", lambda: load_migrations(folder))
    monkeypatch.setattr(migrations, "load_functions", lambda: load_functions(folder / "functions"))


@pytest.mark.whole("it migrates empty databases")
async def test_four_migrators_at_once_apply_each_file_once(migrated_services: RunServices) -> None:
    names = [file.name for file in [*load_migrations(), *load_functions()]]
    async with empty_database(migrated_services) as url:
        applied = await asyncio.gather(*(migrate(url) for _ in range(4)))
        assert sorted(name for each in applied for name in each) == sorted(names)
        assert await migrate(url) == []


async def test_an_edited_applied_migration_is_refused(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute("update schema_migrations set checksum = 'another' where number = 1")
    await connection.close()
    with pytest.raises(ConfigError, match="0001_tables was edited after it was applied"):
        await migrate(database_url)


@asynccontextmanager
async def ahead(
    services: RunServices, monkeypatch: pytest.MonkeyPatch, folder: Path, serves_from: int | None
) -> AsyncIterator[tuple[str, "asyncpg.Connection[asyncpg.Record]"]]:
    """Yield a database that newer code has migrated, whose functions are of that code, and a connection to it."""
    (folder / "0001_first.sql").write_text("create table first ();")
    (folder / "functions").mkdir()
    (folder / "functions" / "sums.sql").write_text("create function one() returns int language sql as 'select 1';\n")
    use_files(monkeypatch, folder)
    async with empty_database(services) as url:
        await migrate(url)
        connection = await asyncpg.connect(url)
        await connection.execute(
            "insert into schema_migrations (number, name, checksum, serves_from) values (9, 'later', '', $1)",
            serves_from,
        )
        await connection.execute("update schema_functions set checksum = 'newer'")
        yield url, connection
        await connection.close()


async def test_a_database_that_serves_newer_code_only_is_refused(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ahead(migrated_services, monkeypatch, tmp_path, serves_from=2) as (url, connection):
        await connection.execute("delete from schema_migrations where number = 1")
        with pytest.raises(ConfigError, match="has migration 9, this code has not: deploy newer code"):
            await migrate(url)
        assert await connection.fetch("select from schema_migrations where number = 1") == []
        state = await check_database(url)
        assert (state.is_newer, state.serves_this_code) == (True, False)


async def test_code_that_is_rolled_back_leaves_a_database_that_serves_it(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ahead(migrated_services, monkeypatch, tmp_path, serves_from=1) as (url, connection):
        assert await migrate(url) == []
        assert await connection.fetchval("select checksum from schema_functions") == "newer"


async def test_a_migration_records_the_oldest_code_that_it_serves(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0001_first.sql").write_text("create table first ();")
    use_files(monkeypatch, tmp_path)
    async with empty_database(migrated_services) as url:
        await migrate(url)
        (tmp_path / "0002_second.sql").write_text("-- serves code from 0002 on: nothing.\ncreate table second ();")
        (pending,) = (await check_database(url)).unsafe()
        assert (pending.name, pending.takes_away) == ("0002_second", "nothing")
        assert await migrate(url) == ["0002_second"]
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("select max(serves_from) from schema_migrations") == 2
        await connection.close()


async def test_a_migration_waits_briefly_for_a_table_and_tries_again(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "LOCK_WAIT", 0.05)
    monkeypatch.setattr(migrations, "PAUSE", 0.01)
    (tmp_path / "0001_first.sql").write_text("create table first ();")
    use_files(monkeypatch, tmp_path)
    async with empty_database(migrated_services) as url:
        await migrate(url)
        (tmp_path / "0002_second.sql").write_text("alter table first add column n int;")
        dump = await asyncpg.connect(url)
        await dump.execute("begin; lock table first in access share mode")
        monkeypatch.setattr(migrations, "LOCK_TRIES", 2)
        with pytest.raises(ConfigError, match=r"^0002_second was not applied, because another session has held"):
            await migrate(url)
        monkeypatch.setattr(migrations, "LOCK_TRIES", 10_000)
        waiting = asyncio.create_task(migrate(url))
        reader = await asyncpg.connect(url)
        for _ in range(20):  # nobody who comes meanwhile waits for long
            await reader.fetch("select * from first")
        assert not waiting.done()
        await dump.execute("rollback")
        assert await waiting == ["0002_second"]
        await dump.close()
        await reader.close()


async def test_a_failing_migration_leaves_nothing_of_itself(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0001_first.sql").write_text("create table first ();")
    (tmp_path / "0002_second.sql").write_text("create table second (); select 1/0;")
    use_files(monkeypatch, tmp_path)
    async with empty_database(migrated_services) as url:
        with pytest.raises(asyncpg.DivisionByZeroError):
            await migrate(url)
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("select to_regclass('second') is null and to_regclass('first') is not null")
        assert await connection.fetchval("select max(number) from schema_migrations") == 1
        await connection.close()


@asynccontextmanager
async def with_functions(
    services: RunServices, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> AsyncIterator[tuple[str, "asyncpg.Connection[asyncpg.Record]"]]:
    """Yield the URL of, and a connection to, a database with one table and the functions of a folder."""
    (folder / "0001_first.sql").write_text("create table first (n int);")
    (folder / "functions").mkdir()
    (folder / "functions" / "sums.sql").write_text(
        "create function twice(p_n int) returns int language sql as 'select once(p_n) * 2';\n"
        "create function gone() returns int language sql as 'select 1';\n"
    )
    (folder / "functions" / "words.sql").write_text(
        "create function once(p_n int) returns int language sql as 'select p_n';\n"
        "create or replace function note() returns trigger language plpgsql as 'begin return new; end';\n"
        "create or replace trigger first_note before insert on first for each row execute function note();\n"
    )
    use_files(monkeypatch, folder)
    async with empty_database(services) as url:
        assert await migrate(url) == ["0001_first", "sums", "words"]
        connection = await asyncpg.connect(url)
        yield url, connection
        await connection.close()


async def test_an_edited_function_file_is_applied_again(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_functions(migrated_services, monkeypatch, tmp_path) as (url, connection):
        assert await connection.fetchval("select twice(3)") == 6
        # Another parameter name and another result cannot be replaced, and `gone` went.
        (tmp_path / "functions" / "sums.sql").write_text(
            "create function twice(p_number int) returns text language sql as 'select repeat(once(p_number)::text, 2)';"
        )
        assert await migrate(url) == ["sums"]
        assert await connection.fetchval("select twice(3)") == "33"
        assert await connection.fetchval("select to_regproc('gone') is null and to_regproc('once') is not null")
        assert await connection.fetchval("select checksum from schema_functions where name = 'sums'") == (
            load_functions(tmp_path / "functions")[0].checksum
        )
        assert await migrate(url) == []


async def test_functions_of_a_removed_file_are_dropped_with_their_triggers(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_functions(migrated_services, monkeypatch, tmp_path) as (url, connection):
        (tmp_path / "functions" / "words.sql").unlink()
        assert await migrate(url) == []
        assert await connection.fetchval("select to_regproc('once') is null and to_regproc('note') is null")
        assert await connection.fetchval("select count(*) from pg_trigger where tgname = 'first_note'") == 0
        assert [row["name"] for row in await connection.fetch("select name from schema_functions")] == ["sums"]


async def test_a_function_is_replaced_where_it_stands_unless_its_result_changes(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = "select to_regprocedure('once(int)')::oid"
    async with with_functions(migrated_services, monkeypatch, tmp_path) as (url, connection):
        before = await connection.fetchval(same)
        words = tmp_path / "functions" / "words.sql"
        first = "create function once(p_n int) returns int language sql as 'select p_n + 10';\n"
        second = "create function once(p_n int, p_m int) returns int language sql as 'select p_n + p_m';\n"
        words.write_text(first + second)
        assert await migrate(url) == ["words"]
        assert await connection.fetchval("select once(1) + once(2, 3)") == 16
        assert await connection.fetchval(same) == before
        words.write_text(first.replace("returns int", "returns bigint"))
        assert await migrate(url) == ["words"]
        assert await connection.fetchval(same) != before
        assert await connection.fetchval("select to_regprocedure('once(int, int)') is null")


async def test_an_edited_trigger_function_keeps_its_trigger(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_functions(migrated_services, monkeypatch, tmp_path) as (url, connection):
        words = tmp_path / "functions" / "words.sql"
        words.write_text(words.read_text().replace("return new", "new.n := 7; return new"))
        assert await migrate(url) == ["words"]
        assert await connection.fetchval("insert into first values (1) returning n") == 7


async def test_a_failing_function_file_changes_no_function(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with with_functions(migrated_services, monkeypatch, tmp_path) as (url, connection):
        (tmp_path / "functions" / "sums.sql").write_text("create function twice() returns int;")
        with pytest.raises(asyncpg.PostgresError):
            await migrate(url)
        assert await connection.fetchval("select twice(3) + gone()") == 7


async def test_every_function_is_valid_where_all_others_are(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    async with connection.transaction():
        for file in load_functions():  # with check_function_bodies on
            await connection.execute(file.sql.replace("create function", "create or replace function"))
    await connection.close()


async def test_every_foreign_key_is_deferrable(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    fixed = await connection.fetch("select conname from pg_constraint where contype = 'f' and not condeferrable")
    assert [row["conname"] for row in fixed] == []
    await connection.close()


def test_a_gap_in_the_numbers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0001_first.sql").write_text("")
    (tmp_path / "0003_third.sql").write_text("")
    with pytest.raises(ConfigError, match="not numbered 1, 2, 3"):
        load_migrations(tmp_path)


@pytest.mark.parametrize("url", ["postgresql://nobody:x@127.0.0.1:1/none", "postgresql://u:p@host:port/x", "nonsense"])
async def test_a_database_that_cannot_be_reached_is_one_sentence(url: str) -> None:
    with pytest.raises(ConfigError, match=r"^The database in DATABASE_URL cannot be reached \(\w+\)\.$"):
        await migrate(url)


@pytest.mark.whole("it migrates empty databases")
async def test_an_owner_without_superuser_is_told_the_dba_steps_then_migrates() -> None:
    async with private_postgres() as server:
        admin = await asyncpg.connect(server.url)
        url = await _plain_owner(admin, server)
        admin_of_database = await asyncpg.connect(_as(server.url, "plain"))
        notices = []
        for _ in range(4):
            try:
                await migrate(url)
                break
            except ConfigError as error:
                words = str(error)
                assert words.startswith("This database user may not prepare the database: have a DBA run: ")
                notices.append(words.split("run: ", 1)[1])
                await admin_of_database.execute(notices[-1])
        assert notices == ["create role onevalet_app nologin; grant onevalet_app to plain;", "create extension vector;"]
        await _serve(url)
        await admin_of_database.close()
        await admin.close()


async def test_a_member_without_the_right_to_act_as_the_role_is_told_so(migrated_services: RunServices) -> None:
    name = f"lonely_{secrets.token_hex(4)}"
    async with empty_database(migrated_services) as url:
        admin = await asyncpg.connect(url)
        await admin.execute(f"create role {name} login password 'x'")
        await admin.execute("create extension vector")
        theirs = urlsplit(url)._replace(netloc=f"{name}:x@{urlsplit(url).netloc.rpartition('@')[2]}").geturl()
        with pytest.raises(ConfigError, match=f"run: grant onevalet_app to {name};$"):
            await migrate(theirs)
        await admin.execute(f"grant onevalet_app to {name} with set false")
        with pytest.raises(ConfigError, match=f"run: grant onevalet_app to {name};$"):
            await migrate(theirs)
        await admin.execute(f"grant onevalet_app to {name} with set true")
        with pytest.raises(ConfigError, match=f"run: grant usage, create on schema public to {name};$"):
            await migrate(theirs)
        await admin.execute(f"grant usage, create on schema public to {name}")
        assert await migrate(theirs) == [file.name for file in [*load_migrations(), *load_functions()]]
        await admin.execute(f"drop owned by {name} cascade; revoke onevalet_app from {name}; drop role {name}")
        await admin.close()


async def _plain_owner(admin: "asyncpg.Connection[asyncpg.Record]", server: Postgres) -> str:
    await admin.execute("create role plain login password 'x'")
    await admin.execute("create database plain owner plain")
    address = urlsplit(server.url).netloc.rpartition("@")[2]
    return urlsplit(_as(server.url, "plain"))._replace(netloc=f"plain:x@{address}").geturl()


def _as(url: str, database: str) -> str:
    return urlsplit(url)._replace(path=f"/{database}").geturl()


async def _serve(url: str) -> None:
    """Take a message from arrival to delivery under FORCE, where the owner has no superuser's eyes."""
    async with opened(url, Database(url)) as store:
        await store.enqueue("hi")
        claim = await store.claim_sending("hi")
        assert await store.send(claim) == "sent"
        assert await store.database.rows("select * from tenants") == []
        row = await store.database.call("select * from count_work()")
        assert row is not None
        assert row["open_outbound"] == 0
        async with store.database.tenant(claim.tenant_id) as connection:
            assert await connection.fetchval("select count(*) from outbound where state = 'sent'") == 1
            assert await connection.fetchval("select count(*) from outbound_parts where provider_id <> ''") == 1
