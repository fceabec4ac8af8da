"""Promise 11 through PgBouncer in transaction mode, where the next statement may meet another server connection."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import asyncpg
import pytest

from core.db.database import Database
from core.db.serving import ROLE
from core.errors import ConfigError, StoreUnavailable
from onevalet.migrating import migrate
from tests.core.harness import opened
from tests.servers.pgbouncer import SERVER_CONNECTIONS, pooled

pytestmark = pytest.mark.slow
CLIENTS = 240
POOLS = 12
_SERVERS = "select count(*) from pg_stat_activity where usename = $1"


@pytest.fixture
async def login(database_url: str) -> AsyncIterator[str]:
    """Yield the database's URL for a login that may only act as the serving role, which is not yet its own."""
    name = f"serving_{secrets.token_hex(4)}"
    admin = await asyncpg.connect(database_url)
    await admin.execute(f"create role {name} login noinherit password 'serves4test'; grant {ROLE} to {name}")
    address = urlsplit(database_url).netloc.rpartition("@")[2]
    yield urlsplit(database_url)._replace(netloc=f"{name}:serves4test@{address}").geturl()
    await admin.fetch("select pg_terminate_backend(pid) from pg_stat_activity where usename = $1", name)
    await admin.execute(f"drop role {name}")
    await admin.close()


async def give_role(database_url: str, login: str) -> None:
    """Do what docs/deploy.md tells a DBA to."""
    admin = await asyncpg.connect(database_url)
    await admin.execute(f"alter role {urlsplit(login).username} set role = '{ROLE}'")
    await admin.close()


@pytest.mark.parametrize("settings", [(), ("ignore_startup_parameters = role",)], ids=["refuses", "leaves out"])
async def test_many_clients_share_few_connections_each_in_its_tenant(
    database_url: str, login: str, settings: tuple[str, ...]
) -> None:
    await give_role(database_url, login)
    async with pooled(login, *settings) as url, AsyncExitStack() as stack:
        pools = [Database(url, size=CLIENTS // POOLS, patience=60) for _ in range(POOLS)]
        for pool in pools:
            stack.push_async_callback(pool.close)
        await asyncio.gather(*(use(pools[n % POOLS], f"tn_{n}") for n in range(CLIENTS)))
        admin = await asyncpg.connect(database_url)
        assert await admin.fetchval("select count(*) from tenants") == CLIENTS
        assert 0 < await admin.fetchval(_SERVERS, urlsplit(login).username) <= SERVER_CONNECTIONS
        await admin.close()


async def use(database: Database, tenant: str) -> None:
    """Make a person, and look again and again for anybody else."""
    async with database.tenant(tenant) as connection:
        await connection.execute("insert into tenants (tenant_id) values ($1)", tenant)
    for number in range(5):
        async with database.tenant(tenant) as connection:
            assert await connection.fetchval("select current_user") == ROLE
            rows = await connection.fetch("select tenant_id from tenants where $1::int = $1::int", number)
        assert [row["tenant_id"] for row in rows] == [tenant]
        assert await database.rows("select tenant_id from tenants where $1::int = $1::int", number) == []


async def test_a_message_goes_its_whole_way_through_a_pooler(database_url: str, login: str) -> None:
    await give_role(database_url, login)
    async with pooled(login) as url, opened(database_url, Database(url)) as store:
        await store.enqueue("hi")
        claim = await store.claim_sending("hi")
        assert await store.send(claim) == "sent"
        assert await store.database.rows("select * from tenants") == []


@pytest.mark.parametrize("settings", [(), ("ignore_startup_parameters = role",)], ids=["refuses", "leaves out"])
async def test_a_pooler_without_the_role_serves_nobody(login: str, settings: tuple[str, ...]) -> None:
    async with pooled(login, *settings) as url:
        database = Database(url, patience=0.5)
        with pytest.raises(StoreUnavailable, match="WithoutRole"):
            await database.rows("select 1")
        assert not await database.ready()
        await database.close()


async def test_migrate_refuses_a_pooler(database_url: str) -> None:
    async with pooled(database_url) as url:
        with pytest.raises(ConfigError, match="leads to a pooler such as PgBouncer"):
            await migrate(url)
