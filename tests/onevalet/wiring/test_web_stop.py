"""A web process stops in order: first nothing comes in any more, then the channels end what they do for it."""

import asyncio
import base64
import json
from contextlib import AsyncExitStack
from functools import partial

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr

from channels.slack.receive import SlackChannel
from onevalet.settings import Settings
from onevalet.wiring.web import open_web
from tests.channels.slack.builders import BOT_TOKEN, PATH, SECRET, TEAM, envelope, message, proof
from tests.core.harness import Store
from tests.eventually import eventually

_WAITS = """
select count(*) from pg_locks l join pg_database d on d.oid = l.database
where d.datname = current_database() and not granted and relation = 'inbound'::regclass
"""
KEY = base64.b64encode(bytes(32)).decode()


async def test_a_webhook_that_comes_at_the_stop_leaves_nothing_open(store: Store, redis_url: str) -> None:
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(TestServer(_slack()))
        settings = Settings(
            _env_file=None,
            database_url=SecretStr(store.url),
            redis_url=SecretStr(redis_url),
            host="127.0.0.1",
            port=0,
            public_url="https://valet.example",
            onevalet_access="open",
            onevalet_secret_keys=(SecretStr(KEY),),
            slack_bot_token=SecretStr(BOT_TOKEN),
            slack_signing_secret=SecretStr(SECRET),
            slack_api_url=str(slack.make_url("/")),
        )
        opened = AsyncExitStack()
        port, [channel] = await opened.enter_async_context(open_web(settings))
        assert isinstance(channel, SlackChannel)
        body = json.dumps(envelope(message())).encode()
        headers = {"Host": "valet.example", "Content-Type": "application/json"} | proof(body)
        http = await stack.enter_async_context(aiohttp.ClientSession(headers=headers))
        async with store.admin.transaction():
            await store.admin.execute("lock table inbound in exclusive mode")
            receiving = asyncio.create_task(_post(http, f"http://127.0.0.1:{port}{PATH}", body))
            await eventually(lambda: store.one(_WAITS), "the webhook at the lock")
            stopping = asyncio.create_task(opened.aclose())
            await eventually(partial(_refuses, port), "the end of listening")
        assert await receiving == 200
        await stopping
        await http.close()
        await eventually(lambda: asyncio.all_tasks() == {asyncio.current_task()}, "the end of what the webhook began")
        assert channel._api.client.session is None


async def _refuses(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return True
    writer.close()
    return False


async def _post(http: aiohttp.ClientSession, url: str, body: bytes) -> int:
    async with http.post(url, data=body) as answer:
        return answer.status


def _slack() -> web.Application:
    """Answer every method as Slack does."""

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"ok": True, "team_id": TEAM, "user_id": "U0BOT00001", "user": {"real_name": "Ann"}})

    app = web.Application()
    app.add_routes([web.route("*", "/{method}", answer)])
    return app
