"""What a whole web process tells of itself: `/metrics` where the settings say, and stalls at `/readyz`."""

import base64

import aiohttp
from pydantic import SecretStr

from onevalet.settings import Settings
from onevalet.wiring.web import open_web
from tests.core.harness import Store
from tests.ports import free_port

TOKEN = "a-token-of-the-scraper"


def _settings(database_url: str, redis_url: str, *, port: int | None, token: str) -> Settings:
    return Settings(
        _env_file=None,
        database_url=SecretStr(database_url),
        redis_url=SecretStr(redis_url),
        host="127.0.0.1",
        port=0,
        onevalet_secret_keys=(SecretStr(base64.b64encode(bytes(32)).decode()),),
        onevalet_metrics_port=port,
        onevalet_metrics_token=SecretStr(token) if token else None,
    )


async def _scrape(port: int, token: str = "") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/metrics", headers=headers) as answer,
    ):
        return answer.status, await answer.text()


async def test_web_serves_its_metrics_where_the_settings_say(database_url: str, redis_url: str) -> None:
    own = free_port()
    async with open_web(_settings(database_url, redis_url, port=own, token=TOKEN)) as (public, _):
        assert (await _scrape(public))[0] == (await _scrape(own))[0] == 401
        for port in (public, own):
            status, text = await _scrape(port, TOKEN)
            assert (status, "\nonevalet_database_up 1.0\n" in text) == (200, True)
    async with open_web(_settings(database_url, redis_url, port=own, token="")) as (public, _):
        assert (await _scrape(own))[0] == 200
        assert (await _scrape(public))[0] == 404, "without a token, nothing is told at the public port"


async def test_web_is_ready_and_says_what_stalls(store: Store, redis_url: str) -> None:
    await store.enqueue("hello")
    await store.admin.execute("update outbound set created_at = clock_timestamp() - interval '10 minutes'")
    async with (
        open_web(_settings(store.url, redis_url, port=None, token="")) as (port, _),
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/readyz") as answer,
    ):
        assert answer.status == 200, "without a worker, messages are kept all the same"
        nobody, head = (await answer.json())["degraded"]
    assert nobody == "no worker was seen in the last minute"
    assert head.startswith("the oldest message to be sent is 60")
