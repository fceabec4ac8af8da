"""The migrations: applied once, in order, by whoever owns the database, and never silently changed."""

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
from core.db.migrate import load_migrations, migrate
from core.errors import ConfigError
from onevalet.dev.embedded.postgres import Postgres
from tests.core.db.schema import SCHEMA, dump_schema
from tests.core.harness import opened
from tests.services import RunServices, private_postgres


@asynccontextmanager
async def empty_database(services: RunServices) -> AsyncIterator[str]:
    name = f"empty_{secrets.token_hex(4)}"
    admin = await asyncpg.connect(services.database_url)
    await admin.execute(f"create database {name}")
    try:
        yield urlsplit(services.database_url)._replace(path=f"/{name}").geturl()
    finally:
        await admin.execute(f"drop database {name} with (force)")
        await admin.close()


async def test_schema_sql_is_what_the_migrations_give(database_url: str) -> None:
    found = await dump_schema(database_url)
    assert SCHEMA.read_text() == found, "run: uv run python -m tests.core.db.schema"


async def test_four_migrators_at_once_apply_each_migration_once(migrated_services: RunServices) -> None:
    names = [m.name for m in load_migrations()]
    async with empty_database(migrated_services) as url:
        applied = await asyncio.gather(*(migrate(url) for _ in range(4)))
        assert sorted(name for each in applied for name in each) == sorted(names)
        assert await migrate(url) == []


async def test_an_edited_applied_migration_is_refused(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute("update schema_migrations set checksum = 'another' where number = 2")
    await connection.close()
    with pytest.raises(ConfigError, match="0002_row_security was edited after it was applied"):
        await migrate(database_url)


async def test_a_database_newer_than_the_code_is_refused_before_any_write(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0001_first.sql").write_text("create table first ();")
    monkeypatch.setattr(migrations, "load_migrations", lambda: load_migrations(tmp_path))
    async with empty_database(migrated_services) as url:
        await migrate(url)
        connection = await asyncpg.connect(url)
        await connection.execute("insert into schema_migrations (number, name, checksum) values (9, 'later', '')")
        await connection.execute("delete from schema_migrations where number = 1")
        with pytest.raises(ConfigError, match="has migration 9, this code has not: deploy newer code"):
            await migrate(url)
        assert await connection.fetch("select from schema_migrations where number = 1") == []
        await connection.close()


async def test_a_failing_migration_leaves_nothing_of_itself(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0001_first.sql").write_text("create table first ();")
    (tmp_path / "0002_second.sql").write_text("create table second (); select 1/0;")
    monkeypatch.setattr(migrations, "load_migrations", lambda: load_migrations(tmp_path))
    async with empty_database(migrated_services) as url:
        with pytest.raises(asyncpg.DivisionByZeroError):
            await migrate(url)
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("select to_regclass('second') is null and to_regclass('first') is not null")
        assert await connection.fetchval("select max(number) from schema_migrations") == 1
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


async def test_an_owner_without_superuser_is_told_the_dba_steps_then_migrates() -> None:
    async with private_postgres() as server:
        admin = await asyncpg.connect(server.url)
        url = await _plain_owner(admin, server)
        admin_of_database = await asyncpg.connect(_as(server.url, "plain"))
        told = []
        for _ in range(4):
            try:
                await migrate(url)
                break
            except ConfigError as error:
                words = str(error)
                assert words.startswith("This database user may not prepare the database: have a DBA run: ")
                told.append(words.split("run: ", 1)[1])
                await admin_of_database.execute(told[-1])
        assert told == ["create role onevalet_app nologin; grant onevalet_app to plain;", "create extension vector;"]
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
        assert await migrate(theirs) == [m.name for m in load_migrations()]
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
