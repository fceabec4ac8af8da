"""`pair` beside a running `dev`: its own people are in, the second person of the simulator is a stranger."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.eventually import eventually
from tests.running_dev import RunningDev, dev_environment
from tests.workbench.dev.test_run import _start

pytestmark = [pytest.mark.xdist_group("dev"), pytest.mark.slow]

_CODE = re.compile(r"\b[2-9A-Z]{4}-[2-9A-Z]{4}\b")


async def test_a_stranger_of_dev_is_told_a_code_and_pair_lets_them_in(dev: RunningDev) -> None:
    async with aiohttp.ClientSession(dev.simulator_url) as simulator:
        await _say(simulator, "ada", "What is 2 + 3?")
        await _heard(simulator, "ada", lambda text: "5" in text)
        await _say(simulator, "grace", "What is 2 + 3?")
        reply = await _heard(simulator, "grace", lambda text: _CODE.search(text) is not None)
        [code] = _CODE.findall(reply)
        assert await _pair(dev.environment, "AAAA-AAAA") == (1, "Nobody was given this code")
        assert await _pair(dev.environment, code, "--role", "guest") == (0, "sms +14155550102 is in, as guest")
        assert await _pair(dev.environment, code) == (1, "This code was used already")
        by_address = ("--address", "sms:+14155550102", "--role", "member")
        assert await _pair(dev.environment, *by_address) == (0, "sms +14155550102 is in, as member")
        assert (await _pair(dev.environment))[0] == (await _pair(dev.environment, code, *by_address))[0] == 2
        assert (await _pair(dev.environment, "--address", "telegram:@ada"))[0] == 2
        await _say(simulator, "grace", "What is 4 + 5?")
        await _heard(simulator, "grace", lambda text: text != reply and "9" in text)


async def test_pair_where_nothing_runs_says_so(tmp_path: Path) -> None:
    assert await _pair(dev_environment(tmp_path, 1), "AAAA-AAAA") == (
        2,
        "OneValet is not running here: start `bin/dev`, or set DATABASE_URL and REDIS_URL",
    )
    assert (await _pair(dev_environment(tmp_path, 1), "AAAA-AAAA", "--tier", "gold"))[1].startswith(
        "There is no tier 'gold'"
    )


async def _say(simulator: aiohttp.ClientSession, person: str, text: str) -> None:
    async with simulator.post("/sim/twilio/say", json={"person": person, "text": text}) as answer:
        assert answer.status == 200, await answer.text()


async def _heard(simulator: aiohttp.ClientSession, person: str, wanted: Callable[[str], bool]) -> str:
    async def texts() -> list[str]:
        async with simulator.get("/sim/state") as answer:
            state: Any = await answer.json()
        bubbles = state["twilio"]["people"][person]["bubbles"]
        return [bubble["text"] for bubble in bubbles if bubble["direction"] == "out" and wanted(bubble["text"])]

    return (await eventually(texts, f"a text to {person}"))[-1]


async def _pair(environment: dict[str, str], *arguments: str) -> tuple[int, str]:
    """Run the command; give its exit code and the sentence that it printed, up to the first stop or colon after it."""
    process = await _start("pair", *arguments, environment=environment)
    out, err = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode is not None
    sentence = (out or err).decode().strip().splitlines()[-1]
    return process.returncode, re.split(r"\.(?: |$)|: they", sentence)[0]
