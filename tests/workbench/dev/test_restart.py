"""`dev` once more on the same folder: its people go on talking, though the simulator begins anew."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.eventually import eventually
from tests.forker import Forker
from tests.running_dev import RunningDev, running_dev
from tests.workbench.dev.test_run import _start

pytestmark = [pytest.mark.xdist_group("own dev"), pytest.mark.slow]

ANSWERS = {"telegram": "telegram.sendMessage", "twilio": "twilio.messages.create", "slack": "slack.chat.postMessage"}


async def _each_provider_answers(dev: RunningDev) -> None:
    """Let the simulator's first person write by each provider, and wait for the answers."""
    async with aiohttp.ClientSession() as session:

        async def calls() -> list[dict[str, Any]]:
            async with session.get(f"{dev.simulator_url}/sim/journal") as answer:
                listed: list[dict[str, Any]] = await answer.json()
                return listed

        before = len(await calls())
        for provider in ANSWERS:
            message = {"person": "ada", "text": f"What can you do by {provider}?"}
            async with session.post(f"{dev.simulator_url}/sim/{provider}/say", json=message) as answer:
                assert answer.status == 200, await answer.text()

        async def all_answered() -> bool:
            missing = set(ANSWERS.values()) - {call["endpoint"] for call in (await calls())[before:]}
            assert not missing
            return True

        await eventually(all_answered, "an answer by each provider")


async def test_every_provider_answers_after_a_reset_and_after_a_restart(tmp_path: Path, forker: Forker) -> None:
    home = tmp_path / "home"
    with running_dev(forker, home, signal.SIGTERM) as dev:
        await _each_provider_answers(dev)
        async with aiohttp.ClientSession() as session, session.post(f"{dev.simulator_url}/sim/reset", json={}) as reset:
            assert reset.status == 200
        await _each_provider_answers(dev)
    with running_dev(forker, home, signal.SIGTERM) as dev:
        await _each_provider_answers(dev)


async def test_dev_without_its_secret_key_says_what_is_lost_and_makes_no_other(tmp_path: Path, forker: Forker) -> None:
    home = tmp_path / "home"
    with running_dev(forker, home, signal.SIGTERM) as dev:
        environment = dev.environment
    key = home / "secret.key"
    kept = key.read_text()
    key.unlink()
    process = await _start("dev", environment=environment)
    _, errors = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 2, errors.decode()
    sentence = errors.decode().splitlines()[-1]
    assert sentence.startswith(f"The secret key in {key} is missing"), errors.decode()
    assert "email simulator of tn_" in sentence
    assert "secret_key_is_missing" not in errors.decode()
    assert "bin/onevalet keys discard --yes" in sentence
    assert not key.exists()
    process = await _start("keys", "discard", environment=environment)
    listed, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, errors.decode()
    assert "lost  email simulator of tn_" in listed.decode()
    assert listed.decode().splitlines()[-1].endswith("Nothing was changed: --yes discards them.")
    key.write_text(kept)
    with running_dev(forker, home, signal.SIGTERM):
        pass
