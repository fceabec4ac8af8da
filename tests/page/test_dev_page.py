"""The first minute of a newcomer: `dev` from nothing, the page, and the demo model's answer in each pane."""

import asyncio
import os
import random
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.page.chromium import Page
from tests.page.talk import talk_in_every_pane

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.timeout(180), pytest.mark.xdist_group("page")]


async def test_dev_shows_three_panes_in_which_the_demo_model_answers(page: Page, tmp_path: Path) -> None:
    async with _running_dev(tmp_path) as url:
        # The gateway's front page leads to the simulator's.
        async with aiohttp.ClientSession() as http, http.get(url) as answer:
            assert answer.status == 200
            page_url = str(answer.url)
        try:
            await talk_in_every_pane(page, page_url, "What can you do?", "demo", seconds=60)
        finally:
            await page.leave()


@asynccontextmanager
async def _running_dev(home: Path) -> AsyncIterator[str]:
    port = _two_free_ports()
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with (home / "dev.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "onevalet", "dev"),
            cwd=ROOT,
            env=kept | {"ONEVALET_HOME": str(home / "home"), "PORT": str(port)},
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        await _until_ready(url, process, home / "dev.log")
        yield url
    finally:
        if process.returncode is None:
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 30)
        except TimeoutError:
            process.kill()
            await process.wait()


async def _until_ready(url: str, process: asyncio.subprocess.Process, log: Path) -> None:
    async with asyncio.timeout(90), aiohttp.ClientSession() as http:
        while True:
            if process.returncode is not None:
                raise AssertionError(f"dev ended: {await asyncio.to_thread(log.read_text)}")
            try:
                async with http.get(f"{url}/readyz") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.2)


def _two_free_ports() -> int:
    # Below the range from which the system takes ports for clients, so that none is taken meanwhile.
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
