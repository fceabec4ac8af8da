"""A database that the last code before 0.1.0 made comes to the same tables and functions, and keeps its rows."""

from pathlib import Path

import asyncpg
import pytest

from core.db.ledger import LAST_COMMIT
from onevalet.migrating import check_database, migrate, migrations_of_abilities
from tests.core.db.schema import dump_schema
from tests.services import RunServices, empty_database
from tests.upgrade.previous import migrate_with, unpack

pytestmark = pytest.mark.whole("it migrates empty databases")
ROWS = """
insert into tenants (tenant_id) values ('tn_ann');
insert into tasks (tenant_id, id, number, title, kind, trigger, anchor, created_at)
values ('tn_ann', 't', 1, 'water plants', 'event', '{}', now(), now());
insert into event_sources (tenant_id, id, name, style, secret_hash) values ('tn_ann', 's', 'door', 'bearer', 'h');
"""
KEPT = "select t.title, s.name from tasks t, event_sources s"
LEDGER = """
select name, checksum from schema_migrations union all select name, checksum from schema_ability_migrations
union all select name, checksum from schema_functions order by 1
"""


async def ledger(url: str) -> list[tuple[str, ...]]:
    """Return the names and checksums of all that was applied."""
    connection = await asyncpg.connect(url)
    rows = [tuple(row) for row in await connection.fetch(LEDGER)]
    await connection.close()
    return rows


async def test_a_database_of_the_last_old_commit_comes_to_the_same(
    migrated_services: RunServices, tmp_path: Path
) -> None:
    async with empty_database(migrated_services) as new, empty_database(migrated_services) as old:
        await migrate(new)
        await migrate_with(unpack(tmp_path, LAST_COMMIT), old)
        connection = await asyncpg.connect(old)
        await connection.execute(ROWS)
        applied = await migrate(old)
        squashed = {"0001_tables", *(file.name for file in migrations_of_abilities() if file.stands_for)}
        assert squashed.isdisjoint(applied)
        assert (await check_database(old)).is_current
        assert await ledger(old) == await ledger(new)
        assert await dump_schema(old) == await dump_schema(new)
        assert tuple(await connection.fetchrow(KEPT) or ()) == ("water plants", "door")
        await connection.close()
