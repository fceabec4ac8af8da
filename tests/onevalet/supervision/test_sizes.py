"""A worker that is started as an operator starts it has the size that docs/deploy.md tells."""

import asyncio
import signal
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.core.harness import Store, opened
from tests.eventually import eventually
from tests.onevalet.supervision.test_supervisor import worker_environment
from tests.patience import PATIENCE
from tests.scripted_model import ModelCall, Reply, ScriptedModel, text
from tests.shipping.harness import ROOT
from tests.shipping.sizes import is_about, resident, stated
from workbench.simulator.config import SlackConfig, TelegramConfig, TwilioConfig

NOWHERE = "http://127.0.0.1:1"
CHANNELS = {
    "PUBLIC_URL": "https://valet.example",
    "TWILIO_ACCOUNT_SID": TwilioConfig().account_sid,
    "TWILIO_AUTH_TOKEN": TwilioConfig().auth_token,
    "TWILIO_FROM": TwilioConfig().number,
    "TWILIO_API_URL": NOWHERE,
    "SLACK_BOT_TOKEN": SlackConfig().bot_token,
    "SLACK_SIGNING_SECRET": SlackConfig().signing_secret,
    "SLACK_API_URL": f"{NOWHERE}/api/",
    "TELEGRAM_BOT_TOKEN": TelegramConfig().bot_token,
    "TELEGRAM_WEBHOOK_SECRET": "secret-of-the-webhook",
    "TELEGRAM_API_URL": NOWHERE,
}
REMEMBERED = "select count(*) from memory_vectors"
MANY = 12


@pytest.mark.slow
@pytest.mark.parametrize("command", ["worker", "worker --no-spare"])
async def test_a_worker_has_the_size_that_the_page_tells(
    tmp_path: Path, database_url: str, redis_url: str, command: str
) -> None:
    asked: asyncio.Queue[int] = asyncio.Queue()

    def heard(call: ModelCall) -> Reply:
        asked.put_nowait(call.number)
        return text("here")

    async with ScriptedModel(heard) as model, opened(database_url) as store:
        environment = worker_environment(database_url, redis_url, model.url) | CHANNELS
        with (tmp_path / "log").open("w") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "onevalet", *command.split(), cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        await store.say("Hello there")
        await asyncio.wait_for(asked.get(), 2 * PATIENCE)
        at_start = resident(everybody(process.pid))
        for number in range(MANY):
            await store.say(f"My neighbour {number} is called Bo.")
            await asyncio.wait_for(asked.get(), 2 * PATIENCE)
        await eventually(partial(_remembers, store), "all of them with vectors", within=2 * PATIENCE)
        after = resident(everybody(process.pid))
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0, (tmp_path / "log").read_text()
    told = stated(command)
    assert (is_about(at_start, told[0]), is_about(after, told[1])) == (True, True), (at_start, after, told)


async def _remembers(store: Store) -> bool:
    return int(str(await store.one(REMEMBERED))) >= MANY


def everybody(pid: int) -> list[int]:
    """Return a process and those that it started."""
    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
