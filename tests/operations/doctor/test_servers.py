"""`doctor` about the machines below us: Postgres, Redis, disks, and the public address."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.db.redis_client import redis_client
from onevalet.settings import Settings
from operations.doctor import disk, postgres
from operations.doctor.address import check_address
from operations.doctor.channels import check_channels
from operations.doctor.disk import check_disk
from operations.doctor.postgres import check_server
from operations.doctor.redis import check_redis
from operations.doctor.types import Installation
from tests.core.harness import Store


def settings(**values: object) -> Settings:
    """Return settings without any file."""
    return Settings(_env_file=None, **values)  # type: ignore[arg-type]


@asynccontextmanager
async def served(answer: Callable[[web.Request], web.Response]) -> AsyncIterator[str]:
    """Serve one answer at every address."""

    async def handle(request: web.Request) -> web.Response:
        return answer(request)

    app = web.Application()
    app.router.add_route("*", "/{anything:.*}", handle)
    async with TestServer(app, host="127.0.0.1") as server:
        yield str(server.make_url("")).rstrip("/")


async def test_postgres_is_told_by_version_extension_role_and_clock(store: Store) -> None:
    found = {check.what: check for check in await check_server(store.database)}
    assert list(found) == ["Postgres", "pgvector", "database role", "Postgres' clock"]
    assert all(check.ok and not check.fix for check in found.values())
    assert found["Postgres"].detail.startswith("18.")
    assert found["database role"].detail == "onevalet_app, held to row-level security"


async def test_what_is_wrong_with_postgres_has_a_fix_each(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "OLDEST", 99)
    monkeypatch.setattr(postgres, "ROLE", "somebody_else")
    monkeypatch.setattr(postgres, "time", SimpleNamespace(time=lambda: time.time() - 3600))
    found = {check.what: check for check in await check_server(store.database)}
    assert not found["Postgres"].ok
    assert found["Postgres"].fix == "move to Postgres 99 or newer (docs/deploy.md)"
    assert (found["database role"].ok, found["database role"].fix) == (False, "run `bin/onevalet migrate`")
    assert not found["Postgres' clock"].ok
    assert found["Postgres' clock"].detail.startswith("3,600 s apart")


async def test_redis_is_advised_about_what_it_would_lose(store: Store, redis_url: str) -> None:
    installation = Installation(settings(), store.database, redis_url)
    [check] = await check_redis(installation)
    assert (check.ok, check.detail) == (True, "answers")
    async with redis_client(redis_url) as redis:
        kept = await redis.config_get("appendonly")
        assert bool(check.fix) == (kept["appendonly"] == "no")
    [away] = await check_redis(Installation(settings(), store.database, "redis://127.0.0.1:1/0"))
    assert (away.ok, away.fix) == (False, "start it, or correct REDIS_URL")


async def test_a_disk_that_fills_is_advice_and_a_full_one_red(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = settings(onevalet_home=tmp_path / "not" / "there")
    for free, ok, advised in ((disk.LITTLE, True, False), (disk.LITTLE - 1, True, True), (disk.LEAST - 1, False, True)):
        monkeypatch.setattr(disk, "_free", lambda _, free=free: free)
        [check] = await check_disk(here)
        assert (check.ok, bool(check.fix)) == (ok, advised)
        assert check.detail.endswith(f"free at {tmp_path}")


async def test_the_public_address_leads_to_web_or_says_where_else() -> None:
    async with served(lambda _: web.json_response({"alive": True, "degraded": []})) as url:
        [good] = await check_address(settings(public_url=url))
    assert (good.ok, good.detail) == (True, f"{url} leads to `web`")
    [gone] = await check_address(settings(public_url=url))
    assert not gone.ok
    assert "Nothing listens at 127.0.0.1" in gone.detail
    async with served(lambda _: web.Response(status=502)) as url:
        [proxy] = await check_address(settings(public_url=url))
    assert "A proxy answers at 127.0.0.1 (HTTP 502), but does not reach this machine" in proxy.detail
    async with served(lambda _: web.Response(text="a shop")) as url:
        [other] = await check_address(settings(public_url=url))
    assert "Something else answers at 127.0.0.1 (HTTP 200)" in other.detail
    [plain] = await check_address(settings(public_url="http://valet.example.com"))
    assert (plain.ok, plain.detail) == (False, "http://valet.example.com is not https")
    assert await check_address(settings()) == []


async def test_an_installation_without_a_channel_is_not_well() -> None:
    (check,) = await check_channels(Installation(settings()))
    assert not check.ok
    assert check.detail == "none is on: nobody can write to the assistant"
