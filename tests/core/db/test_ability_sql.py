"""The SQL of an ability: `migrate` makes its tables and functions, and what it has due is asked with all the rest."""

from pathlib import Path

import asyncpg
import pytest

from core.db.migrate import check_database, migrate
from core.db.sql_files import AbilitySql, load_functions, with_abilities
from core.errors import ConfigError
from core.people.tenant_tables import tables_of_abilities
from onevalet.migrating import sql_of_abilities
from onevalet.wiring.abilities import use_abilities
from tests.services import RunServices, empty_database

TABLE = "create table pets (tenant_id text references tenants on delete cascade, name text, hungry_at timestamptz,"
KEY = " primary key (tenant_id, name)); select tenant_table('pets');"
FEED = "create function feed(p_name text) returns text language sql as $$ select 'fed ' || p_name $$;"
AWAITED = "select where p_arrival.user_key = 'rex'"
DUE = "select 'feeding', min(p.hungry_at) from pets p"
REDACT = "update pets p set name = '[forgotten]' where p.tenant_id = p_tenant and says_any(p.name, p_phrases);"
UNREDACTED = "select exists (select from pets p where p.tenant_id = p_tenant and says_any(p.name, p_phrases))"


@pytest.fixture
def pets(tmp_path: Path) -> AbilitySql:
    """Return an ability with a table, a function and work that comes due."""
    for folder in ("migrations", "functions"):
        (tmp_path / folder).mkdir()
    (tmp_path / "migrations" / "0001_pets.sql").write_text(TABLE + KEY)
    (tmp_path / "functions" / "feeding.sql").write_text(FEED)
    (tmp_path / "due.sql").write_text(DUE)
    (tmp_path / "awaited.sql").write_text(AWAITED)
    (tmp_path / "redact.sql").write_text(REDACT)
    (tmp_path / "unredacted.sql").write_text(UNREDACTED)
    return AbilitySql("pets", tmp_path)


async def due(connection: "asyncpg.Connection[asyncpg.Record]") -> dict[str, float]:
    """Return what is due, and in how many seconds."""
    return {row["work"]: row["wait"] for row in await connection.fetch("select * from what_is_due(now())")}


async def awaited(connection: "asyncpg.Connection[asyncpg.Record]", sender: str) -> object:
    """Return whether a message of somebody is held back as an answer."""
    arrival = "jsonb_populate_record(null::arrival, jsonb_build_object('channel', 'sms', 'user_key', $1::text))"
    return await connection.fetchval(f"select awaits_answer({arrival}, false)", sender)


async def test_migrate_makes_the_tables_and_functions_of_abilities(database_url: str, pets: AbilitySql) -> None:
    abilities = [*sql_of_abilities(), pets]
    pending = await check_database(database_url, abilities)
    assert ([file.name for file in pending.of_abilities], pending.functions) == (
        ["pets/0001_pets"],
        ("due", "inbox", "pets/feeding", "redaction"),
    )
    assert await migrate(database_url, abilities) == ["pets/0001_pets", "due", "inbox", "redaction", "pets/feeding"]
    assert await migrate(database_url, abilities) == []
    assert (await check_database(database_url, abilities)).is_current
    connection = await asyncpg.connect(database_url)
    try:
        assert await connection.fetchval("select feed('Rex')") == "fed Rex"
        await connection.execute("insert into tenants (tenant_id) values ('tn_1')")
        await connection.execute("insert into pets values ('tn_1', 'Rex', clock_timestamp() - interval '3 s')")
        assert -60 < (await due(connection))["feeding"] <= -3
        assert [await awaited(connection, name) for name in ("rex", "ann")] == [True, False]
        assert await connection.fetchval("select redact_elsewhere('tn_1', '{x}')") == 0
        assert await connection.fetchval("select name from pets") == "Rex"
        assert await connection.fetchval("select redact_elsewhere('tn_1', '{Rex}')") == 0
        assert await connection.fetchval("select name from pets") == "[forgotten]"
        # Without it, its functions go, and its rows stay.
        assert await migrate(database_url, sql_of_abilities()) == ["due", "inbox", "redaction"]
        assert await connection.fetchval("select count(*) from pets") == 1
        assert await connection.fetchval("select count(*) from pg_proc where proname = 'feed'") == 0
        assert "feeding" not in await due(connection)
        assert not await awaited(connection, "rex")
    finally:
        await connection.close()


async def test_an_abilitys_migration_is_never_edited_and_its_next_is_applied(
    database_url: str, pets: AbilitySql
) -> None:
    abilities = [*sql_of_abilities(), pets]
    await migrate(database_url, abilities)
    (pets.folder / "migrations" / "0002_toys.sql").write_text("alter table pets add column toys int;")
    assert await migrate(database_url, abilities) == ["pets/0002_toys"]
    (pets.folder / "migrations" / "0001_pets.sql").write_text(TABLE + KEY + "select 1;")
    with pytest.raises(ConfigError, match="Migration pets/0001_pets was edited after it was applied"):
        await migrate(database_url, abilities)


@pytest.mark.whole("it migrates empty databases")
async def test_a_new_database_without_abilities_has_no_table_of_theirs(migrated_services: RunServices) -> None:
    use_abilities()
    async with empty_database(migrated_services) as url:
        await migrate(url)
        connection = await asyncpg.connect(url)
        rows = await connection.fetch("select relname::text as name from pg_class where relkind in ('r', 'p')")
        theirs = {"event_groups", *(table.name for table in tables_of_abilities())}
        assert {row["name"] for row in rows} & theirs == set()
        # Nobody answers, and all that asks says so.
        assert await connection.fetch("select * from find_set_aside_work()") == []
        assert await connection.fetch("select * from planned_work('tn_ann')") == []
        assert await connection.fetchval("select task_of_turn('tn_ann', 'turn')") is None
        assert await connection.fetchval("select redact('tn_ann', '{tea}')")
        await connection.close()


def test_an_ability_cannot_make_a_function_of_another_room(pets: AbilitySql) -> None:
    (pets.folder / "functions" / "feeding.sql").write_text(FEED.replace("feed(", "prune_messages("))
    with pytest.raises(ConfigError, match=r"^pets/feeding.sql makes prune_messages, which \w+.sql makes too"):
        with_abilities(load_functions(), [pets])


def test_an_ability_answers_only_what_a_function_asks(pets: AbilitySql) -> None:
    (pets.folder / "dew.sql").write_text(DUE)
    with pytest.raises(ConfigError, match=r"^No function asks abilities for sql/dew\.sql of pets\."):
        with_abilities(load_functions(), [pets])
