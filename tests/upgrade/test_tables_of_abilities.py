"""The tables of abilities that the spine's migrations made keep their rows, and are those that abilities make now."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from core.db import migrate as core_migrate
from core.db.sql_files import load_migrations
from core.people.tenant_tables import tables_of_abilities
from onevalet.migrating import check_database, migrate, migrations_of_abilities
from onevalet.wiring.abilities import use_abilities
from tests.core.db.schema import SCHEMA, dump_schema
from tests.services import RunServices, empty_database
from tests.upgrade.previous import migrate_with, unpack

pytestmark = pytest.mark.whole("it migrates empty databases")
ROWS = """
insert into tenants (tenant_id) values ('tn_ann');
insert into tasks (tenant_id, id, number, title, kind, trigger, anchor, created_at)
values ('tn_ann', 't', 1, 'water plants', 'event', '{}', now(), now());
insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from)
values ('tn_ann', 'm', 1, 'I like tea', 'person', 'told', 'k', now(), now());
insert into event_sources (tenant_id, id, name, style, secret_hash) values ('tn_ann', 's', 'door', 'bearer', 'h');
"""
KEPT = "select t.title, m.text, s.name from tasks t, memories m, event_sources s"


@asynccontextmanager
async def connected(url: str) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
    """Yield a connection as the database's owner."""
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def is_taken_over(url: str) -> None:
    """Assert that a database with rows gets the tables of this code and keeps the rows."""
    firsts = [file.name for file in migrations_of_abilities()]
    assert [name for name in await migrate(url) if name in firsts] == firsts
    assert (await check_database(url)).is_current
    assert await dump_schema(url) == SCHEMA.read_text()
    async with connected(url) as connection:
        assert tuple(await connection.fetchrow(KEPT) or ()) == ("water plants", "I like tea", "door")


async def test_tables_of_the_release_before_become_those_of_abilities(
    migrated_services: RunServices, tmp_path: Path
) -> None:
    async with empty_database(migrated_services) as url:
        await migrate_with(unpack(tmp_path), url)
        async with connected(url) as connection:
            await connection.execute(ROWS)
        await is_taken_over(url)


async def test_tables_of_the_newest_spine_become_those_of_abilities(migrated_services: RunServices) -> None:
    async with empty_database(migrated_services) as url:
        await migrate(url)
        async with connected(url) as connection:
            await connection.execute(ROWS)
            # As it was, when the spine's files made these tables.
            await connection.execute("delete from schema_ability_migrations")
            for file in load_migrations():
                for checksum in file.was:
                    await connection.execute(
                        "update schema_migrations set checksum = $2 where number = $1", file.number, checksum
                    )
        await is_taken_over(url)


async def test_a_new_database_without_abilities_has_no_table_of_theirs(migrated_services: RunServices) -> None:
    use_abilities()
    async with empty_database(migrated_services) as url:
        await core_migrate.migrate(url)
        async with connected(url) as connection:
            rows = await connection.fetch("select relname::text as name from pg_class where relkind in ('r', 'p')")
            theirs = {"event_groups", *(table.name for table in tables_of_abilities())}
            assert {row["name"] for row in rows} & theirs == set()
            # Nobody answers, and all that asks says so.
            assert await connection.fetch("select * from find_set_aside_work()") == []
            assert await connection.fetch("select * from planned_work('tn_ann')") == []
            assert await connection.fetchval("select task_of_turn('tn_ann', 'turn')") is None
            assert await connection.fetchval("select redact('tn_ann', '{tea}')")
