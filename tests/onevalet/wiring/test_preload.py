"""A worker imports the SDKs of the channels and the libraries of the abilities that are on, and no other."""

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
asyncio.run(load_worker({settings}))
print(*sys.modules)
"""

_COUNTED = """
import asyncio, gc
from onevalet.settings import Settings
from onevalet.wiring.preload import load_worker
searches = []
gc.callbacks.append(lambda phase, told: searches.append(phase) if told["generation"] == 2 else None)
asyncio.run(load_worker(Settings(_env_file=None)))
print(len(searches), gc.isenabled())
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

_ALONE = """
import gc, sys
from onevalet.settings import Settings
from onevalet.supervision.supervisor import work_alone
work_alone(lambda _: print("typeagent" in sys.modules, gc.get_freeze_count() > 0), Settings(_env_file=None))
"""

_WEB = """
import asyncio, gc
from contextlib import asynccontextmanager
from onevalet.app import run_web
from onevalet.settings import Settings
from onevalet.wiring import web

@asynccontextmanager
async def serve(settings):
    yield

async def run():
    stop = asyncio.Event()
    stop.set()
    await run_web(Settings(_env_file=None), stop)

web.open_web = serve
asyncio.run(run())
print(gc.get_freeze_count() > 0)
"""


_WORKER = """
import asyncio, gc
from contextlib import asynccontextmanager
from onevalet import app
from onevalet.settings import Settings
from onevalet.wiring import metrics, worker

@asynccontextmanager
async def measure(settings, start):
    yield

@asynccontextmanager
async def work(settings, **_):
    gc.unfreeze()
    async def until_ended():
        print(gc.get_freeze_count() > 0)
    yield until_ended

metrics.open_worker_metrics, worker.open_worker = measure, work
asyncio.run(app.run_worker(Settings(_env_file=None), asyncio.Event()))
"""

_COMMAND = """
import gc
from onevalet import app
from onevalet.cli import main
from onevalet.supervision import garbage, supervisor
from onevalet.wiring import connections
searches = []
gc.callbacks.append(lambda phase, told: searches.append(phase) if told["generation"] == 2 else None)
def serve(*_):
    during = gc.isenabled()
    garbage.keep_loaded()
    print(during, gc.isenabled(), gc.get_freeze_count() > 10_000, len(searches))
main.serve = supervisor.work_alone = serve
main.read_settings, connections.check_worker = (lambda: None), (lambda _: None)
main.{command}
"""


def _loaded(settings: str) -> set[str]:
    """Return the modules that a worker with these settings has loaded before it serves."""
    return set(_run(_LOAD.format(settings=settings)).split())


def _run(code: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(("token", "loaded"), [("", set()), ("1:a", {"telegram"})], ids=["no channel", "Telegram"])
def test_a_worker_loads_the_sdks_of_its_channels_and_not_all_of_litellm(token: str, loaded: set[str]) -> None:
    modules = _loaded(f"Settings(_env_file=None, telegram_bot_token={token!r})")
    assert modules & SDKS == loaded
    assert "litellm.utils" in modules
    assert not modules & {"litellm.main", "litellm.router"}


@pytest.mark.parametrize(
    ("settings", "loaded"),
    [("Settings(_env_file=None)", True), ('Settings(_env_file=None, onevalet_memory="off")', False), ("", False)],
    ids=["as shipped", "memory off", "dev"],
)
def test_a_worker_loads_memorys_library_before_it_serves(settings: str, loaded: bool) -> None:
    assert ("typeagent" in _loaded(settings)) is loaded


def test_the_demo_model_is_asked_without_litellm() -> None:
    answer, _, modules = _run(_ASK).partition("\n")
    assert "(demo model)" in answer
    assert not {"litellm", "openai"} & set(modules.split())


def test_a_worker_without_a_supervisor_loads_as_much_before_it_serves() -> None:
    assert _run(_ALONE).split() == ["True", "True"]


def test_web_leaves_what_it_has_loaded_out_of_garbage_collection() -> None:
    assert _run(_WEB).split() == ["True"]


def test_a_worker_leaves_what_it_has_opened_out_of_garbage_collection() -> None:
    assert _run(_WORKER).split() == ["True"]


def test_the_garbage_collector_rests_while_a_worker_loads() -> None:
    assert _run(_COUNTED).split() == ["0", "True"]


@pytest.mark.parametrize("command", ["web()", "worker(spare=False, check=False)"])
def test_no_garbage_is_collected_until_a_serving_process_is_open(command: str) -> None:
    assert _run(_COMMAND.format(command=command)).split() == ["False", "True", "True", "0"]
