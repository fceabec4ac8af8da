"""`keys rotate`: under load, killed anywhere, and then the old keys may go."""

import asyncio
import base64
import itertools
import os
import signal
import sys
from pathlib import Path

import asyncpg
import pytest

from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialError
from core.db.database import Database
from operations.keys.rotation import Rotated, rotate_keys
from tests.core.credentials.harness import add_people, new_key, store_with
from tests.eventually import eventually

type Admin = asyncpg.Connection[asyncpg.Record]
ROOT = Path(__file__).parents[3]


async def people_with_credentials(admin: Admin, database: Database, key: SecretKey, count: int) -> list[str]:
    """Return ids of people who each keep something under this key."""
    tenants = [f"tn_{number:04}" for number in range(count)]
    await add_people(admin, *tenants)
    store = store_with(database, key)
    await asyncio.gather(*(store.save(tenant, "google", {"of": tenant}) for tenant in tenants))
    return tenants


async def assert_all_readable(database: Database, tenants: list[str], *keys: SecretKey) -> None:
    store = store_with(database, *keys)
    credentials = await asyncio.gather(*(store.get(tenant, "google") for tenant in tenants))
    assert credentials == [{"of": tenant} for tenant in tenants]


async def test_after_a_rotation_the_old_key_may_go(database: Database, admin: Admin, key: SecretKey) -> None:
    tenants = await people_with_credentials(admin, database, key, 250)
    sealed = await admin.fetch("select * from credentials order by tenant_id")
    new = new_key()
    assert await rotate_keys(database, SecretKeys([new, key])) == Rotated(250, 0)
    await assert_all_readable(database, tenants, new)
    with pytest.raises(CredentialError):
        await store_with(database, key).get(tenants[0], "google")
    assert await admin.fetch("select * from credentials order by tenant_id") == sealed, "only keys are wrapped again"
    assert await rotate_keys(database, SecretKeys([new, key])) == Rotated(0, 0)


async def test_a_key_under_a_secret_key_that_is_gone_is_counted_and_left_alone(
    database: Database, admin: Admin, key: SecretKey
) -> None:
    lost = new_key()
    await store_with(database, lost).save("ann", "google", {"of": "ann"})
    await store_with(database, key).save("bob", "google", {"of": "bob"})
    before = await admin.fetchrow("select * from data_keys where tenant_id = 'ann'")
    new = new_key()
    assert await rotate_keys(database, SecretKeys([new, key])) == Rotated(1, 1)
    assert await admin.fetchrow("select * from data_keys where tenant_id = 'ann'") == before
    assert await rotate_keys(database, SecretKeys([new, key, lost])) == Rotated(1, 0)
    await assert_all_readable(database, ["ann", "bob"], new)


async def test_rotations_at_once_readers_and_writers_do_not_disturb_each_other(
    database: Database, admin: Admin, key: SecretKey
) -> None:
    tenants = await people_with_credentials(admin, database, key, 60)
    first, second = new_key(), new_key()
    keys = (second, first, key)
    store = store_with(database, *keys)
    stop = asyncio.Event()
    work = 0

    async def use(mine: list[str]) -> None:
        nonlocal work
        for round_, tenant in zip(itertools.count(), itertools.cycle(mine)):
            if stop.is_set():
                return
            assert await store.get(tenant, "google") == {"of": tenant}
            await store.save(tenant, "slack", {"round": round_})
            assert await store.get(tenant, "slack") == {"round": round_}
            work += 1

    async def come_new() -> None:
        for number in itertools.count():
            if stop.is_set():
                return
            await add_people(admin, f"new_{number}")
            await store.save(f"new_{number}", "google", {"of": f"new_{number}"})

    async with asyncio.TaskGroup() as group:
        for start in range(3):
            group.create_task(use(tenants[start::3]))
        group.create_task(come_new())
        await asyncio.gather(*(rotate_keys(database, SecretKeys([first, second, key])) for _ in range(2)))
        await asyncio.gather(*(rotate_keys(database, SecretKeys(keys)) for _ in range(3)))
        stop.set()
    assert work > 0
    await assert_all_readable(database, tenants, second)
    assert await admin.fetchval("select count(*) from data_keys where secret_key_id <> $1", second.id) == 0


@pytest.mark.slow
async def test_a_kill_during_keys_rotate_leaves_every_credential_readable(
    database_url: str, database: Database, admin: Admin, key: SecretKey, tmp_path: Path
) -> None:
    tenants = await people_with_credentials(admin, database, key, 800)
    new, used = new_key(), {key.id}
    for share in (0.05, 0.5):
        process = await start_rotation(database_url, tmp_path, new, key)
        await until_rewrapped(admin, new, int(len(tenants) * share), process)
        os.kill(process.pid, signal.SIGKILL)
        assert await process.wait() == -signal.SIGKILL
        await assert_all_readable(database, tenants, new, key)
        used |= {row[0] for row in await admin.fetch("select distinct secret_key_id from data_keys")}
        assert used == {key.id, new.id}, "it was killed in between"
        assert await admin.fetchval("select count(*) from data_keys where secret_key_id = $1", key.id) > 0
    process = await start_rotation(database_url, tmp_path, new, key)
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert b"may be removed" in out
    await assert_all_readable(database, tenants, new)


async def start_rotation(database_url: str, folder: Path, *keys: SecretKey) -> asyncio.subprocess.Process:
    """Start the command as an operator does, in a process of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "onevalet", "keys", "rotate",
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "DATABASE_URL": database_url,
            "ONEVALET_HOME": str(folder),
            "ONEVALET_SECRET_KEYS": ",".join(base64.b64encode(key.value).decode() for key in keys),
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip


async def until_rewrapped(admin: Admin, key: SecretKey, count: int, process: asyncio.subprocess.Process) -> None:
    """Wait until more than so many data keys lie under the key."""

    async def look() -> bool:
        done = await admin.fetchval("select count(*) from data_keys where secret_key_id = $1", key.id)
        return bool(done > count) or process.returncode is not None

    await eventually(look, "the keys under the new one")
    assert process.returncode is None, "it ended before it could be killed"
