"""`dev` and `chat` as a newcomer runs them: from nothing, in processes of their own."""

import asyncio
import re
import signal
import sys
from pathlib import Path

import aiohttp
import psutil
import pytest

from tests.forker import ROOT, Forker
from tests.ports import free_port
from tests.running_dev import RunningDev, dev_environment, running_dev

pytestmark = [pytest.mark.xdist_group("dev"), pytest.mark.slow]


async def _start(*command: str, environment: dict[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "onevalet",
        *command,
        cwd=ROOT,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_dev_runs_from_nothing(dev: RunningDev) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{dev.url}/readyz") as answer:
            assert answer.status == 200
        async with session.get(f"{dev.url}/", allow_redirects=False) as answer:
            assert answer.headers["Location"].startswith(dev.simulator_url)
    assert len(psutil.Process(dev.pid).children(recursive=True)) >= 2
    steps = dev.shown.splitlines()[:3]  # the start takes a while: each part is said as it begins
    assert [step.split()[0] for step in steps] == ["Loading", "Starting", "Starting"], dev.shown
    assert steps[1].endswith("preparing the database.")


async def test_a_second_dev_and_a_taken_port_are_one_sentence_each(dev: RunningDev, tmp_path: Path) -> None:
    for home, sentence in ((dev.home, "already running"), (tmp_path / "two", "cannot be listened on")):
        other = await _start("dev", environment=dev_environment(home, dev.port))
        _, errors = await asyncio.wait_for(other.communicate(), 60)
        assert other.returncode == 2, errors
        assert sentence in errors.decode()
        assert errors.decode().strip().count("\n") == 0, errors


async def test_chat_answers_in_the_terminal_next_to_a_running_dev(dev: RunningDev) -> None:
    await _chat(dev.environment)


async def test_chat_answers_alone_and_dev_reuses_its_folder_and_ends_cleanly(tmp_path: Path, forker: Forker) -> None:
    home = tmp_path / "home"
    await _chat(dev_environment(home, free_port(1)))
    # What is checked at the end of the block, and at that of the shared `dev` for SIGTERM.
    with running_dev(forker, home, signal.SIGINT):
        pass


async def _chat(environment: dict[str, str]) -> None:
    chat = await _start("chat", environment=environment)
    shown, errors = await asyncio.wait_for(chat.communicate(b"What can you do?\n"), 90)
    assert chat.returncode == 0, errors.decode()
    assert b"valet> " in shown
    assert b"demo" in shown.lower(), shown
    assert b"**" not in shown
    told = [line for line in errors.decode().splitlines() if not line.startswith("Made a secret key")]
    assert told == [], "log lines stay out of the talk"
    assert "message_received" in _log_of(environment)


def _log_of(environment: dict[str, str]) -> str:
    return Path(environment["ONEVALET_HOME"], "chat.log").read_text()


async def test_chat_ends_after_the_answer_that_follows_an_approval(dev: RunningDev) -> None:
    chat = await _start("chat", environment=dev.environment)
    assert chat.stdin is not None
    assert chat.stdout is not None
    chat.stdin.write(b"email sam@example.com that I am late\n")
    shown = ""
    async with asyncio.timeout(60):
        while not (code := re.search(r"OK ([0-9A-Z]{2,3})\b", shown)):
            shown += (await chat.stdout.readline()).decode()
    rest, errors = await asyncio.wait_for(chat.communicate(f"OK {code[1]}\n".encode()), 90)
    assert chat.returncode == 0, errors.decode()
    assert "Sent to sam@example.com" in rest.decode()
    assert "**" not in shown + rest.decode()
