"""`dev` and `chat` as a newcomer runs them: from nothing, in processes of their own."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import psutil
import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.timeout(120), pytest.mark.xdist_group("dev")]


def _two_free_ports() -> int:
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


def _environment(home: Path, port: int) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {"ONEVALET_HOME": str(home), "PORT": str(port)}


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


@asynccontextmanager
async def _running_dev(home: Path, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await _start("dev", environment=_environment(home, port))
    assert process.stdout is not None
    assert process.stderr is not None
    draining = asyncio.create_task(process.stderr.read())
    shown = b""
    async with asyncio.timeout(60):
        while b"simulator" not in shown:
            line = await process.stdout.readline()
            assert line, f"dev ended: {shown!r} {await draining!r}"
            shown += line
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await asyncio.gather(draining, process.stdout.read())


async def test_dev_runs_from_nothing_and_ends_in_seconds_with_nothing_left(tmp_path: Path) -> None:
    for how in (signal.SIGTERM, signal.SIGINT):
        port = _two_free_ports()
        async with _running_dev(tmp_path, port) as process:
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/readyz") as answer:
                    assert answer.status == 200
                async with session.get(f"http://127.0.0.1:{port}/", allow_redirects=False) as answer:
                    assert answer.headers["Location"].startswith(f"http://127.0.0.1:{port + 1}")
            children = psutil.Process(process.pid).children(recursive=True)
            assert len(children) >= 2
            process.send_signal(how)
            assert await asyncio.wait_for(process.wait(), 15) == 0
            gone, alive = psutil.wait_procs(children, timeout=5)
            assert not alive, alive
            assert gone


async def test_a_second_dev_and_a_taken_port_are_one_sentence_each(tmp_path: Path) -> None:
    port = _two_free_ports()
    async with _running_dev(tmp_path / "one", port):
        for home, sentence in (("one", "already running"), ("two", "cannot be listened on")):
            other = await _start("dev", environment=_environment(tmp_path / home, port))
            _, errors = await asyncio.wait_for(other.communicate(), 60)
            assert other.returncode == 2, errors
            assert sentence in errors.decode()
            assert errors.decode().strip().count("\n") == 0, errors


@pytest.mark.parametrize("beside", [True, False], ids=["beside a running dev", "alone"])
async def test_chat_answers_in_the_terminal_through_inbox_turn_and_outbox(tmp_path: Path, beside: bool) -> None:
    port = _two_free_ports()
    environment = _environment(tmp_path, port)
    if beside:
        async with _running_dev(tmp_path, port):
            await _chat(environment)
    else:
        await _chat(environment)


async def _chat(environment: dict[str, str]) -> None:
    chat = await _start("chat", environment=environment)
    shown, errors = await asyncio.wait_for(chat.communicate(b"What can you do?\n"), 90)
    assert chat.returncode == 0, errors.decode()
    assert b"valet> " in shown
    assert b"demo" in shown.lower(), shown
