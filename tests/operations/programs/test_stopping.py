"""A program that waits for its answer holds up no stop of a web process: it is told to look again later."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from core.clock import Clock
from core.ids import make_id
from core.json_types import JsonObject
from onevalet.settings import Settings
from onevalet.wiring.secret_keys import secret_keys
from onevalet.wiring.web import open_web
from operations.programs.tokens import ClientTokens
from tests.core.harness import Store, opened
from tests.eventually import eventually
from tests.onevalet.stops import wait_for_requests_without_end


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with opened(database_url) as store:
        await store.db.tenants.add(tenant_id="ann")
        yield store


async def test_a_waiting_program_holds_up_no_stop(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for_requests_without_end(monkeypatch)
    tokens = ClientTokens.of(store.database, make_id, secret_keys(settings))
    made = await tokens.make("ann", "laptop", Clock().now(), None)
    assert made is not None
    headers = {"Authorization": f"Bearer {made.secret}", "Accept": "application/json, text/event-stream"}
    call: JsonObject = {"name": "ask", "arguments": {"message": "When is the dentist?"}}
    async with AsyncExitStack() as stack:
        port, _ = await stack.enter_async_context(open_web(settings))
        async with aiohttp.ClientSession(headers=headers) as http:
            asked: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            asking = asyncio.create_task(_answer(http, f"http://127.0.0.1:{port}/mcp", asked))
            await eventually(lambda: store.db.inbound.count(), "what was asked")
            await stack.aclose()
            answer = await asking
    assert answer["result"]["structuredContent"]["status"] == "working"


async def _answer(http: aiohttp.ClientSession, url: str, asked: JsonObject) -> Any:
    async with http.post(url, json=asked) as answer:
        return await answer.json()
