"""A connection goes back to the pool as it is: nothing that we do on it outlives a transaction."""

import ast
import asyncio
import re

import asyncpg
import pytest

from core.db.database import Database
from core.errors import LeaseLost
from onevalet.migrating import all_functions
from tests.core.harness import Store
from tests.eventually import eventually
from tests.jobs.worker_harness import WorkerHarness
from tests.postgres_meter import metered
from tests.shipping.harness import PRODUCT, python_files

OWN_CONNECTION = {
    "core/db/migrate.py",
    "core/db/pending.py",
    "onevalet/servers/postgres.py",
    "onevalet/servers/serving_login.py",
}
"""What works on a connection of its own, which it closes."""
# What a session keeps past a transaction.
KEPT = re.compile(
    r"set_config\((?:[^()]|\([^()]*\))*,\s*false\s*\)|\bpg_(?:try_)?advisory_(?:un)?lock|\bset\s+session\s+\w"
    r"|\bcreate\s+(?:local\s+|global\s+)?temp|\b(?:un)?listen\s+[\"\w*]|\bdeclare\s+\w+\s[^;]*\bwith\s+hold\b"
    r"|\bprepare\s+\w+\s*(?:\(|as\b)|\bdiscard\s+\w",
    re.IGNORECASE,
)
_SET = re.compile(r"^\s*(?:re)?set\s+(?!local\b|transaction\b)", re.IGNORECASE)
# What is left of it in a session, seen from inside.
LEFT = """
select 'lock' as what from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
union all select 'setting ' || name from pg_settings where source = 'session'
union all select 'channel ' || channel from pg_listening_channels() channel
union all select 'cursor ' || name from pg_cursors where name <> ''
union all select 'table ' || relname from pg_class where relpersistence = 't'
union all select 'tenant ' || tenant from current_setting('onevalet.tenant', true) tenant where tenant <> ''
"""
SLEEPS = """
select exists (
    select from pg_stat_activity where datname = current_database() and state = 'active' and wait_event = 'PgSleep'
)
"""


def test_no_sql_function_leaves_anything_in_its_session() -> None:
    assert {file.name: KEPT.findall(file.sql) for file in all_functions() if KEPT.search(file.sql)} == {}


@pytest.mark.whole("it runs every statement of the product")
def test_no_statement_of_ours_leaves_anything_in_its_session() -> None:
    found = {
        f"{name}:{node.lineno}"
        for name, source in python_files(*PRODUCT).items()
        if name not in OWN_CONNECTION
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _outlives(node.value)
    }
    assert found == set()


@pytest.mark.parametrize(
    "statement",
    [
        "select pg_advisory_lock(1)",
        "perform pg_try_advisory_lock(1)",
        "select set_config('lock_timeout', '1s', false)",
        "perform set_config('onevalet.tenant', concat('a', 'b'), false)",
        "create temp table t (a int)",
        "listen news",
        "set session lock_timeout = '1s'",
    ],
)
def test_what_a_session_would_keep_is_recognised(statement: str) -> None:
    assert KEPT.search(statement)


async def test_a_session_is_empty_after_turns_errors_and_cancellations(store: Store) -> None:
    for words in ("one", "two"):
        await store.say(words)
        await WorkerHarness(store).run_turns()
    with pytest.raises(asyncpg.UniqueViolationError):
        await _break(store.database)
    with pytest.raises(LeaseLost):
        await store.database.call("select leave_lane('nobody', 'lane', 1, interval '0')")
    sleeping = asyncio.create_task(_sleep(store.database))
    await eventually(lambda: store.admin.fetchval(SLEEPS), "the statement that is cancelled")
    sleeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeping
    # All connections of the pool, since each has had some of it: none is given back before the last is taken.
    taken = asyncio.Barrier(10)
    assert await asyncio.gather(*(_left(store.database, taken) for _ in range(10))) == [[]] * 10


async def test_a_transaction_left_open_is_rolled_back_with_its_tenant(database_url: str) -> None:
    database = Database(database_url, size=1)
    acquired = await database._acquire()
    await acquired[1].execute("begin; select set_config('onevalet.tenant', 'tn_a', true)")
    loop = asyncio.get_running_loop()
    told: list[dict[str, object]] = []
    loop.set_exception_handler(lambda _, context: told.append(context))
    await database._release(acquired)
    loop.set_exception_handler(None)
    assert "active transaction" in str(told)
    assert await _left(database) == []
    await database.close()


async def test_what_is_left_in_a_session_is_seen(database_url: str) -> None:
    database = Database(database_url, size=1)
    await database.rows("select pg_advisory_lock(7)")
    await database.rows("select set_config('onevalet.tenant', 'tn_a', false), set_config('lock_timeout', '1s', false)")
    assert await _left(database) == ["lock", "setting lock_timeout", "tenant tn_a"]
    await database.close()


@pytest.mark.parametrize("tenant", ["", "tn_a", "o'hara", "back\\slash", "\\'; select 1; --", "E'x'", "größe", "a\0b"])
async def test_a_transaction_has_the_tenant_to_the_letter(store: Store, tenant: str) -> None:
    async with store.database.tenant(tenant) as connection:
        assert await connection.fetchval("select current_setting('onevalet.tenant')") == tenant.replace("\0", "")


async def test_one_select_under_a_tenant_is_three_round_trips(database_url: str) -> None:
    async with metered(database_url) as meter:
        database = Database(meter.url)
        for _ in range(2):
            meter.clear()
            await database.tenant_rows("tn_a", "select $1::text")
        assert len(meter.statements) == 3, meter.statements
        assert meter.transactions == 1
        meter.clear()
        await database.call("select 1 where $1", True)
        assert meter.statements == ["select 1 where $1"]
        await database.close()


def _outlives(text: str) -> bool:
    if re.search(r"set_config\(.*false|pg_(try_)?advisory_lock", text):
        return True
    return bool(_SET.match(text)) and " = " in text


async def _left(database: Database, taken: asyncio.Barrier | None = None) -> list[str]:
    acquired = await database._acquire()
    try:
        if taken is not None:
            await taken.wait()
        return [row["what"] for row in await acquired[1].fetch(LEFT)]
    finally:
        await database._release(acquired)


async def _break(database: Database) -> None:
    async with database.tenant("tn_a") as connection:
        for _ in range(2):
            await connection.execute("insert into tenants (tenant_id) values ('tn_a')")


async def _sleep(database: Database) -> None:
    async with database.tenant("tn_a") as connection:
        await connection.execute("select pg_sleep(3600)")
