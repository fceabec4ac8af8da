"""Each server by itself: its data, its doors, its extension."""

import stat
import subprocess
from pathlib import Path

import asyncpg
import psutil
import pytest
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError

from core.errors import ConfigError
from onevalet.servers.postgres import Postgres
from onevalet.servers.valkey import Valkey
from tests import services as servers

pytestmark = pytest.mark.slow


async def test_postgres_keeps_rows_and_its_address_over_a_restart() -> None:
    async with servers.private_postgres() as postgres:
        url = postgres.url
        connection = await asyncpg.connect(url)
        await connection.execute("CREATE TABLE kept (word text); INSERT INTO kept VALUES ('row')")
        await connection.close()

        await postgres.stop()
        await postgres.start()

        assert postgres.url == url
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("SELECT word FROM kept") == "row"
        await connection.close()


async def test_a_committed_row_outlives_a_killed_postgres() -> None:
    async with servers.private_postgres() as postgres:
        connection = await asyncpg.connect(postgres.url)
        await connection.execute("CREATE TABLE kept (word text); INSERT INTO kept VALUES ('row')")
        assert postgres.pid

        psutil.Process(postgres.pid).kill()
        await postgres.start()

        connection.terminate()
        connection = await asyncpg.connect(postgres.url)
        assert await connection.fetchval("SELECT word FROM kept") == "row"
        await connection.close()


async def test_valkey_keeps_keys_over_a_restart_and_over_a_kill() -> None:
    async with servers.private_valkey() as valkey, Redis.from_url(valkey.url) as client:
        await client.set("first", "kept")
        await valkey.stop()
        await valkey.start()
        assert await client.get("first") == b"kept"

        await client.set("second", "kept")
        assert valkey.pid
        psutil.Process(valkey.pid).kill()
        await valkey.start()
        assert await client.get("second") == b"kept"


async def test_postgres_takes_nobody_without_the_password() -> None:
    async with servers.private_postgres() as postgres:
        wrong = postgres.url.replace("onevalet:", "onevalet:x")
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(wrong)


async def test_valkey_takes_nobody_without_the_password() -> None:
    async with servers.private_valkey() as valkey:
        wrong = valkey.url.replace("//:", "//:x")
        async with Redis.from_url(wrong) as client:
            with pytest.raises(AuthenticationError):
                await client.ping()


async def test_no_password_stands_on_a_command_line_or_in_a_readable_file(home: Path) -> None:
    for server in (Postgres(home), Valkey(home)):
        await server.start()
        password = server.url.split("@")[0].rpartition(":")[2]
        assert server.pid
        assert password not in " ".join(psutil.Process(server.pid).cmdline())
        await server.stop()
        assert {stat.S_IMODE(path.stat().st_mode) for path in _files_with(home, password)} == {0o600}


async def test_the_servers_know_none_of_our_settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", "a secret of ours")
    server = Postgres(home)
    await server.start()
    assert server.pid
    assert "TWILIO_AUTH_TOKEN" not in psutil.Process(server.pid).environ()
    await server.stop()


async def test_pgvector_and_trigrams_are_there() -> None:
    async with servers.private_postgres() as postgres:
        connection = await asyncpg.connect(postgres.url)
        await connection.execute("CREATE EXTENSION vector; CREATE EXTENSION pg_trgm")
        distance = await connection.fetchval("SELECT '[1,2]'::vector <-> '[1,4]'::vector")
        assert distance == 2.0
        await connection.close()


async def test_a_failing_statement_s_values_are_not_in_the_server_s_log(home: Path) -> None:
    server = Postgres(home)
    await server.start()
    connection = await asyncpg.connect(server.url)
    await connection.execute("CREATE TABLE said (words text PRIMARY KEY)")
    await connection.execute("INSERT INTO said VALUES ('meet me at nine')")
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute("INSERT INTO said VALUES ('meet me at nine')")
    await connection.close()
    await server.stop()

    log = (home / "postgres.log").read_text()
    assert "duplicate key" in log
    assert "nine" not in log


async def test_data_of_another_major_version_is_refused_in_one_sentence(home: Path) -> None:
    server = Postgres(home)
    await server.start()
    await server.stop()
    (home / "postgres" / "PG_VERSION").write_text("12\n")

    with pytest.raises(ConfigError, match="made by Postgres 12"):
        await server.start()


async def test_a_half_made_data_folder_is_created_again(home: Path) -> None:
    (home / "postgres.new").mkdir(parents=True)
    (home / "postgres.new" / "leftover").touch()

    server = Postgres(home)
    await server.start()
    assert server.running
    await server.stop()


async def test_a_pid_file_whose_pid_is_another_program_s_by_now_is_no_hindrance(home: Path) -> None:
    server = Postgres(home)
    await server.start()
    pid_file = home / "postgres" / "postmaster.pid"
    left = pid_file.read_text().split("\n")
    await server.stop()
    owner = pid_file.parent.stat()  # another user's processes are not taken for a predecessor
    with _sleeper(owner.st_uid) as other:
        pid_file.write_text("\n".join([str(other.pid), *left[1:]]))
        try:
            await server.start()
            assert server.running
        finally:
            other.kill()
            await server.stop()


def _sleeper(uid: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "60"], user=uid, cwd="/")


def _files_with(folder: Path, word: str) -> list[Path]:
    paths = [path for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    assert paths
    return paths
