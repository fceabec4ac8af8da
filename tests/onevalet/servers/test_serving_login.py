"""Whom the processes that serve log in as: nobody who owns anything, whatever SQL is run on their connections."""

import asyncio
import json
import stat
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import asyncpg
import pytest
from pydantic import SecretStr

from core.db.serving import ROLE
from onevalet.cli.doctor import run_checks
from onevalet.migrating import migrate
from onevalet.servers.home import find_running
from onevalet.servers.opening import open_services
from onevalet.servers.postgres import Postgres
from onevalet.settings import Settings
from tests.core.harness import opened
from tests.eventually import eventually
from tests.forker import Forker
from tests.running_dev import RunningDev

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dev")]

ABOUT_ME = (
    "select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolinherit,"
    " (select count(*) from pg_class where relowner = r.oid) as owned,"
    " array(select m.roleid::regrole::text from pg_auth_members m where m.member = r.oid) as member_of"
    " from pg_roles r where rolname = session_user"
)


def serving_url(dev: RunningDev) -> str:
    """Return the address by which the running `dev`, and the commands beside it, log in."""
    running = find_running(dev.home)
    assert running is not None
    return running.database_url


@pytest.mark.slow
async def test_promise_11_whom_dev_serves_as_reads_nothing_after_set_role_none(dev: RunningDev) -> None:
    connection = await asyncpg.connect(serving_url(dev))
    try:
        about = dict(await connection.fetchrow(ABOUT_ME) or {})
        assert about.pop("member_of") == [ROLE]
        assert {name for name, value in about.items() if value} == set()
        tables = await connection.fetch(
            "select oid::regclass::text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
        )
        assert len(tables) > 40
        await connection.execute(f"set role {ROLE}")
        await connection.execute("select count(*) from tenants")
        await connection.execute("set role none")
        for (table,) in tables:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(f"select from {table}")
        for role in ("onevalet", "pg_read_all_data"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(f"set role {role}")
    finally:
        await connection.close()


@pytest.mark.slow
async def test_every_password_of_an_embedded_postgres_is_its_owners_to_read(dev: RunningDev) -> None:
    files = sorted((dev.home / "postgres").glob("*.password"))
    assert [file.name for file in files] == ["onevalet.password", "onevalet_serving.password"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert len({file.read_text() for file in files}) == 2


@pytest.mark.slow
async def test_every_command_next_to_a_running_dev_works_with_its_login(
    dev: RunningDev, forker: Forker, tmp_path: Path
) -> None:
    # `chat` beside it reads a terminal or a pipe: tests/workbench/dev/test_run.py.
    beside = Beside(dev, forker, tmp_path)
    async with aiohttp.ClientSession(dev.simulator_url) as http:
        said = await http.post("/sim/twilio/say", json={"person": "ada", "text": "What can you do?", "wait": True})
        assert said.status == 200, await said.text()
    connection = await asyncpg.connect(owner_url(dev))
    row = await eventually(lambda: connection.fetchrow("select id, tenant_id from turns where state = 'done'"))
    assert row is not None
    turn, tenant = row
    await connection.close()
    assert turn in await beside.run("trace", turn)
    assert await beside.run("replay", turn)
    for command in (
        "tasks list",
        "approvals list",
        "events list",
        "events source list",
        "credentials list",
    ):
        # By name: another test may have let a second person in.
        await beside.run(*command.split(), "--tenant", tenant)
    await beside.run("pair", "--address", "sms:+15550007777", "--role", "guest")
    await beside.run("keys", "rotate")
    checks = json.loads(await beside.run("doctor", "--json"))
    assert {check["what"] for check in checks} >= {"database", "work", "workers", "secret keys"}
    assert [check for check in checks if check["what"] == "database user" or not check["ok"]] == []


async def test_data_of_an_older_version_gets_the_login_and_keeps_its_rows(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, onevalet_home=tmp_path / "home", redis_url=SecretStr("redis://127.0.0.1:1/0"))
    old = Postgres(settings.onevalet_home)
    await old.start()
    try:
        await migrate(old.url)
        connection = await asyncpg.connect(old.url)
        await connection.execute("insert into tenants (tenant_id, name) values ('tn_old', 'Old')")
        await connection.close()
    finally:
        await old.stop()
    for _ in range(2):  # made the first time, found the second
        async with open_services(settings) as opened:
            assert opened.database_url is not None
            connection = await asyncpg.connect(opened.database_url.get_secret_value())
            await connection.execute(f"set role {ROLE}; select set_config('onevalet.tenant', 'tn_old', false)")
            assert await connection.fetchval("select name from tenants") == "Old"
            await connection.close()


async def test_doctor_says_where_the_database_user_is_a_superuser(database_url: str, tmp_path: Path) -> None:
    settings = Settings(_env_file=None, database_url=SecretStr(database_url), onevalet_home=tmp_path)
    async with opened(database_url):
        [check] = [check for check in await run_checks(settings) if check.what == "database user"]
    assert (check.ok, check.detail) == (True, "a superuser, or one past row-level security")
    assert "docs/deploy.md" in check.fix


def owner_url(dev: RunningDev) -> str:
    """Return the address of the database's owner."""
    _, _, place = serving_url(dev).partition("@")
    return f"postgresql://onevalet:{(dev.home / 'postgres' / 'onevalet.password').read_text()}@{place}"


@dataclass(frozen=True, slots=True)
class Beside:
    """Runs commands beside `dev`, and gives what each wrote."""

    dev: RunningDev
    forker: Forker
    folder: Path

    async def run(self, *command: str) -> str:
        """Run a command, which ends well."""
        shown, errors = (self.folder / f"{'-'.join(command[:2])}.{kind}" for kind in ("out", "errors"))
        process = self.forker.fork(command, self.dev.environment, shown, errors)
        code = await asyncio.wait_for(process.wait(), 90)
        assert code == 0, f"{command}: {shown.read_text()} {errors.read_text()}"
        return shown.read_text()
