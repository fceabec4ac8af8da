"""A person lets a program in by a chat in `dev`, and the program asks: over its pipes and over HTTP."""

import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from onevalet.cli.program_serving import VARIABLE
from tests.eventually import eventually
from tests.forker import ROOT
from tests.operations.console.browser import open_browser
from tests.running_dev import RunningDev

pytestmark = [pytest.mark.xdist_group("dev"), pytest.mark.slow]


async def test_a_token_of_the_chat_lets_a_program_ask_as_the_page_says(dev: RunningDev) -> None:
    link = await _writes(dev, "MCP token laptop", r"http://[^\s\"<>\\]+/console/[^\s\"<>\\]+")
    async with open_browser(dev.url) as browser:
        assert await browser.sign_in(unescape(link)) == 303
        await browser.get(browser.location)
        assert 'value="laptop"' in browser.page
        [make] = re.findall(r'action="([^"]+/programs)"', browser.page)
        assert await browser.post(make, {"name": "laptop", **browser.form}) == 200
        [token] = set(re.findall(r"ovt_[\w-]{43}", browser.page))
    async with _over_pipes(dev, token) as client:
        first = await _asks(client, "hello", "pipes")
        assert "demo" in await _asks(client, "What can you do?", "both")
    async with _over_http(dev, token) as client:
        assert await _asks(client, "hello", "pipes") == first, "one request_id is one request, whatever way it comes"
        assert "demo" in await _asks(client, "What can you do?", "http")
        await _writes(dev, "MCP revoke 1", "Revoked: laptop can no longer ask me anything")
    async with aiohttp.ClientSession() as session:
        refused = await session.post(f"{dev.url}/mcp", headers={"Authorization": f"Bearer {token}"})
        assert refused.status == 401


async def _writes(dev: RunningDev, text: str, answer: str) -> str:
    """Write in Telegram as dev's person; return what the answer has of a pattern."""
    async with aiohttp.ClientSession(dev.simulator_url) as session:
        said = await session.post("/sim/telegram/say", json={"person": "ada", "text": text})
        assert said.status == 200, await said.text()

        async def found() -> str:
            journal = await (await session.get("/sim/journal?provider=telegram&last=0")).json()
            texts = [json.dumps(call["request"]) for call in journal if call["endpoint"] == "telegram.sendMessage"]
            match = re.search(answer, "\n".join(texts))
            return match[0] if match else ""

        return await eventually(found, answer)


async def _asks(client: Client, message: str, request_id: str) -> str:
    told: Any = await client.call_tool("ask", {"message": message, "request_id": request_id})
    assert (told.is_error, told.structured_content["status"]) == (False, "answered"), told
    return str(told.structured_content["answer"])


@asynccontextmanager
async def _over_pipes(dev: RunningDev, token: str) -> AsyncIterator[Client]:
    """Start it as a desktop client does, with the words and the variable that the page names."""
    [written] = re.findall(r'^\{"mcpServers".*\}$', (ROOT / "docs" / "mcp.md").read_text(), re.MULTILINE)
    configured = json.loads(written)["mcpServers"]["onevalet"]
    assert (Path(configured["command"]).parts[-2:], [*configured["env"]]) == (("bin", "onevalet"), [VARIABLE])
    # As bin/onevalet runs it, which would take the packages of tests away.
    words = ["-m", "onevalet", *configured["args"]]
    environment = {**dev.environment, VARIABLE: token}
    started = StdioServerParameters(command=sys.executable, args=words, env=environment, cwd=str(ROOT))
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230 - it never blocks
        async with Client(stdio_client(started, errlog=nowhere), read_timeout_seconds=60) as client:
            yield client


@asynccontextmanager
async def _over_http(dev: RunningDev, token: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(f"{dev.url}/mcp", http_client=http)) as client,
    ):
        yield client
