"""A worker imports the SDKs of the channels that are on, and no other."""

import subprocess
import sys

import pytest

from tests.shipping.harness import ROOT

pytestmark = pytest.mark.slow

SDKS = {"twilio", "slack_sdk", "telegram"}
_LOAD = """
import asyncio, sys
from onevalet.settings import Settings
from onevalet.wiring.preload import load_worker
asyncio.run(load_worker(Settings(_env_file=None, telegram_bot_token={token!r})))
print(*sys.modules)
"""

_ASK = """
import asyncio, sys
from core.llm.types import ChatMessage, ModelRequest, Role
from onevalet.settings import Settings
from onevalet.wiring.models import build_client, check_models
from onevalet.wiring.preload import load_worker

async def ask():
    settings = Settings(_env_file=None)
    await load_worker(litellm=False)
    client = build_client(settings)
    check_models(settings, client)
    await client.warm_up()
    return await client.answer(ModelRequest((ChatMessage(Role.USER, "Hello"),), timeout=5))

print(" ".join(asyncio.run(ask()).text.split()))
print(*sys.modules)
"""


@pytest.mark.parametrize(("token", "loaded"), [("", set()), ("1:a", {"telegram"})], ids=["no channel", "Telegram"])
def test_a_worker_loads_the_sdks_of_its_channels_and_not_all_of_litellm(token: str, loaded: set[str]) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _LOAD.format(token=token)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    modules = set(done.stdout.split())
    assert modules & SDKS == loaded
    assert "litellm.utils" in modules
    assert not modules & {"litellm.main", "litellm.router", "typeagent"}


def test_the_demo_model_is_asked_without_litellm() -> None:
    command = [sys.executable, "-W", "ignore", "-c", _ASK]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    answer, _, modules = done.stdout.partition("\n")
    assert "(demo model)" in answer
    assert not {"litellm", "openai"} & set(modules.split())
