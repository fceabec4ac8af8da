"""`dev` while it starts: whoever is told that it is ready is served."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.eventually import eventually
from tests.forker import ROOT
from tests.ports import free_port
from tests.running_dev import RunningDev, dev_environment

pytestmark = [pytest.mark.xdist_group("dev"), pytest.mark.slow]


@asynccontextmanager
async def starting_dev(home: Path) -> AsyncIterator[RunningDev]:
    """Start `dev` from nothing, and do not wait for anything."""
    port = free_port(1)
    with (home.parent / "log").open("ab") as log:
        process = subprocess.Popen(  # noqa: ASYNC220 - its own loop is what is tested
            [sys.executable, "-m", "onevalet", "dev"],
            cwd=ROOT,
            env=dev_environment(home, port),
            stdout=log,
            stderr=log,
        )
    try:
        yield RunningDev(process.pid, home, port)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, 30) == 0
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)


async def first_answer(session: aiohttp.ClientSession, url: str) -> Any:
    """Ask until somebody answers, and return what that first answer says."""

    async def asked() -> list[tuple[int, Any]]:
        with suppress(aiohttp.ClientConnectorError):
            async with session.get(url) as answer:
                return [(answer.status, await answer.json(content_type=None))]
        return []

    [(status, said)] = await eventually(asked, "somebody who answers", within=90)
    assert status == 200, said
    return said


async def test_who_writes_the_moment_that_dev_answers_gets_no_503_and_an_answer(tmp_path: Path) -> None:
    async with (
        starting_dev(tmp_path / "home") as dev,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=90)) as session,
    ):

        async def write(first_seen: str, provider: str, text: str) -> Any:
            await first_answer(session, first_seen)
            people = await first_answer(session, f"{dev.simulator_url}/sim/people")
            message = {"person": people[0]["key"], "text": text, "wait": True}
            async with session.post(f"{dev.simulator_url}/sim/{provider}/say", json=message) as answer:
                assert answer.status == 200, await answer.text()
                return await answer.json()

        by_sms, _ = await asyncio.gather(
            write(f"{dev.simulator_url}/sim/people", "twilio", "What can you do?"),
            write(f"{dev.url}/readyz", "telegram", "What can you do?"),
        )
        assert (by_sms["webhook"], by_sms["attempts"]) == ("200", 1)
        journal = f"{dev.simulator_url}/sim/journal"
        answers = {"twilio": "twilio.messages.create", "telegram": "telegram.sendMessage"}

        async def all_answered() -> list[Any]:
            calls: list[Any] = await first_answer(session, journal)
            assert {*answers.values()} <= {call["endpoint"] for call in calls}
            return calls

        calls = await eventually(all_answered, "both answers")
        assert [(call["endpoint"], call["status"]) for call in calls if call["status"] >= 400] == []
        assert "loop_blocked" not in (tmp_path / "log").read_text()
