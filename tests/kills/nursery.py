"""Start many processes of ours quickly: import everything once, then fork and be `python -m onevalet COMMAND`.

Each line on standard input is an order as JSON, each gets a line back:
{"command": "worker", "environment": {…}, "log": path} -> {"pid": 1}, and {"wait": pid} -> {"signal": 9, "code": 0}.
"""

import asyncio
import gc
import importlib
import json
import os
import sys
from contextlib import suppress
from typing import Any

from core.errors import ModelError
from core.model import LiteLLMClient
from core.model_types import ChatMessage, ModelRequest, Role
from onevalet.cli import main as run


def main() -> None:
    """Load what a worker needs, then obey until standard input ends."""
    for name in ("channels.app", "jobs.worker", "jobs.turns", "jobs.delivery", "onevalet.assistant", "twilio.rest"):
        importlib.import_module(name)
    asyncio.run(_warm_up())
    gc.collect()
    gc.freeze()  # what is loaded stays in pages that all children share
    _tell({"ready": True})
    for line in sys.stdin:
        order = json.loads(line)
        _tell(_wait(order["wait"]) if "wait" in order else {"pid": _start(order)})


async def _warm_up() -> None:
    """Make litellm load what it loads at its first call; nobody listens there."""
    os.environ |= {"OPENAI_API_BASE": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "sk-none"}
    client = LiteLLMClient("openai/scripted")
    with suppress(ModelError):
        await client.answer(ModelRequest((ChatMessage(Role.USER, "Hello"),), timeout=5))
    await client.close()


def _start(order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        _become(order)
    finally:
        os._exit(70)  # whatever happens, no second nursery


def _become(order: dict[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(order["environment"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    log = os.open(order["log"], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["onevalet", order["command"]]
    try:
        run()
    except SystemExit as ended:
        os._exit(ended.code if isinstance(ended.code, int) else 1)
    os._exit(0)


def _wait(pid: int) -> dict[str, int]:
    _, status = os.waitpid(pid, 0)
    return {"signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, "code": os.waitstatus_to_exitcode(status)}


def _tell(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
