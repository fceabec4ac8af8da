"""`chat` that is begun while `dev` starts waits for it, instead of being told that the folder is taken."""

import asyncio
from pathlib import Path

import pytest

from onevalet.cli.chat import wait_for_start
from onevalet.servers.home import Running, hold_home
from tests.eventually import eventually

RUNNING = Running(1, "http://127.0.0.1:8080", "http://127.0.0.1:8081", "postgresql://a", "redis://b")


async def test_chat_waits_for_a_dev_that_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with hold_home(tmp_path) as home:
        waiting = asyncio.create_task(wait_for_start(tmp_path))
        await eventually(lambda: "OneValet is starting: one moment." in capsys.readouterr().err, "what chat says")
        assert not waiting.done()
        home.remember(RUNNING)
        assert await waiting == RUNNING


async def test_chat_starts_its_own_where_a_starting_dev_ends(tmp_path: Path) -> None:
    with hold_home(tmp_path):
        waiting = asyncio.create_task(wait_for_start(tmp_path))
        await asyncio.sleep(0)
    assert await waiting is None
    assert await wait_for_start(tmp_path) is None
