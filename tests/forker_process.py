"""The program of `tests.forker`: import everything once, then fork a process for each order.

Each line on standard input is an order as JSON and is answered with one line:
{"words": ["worker"], "environment": {…}, "files": [in, out, errors], "module": "onevalet.cli.main", "host": ""} ->
{"pid": 1}, and {"ended": pid} -> {"code": 0}, the negative signal, or null. It ends with its input, and its children
with it.
"""

import asyncio
import ctypes
import importlib
import json
import os
import pkgutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from abilities.memory.index.embedder import load_encoder
from core.errors import ModelError
from core.llm.types import ChatMessage, ModelRequest, Role
from onevalet.settings import Settings
from onevalet.supervision.garbage import keep_loaded
from onevalet.wiring.preload import load_worker
from providers.models.litellm_client import LiteLLMClient
from tests.namespaces import enter

ROOT = Path(__file__).parents[1]
_PR_SET_PDEATHSIG = 1
_PACKAGES = (
    *("abilities", "agents", "channels", "core", "jobs", "notify", "onevalet", "operations", "providers"),
    *("workbench.demo", "workbench.dev", "workbench.scenarios", "workbench.simulator"),
)
"""Of them everything is imported: a process would load a hundred modules more by its first turn."""
_LOADED = (
    "twilio.rest",
    "aiosmtplib",
    "oauthlib.oauth2",
    # The SDK of Twilio loads these at its first call.
    "twilio.rest.api.v2010.account",
    "twilio.rest.messaging.v1",
)
_ended: dict[int, int] = {}


def main() -> None:
    """Import what a process needs, then execute orders until standard input ends."""
    for name in (*_modules(), *_LOADED):
        importlib.import_module(name)
    asyncio.run(_warm_up())
    keep_loaded()
    _tell({"ready": True})
    for line in sys.stdin:
        order = json.loads(line)
        _tell({"code": _end_of(order["ended"])} if "ended" in order else {"pid": _start(order)})


def _modules() -> Iterator[str]:
    """Yield the modules of the packages, but for what runs when it is imported, and for a plugin of pytest."""
    for package in _PACKAGES:
        folder = Path(ROOT, *package.split("."))
        for found in pkgutil.walk_packages([str(folder)], f"{package}."):
            if not found.name.endswith("__main__") and found.name != "onevalet.testing.plugin":
                yield found.name


async def _warm_up() -> None:
    """Load what a worker and its first turn do, and call litellm at a port where nobody listens: that imports much."""
    os.environ |= {"OPENAI_API_BASE": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "sk-none"}
    await load_worker(Settings(_env_file=None))
    load_encoder()
    client = LiteLLMClient("openai/scripted")
    with suppress(ModelError):
        await client.answer(ModelRequest((ChatMessage(Role.USER, "Hello"),), timeout=5))
    await client.close()


def _start(order: dict[str, Any]) -> int:
    # Here and not in each child: of what a test runs at every point, the imports would take most.
    importlib.import_module(order["module"])
    parent = os.getpid()
    pid = os.fork()
    if pid:
        _ended.pop(pid, None)  # a pid may come again, when the system has given out all
        return pid
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            _become(order)
    finally:
        os._exit(70)  # whatever happens, no second forker


def _become(order: dict[str, Any]) -> None:
    if order["host"]:
        enter(order["host"])
    os.environ.clear()
    os.environ.update(order["environment"])
    stdin, out, errors = order["files"]
    os.dup2(os.open(stdin, os.O_RDONLY), 0)
    for number, path in ((1, out), (2, errors)):
        os.dup2(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), number)
    sys.argv = ["onevalet", *order["words"]]
    # What the parent had read of its orders is not this process's input.
    sys.stdin = os.fdopen(0, closefd=False)
    code = 1
    try:
        importlib.import_module(order["module"]).main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # what the interpreter itself does with it
        sys.excepthook(*sys.exc_info())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _end_of(pid: int) -> int | None:
    if pid not in _ended:
        ended_pid, status = os.waitpid(pid, os.WNOHANG)
        if not ended_pid:
            return None
        _ended[pid] = os.waitstatus_to_exitcode(status)
    return _ended[pid]


def _tell(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
